import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { readConfig } from '../src/config.ts'
import { systemClock } from '../src/domain/clock.ts'
import type { AccessSecrets, Connection } from '../src/domain/connection.ts'
import { newId, sha256 } from '../src/domain/ids.ts'
import { DEFAULT_PROJECT } from '../src/domain/project.ts'
import { sealGrant } from '../src/flows/seal-grant.ts'
import { openBroker } from '../src/open-broker.ts'
import { identityOf } from '../src/providers/identity.ts'
import type { Provider, ProviderEntry } from '../src/providers/provider.ts'
import { openDatabase } from '../src/store/dialects/sqlite/file.ts'
import { connections } from '../src/store/dialects/sqlite/schema.ts'

export const USERS = 10_000
export const EXPIRED_USERS = 5
export const API_KEY = 'bench-administrator-key'
export const PROVIDER_ID = 'bench'
export const SCOPES = ['read:user', 'repo'] as const

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

export function userName(index: number): string {
  return `user-${index}@example.com`
}

export function expiredUser(index: number): string {
  return `expired-${index}@example.com`
}

/** A 500-byte access token and some 400 bytes of user info: with the refresh token, sealed, a row of about 2 kB. */
export function accessSecrets(userId: string): AccessSecrets {
  return {
    accessToken: `gho_${userId.padEnd(496, 'x')}`,
    userInfo: {
      sub: sha256(userId),
      login: userId.split('@')[0],
      name: 'Ada Augusta King, Countess of Lovelace',
      email: userId,
      email_verified: true,
      picture: `https://avatars.example.com/u/${sha256(userId)}?v=4&s=256`,
      profile: `https://example.com/people/${sha256(userId)}`,
      locale: 'en-GB',
      zoneinfo: 'Europe/London',
      company: 'Analytical Engines Ltd',
    },
  }
}

/** What a covered user's fetch answers. */
export function releasedAnswer(userId: string): object {
  const { accessToken, userInfo } = accessSecrets(userId)
  return {
    id: 'conn_0198f6e2a1c97d3fb2a45d1c7e9f0a31',
    status: 'completed',
    user_id: userId,
    provider_id: PROVIDER_ID,
    scopes: SCOPES,
    context: { token: accessToken, user_info: userInfo },
  }
}

export function authorizeBody(userId: string): object {
  return {
    auth_requirement: { provider_id: PROVIDER_ID, provider_type: 'oauth2', oauth2: { scopes: SCOPES } },
    user_id: userId,
  }
}

export interface Seeded {
  readonly providerUid: string
  readonly keyId: string
  readonly rowBytes: number
}

/** A database as a production one looks: one provider, fresh connections, a few whose token has run out. */
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

  const connectionOf = (userId: string, expired: boolean): Connection => {
    const place = { id: newId('conn'), projectId, userId, providerUid: entry.uid }
    return {
      ...place,
      account: { id: sha256(userId), name: userId },
      status: 'active',
      ...sealGrant(broker, place, {
        ...accessSecrets(userId),
        refreshToken: `ghr_${userId.padEnd(196, 'y')}`,
        tokenType: 'bearer',
        scopes: SCOPES,
      }),
      receivedAt: expired ? now - 7200 : now,
      expiresAt: expired ? now - 3600 : now + 8 * 3600,
      providerIdentity: identityOf(entry.provider, entry.clientId),
      isDefault: true,
      generation: 1,
      unansweredRefreshes: 0,
      createdAt: now,
      consentedAt: now,
      withheldScopes: {},
    }
  }
  const client = openDatabase(databaseIn(folder))
  drizzle(client).transaction((tx) => {
    const add = ({ account, ...rest }: Connection) =>
      tx
        .insert(connections)
        .values({ ...rest, accountId: account.id, accountName: account.name })
        .run()
    for (let i = 0; i < users; i++) add(connectionOf(userName(i), false))
    for (let i = 0; i < EXPIRED_USERS; i++) add(connectionOf(expiredUser(i), true))
  })
  const row = client.prepare('select * from connections limit 1').get() as Record<string, unknown>
  client.close()
  await broker.close()
  return { providerUid: entry.uid, keyId, rowBytes: Object.values(row).join('').length }
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
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing }
