import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../src/domain/clock.ts'
import { newId, sha256 } from '../src/domain/ids.ts'
import { DEFAULT_PROJECT } from '../src/domain/project.ts'
import { openBroker } from '../src/open-broker.ts'
import { identityOf } from '../src/providers/identity.ts'
import type { Provider } from '../src/providers/provider.ts'
import type { ProviderEntry } from '../src/providers/provider-entry.ts'
import { readConfig } from '../src/read-config.ts'
import { openDatabase } from '../src/store/dialects/sqlite/file.ts'
import { connectionRows, INSERT_CONNECTION } from './connection-rows.ts'
import {
  API_KEY,
  EXPIRED_USERS,
  expiredUser,
  PROVIDER_ID,
  USERS,
  USERS_WITH_AT,
  userName,
  userWithAt,
} from './people.ts'

/** Settings as an operator has them in production. */
export function environmentFor(folder: string, port: number): Record<string, string> {
  return {
    GATEPASS_PORT: String(port),
    GATEPASS_PUBLIC_URL: `http://127.0.0.1:${port}`,
    GATEPASS_DATABASE_URL: `file:${databaseIn(folder)}`,
    GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    GATEPASS_API_KEY: API_KEY,
    GATEPASS_USER_VERIFIER: 'open',
    GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
    GATEPASS_LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  }
}

export function databaseIn(folder: string): string {
  return join(folder, 'gatepass.db')
}

export interface Seeded {
  readonly projectId: string
  readonly providerUid: string
  readonly identity: string
  readonly keyId: string
  readonly rowBytes: number
}

/** Seeds a database like one in production: one provider, fresh connections, and a few whose token has expired. */
export async function seed(
  folder: string,
  upstreamPort: number,
  users = USERS,
  { name, apiKey }: { readonly name: string; readonly apiKey: string } = {
    name: DEFAULT_PROJECT,
    apiKey: API_KEY,
  },
): Promise<Seeded> {
  const config = readConfig(environmentFor(folder, 8400), 'serve')
  const broker = await openBroker(config, { log: SILENT })
  const now = systemClock()
  const { id: projectId } = await broker.store.projects.ensure(name, now)
  const keyId = newId('key')
  const key = { id: keyId, projectId, name: 'bench', role: 'admin', createdAt: now } as const
  await broker.store.apiKeys.add({ ...key, hash: sha256(apiKey) })
  const entry = benchEntry(projectId, upstreamPort, now)
  await broker.store.providers.add(entry)

  const client = openDatabase(databaseIn(folder))
  const rowOf = connectionRows({
    sealing: broker,
    entry: { uid: entry.uid, projectId, identity: identityOf(entry.provider, entry.clientId) },
  })
  const insert = client.prepare(INSERT_CONNECTION)
  client.transaction(() => {
    for (let i = 0; i < users; i++) insert.run(rowOf(userName(i)))
    for (let i = 0; i < EXPIRED_USERS; i++) insert.run(rowOf(expiredUser(i), 'expired'))
    for (let i = 0; i < USERS_WITH_AT; i++) insert.run(rowOf(userWithAt(i)))
  })()
  const row = client.prepare('select * from connections limit 1').get() as Record<string, unknown>
  client.close()
  await broker.close()
  const identity = identityOf(entry.provider, entry.clientId)
  return { projectId, providerUid: entry.uid, identity, keyId, rowBytes: Object.values(row).join('').length }
}

export interface SeedPlace {
  readonly folder: string
  readonly upstream: { readonly port: number }
}

/** A database of its own for one figure, seeded by the bench of the release that is measured on it. */
export async function seedOwn(
  { folder, upstream }: SeedPlace,
  name: string,
  users = USERS,
  release: { readonly seed: typeof seed } = { seed },
): Promise<string> {
  const own = join(folder, name)
  await mkdir(own)
  await release.seed(own, upstream.port, users)
  return own
}

function benchEntry(projectId: string, upstreamPort: number, now: number): ProviderEntry {
  const upstream = `http://127.0.0.1:${upstreamPort}`
  const tokenRequest = {
    endpoint: `${upstream}/token`,
    method: 'POST',
    params: {},
    authMethod: 'none',
    requestContentType: 'application/x-www-form-urlencoded',
    responseContentType: 'application/json',
  } as const
  const provider: Provider = {
    displayName: 'Bench',
    pkce: 'S256',
    scopeSeparator: ' ',
    defaultScopes: [],
    authorizationRequest: { endpoint: `${upstream}/authorize`, params: {} },
    tokenRequest,
    refreshRequest: tokenRequest,
    tokenTypes: [],
    account: { id: ['$.sub'], name: ['$.name'] },
  }
  return {
    uid: newId('prov'),
    projectId,
    id: PROVIDER_ID,
    name: PROVIDER_ID,
    status: 'active',
    source: 'admin',
    provider,
    clientId: 'bench-client',
    createdAt: now,
    updatedAt: now,
  }
}

const nothing = () => {}
export const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing }
