import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { newId, sha256 } from '../src/domain/ids.ts'
import { indexProject } from '../src/features/audit-index/write-index.ts'
import { openBroker } from '../src/open-broker.ts'
import { readConfig } from '../src/read-config.ts'
import type { AuditLog } from '../src/services/audit-log.ts'
import { inContext } from '../src/services/request-context.ts'
import { userName } from './people.ts'
import { databaseIn, environmentFor, type SeedPlace, SILENT, seedOwn } from './seed.ts'

/** The entries of one block: releases that share a commit. */
const BLOCK = 40
export const AUDITED_USERS = 10_000
/** One in this many entries has another action. */
const RARE = 1_000

/** A database with a long audit trail. */
export interface Audited {
  readonly count: number
  readonly seconds: number
  /** A connection that is in the trail. */
  readonly connectionId: string
  readonly full: string
  /** The same installation when its trail had a quarter of the entries. */
  readonly quarter: string
}

/** Seeds a database with `count` entries. Gatepass' own store appends them, so that chain and indexes are a server's. */
export async function seedAudit(bench: SeedPlace, count: number): Promise<Audited> {
  const begun = performance.now()
  const full = await seedOwn(bench, 'audited', 10)
  const quarter = join(bench.folder, 'audited-quarter')
  await mkdir(quarter)
  const keyId = newId('key')
  const connectionIds = Array.from({ length: AUDITED_USERS }, () => newId('conn'))
  await append(full, count / 4, keyId, connectionIds)
  await copyFile(databaseIn(full), databaseIn(quarter))
  await append(full, count - count / 4, keyId, connectionIds)
  const [connectionId = ''] = connectionIds
  return { count, seconds: (performance.now() - begun) / 1000, connectionId, full, quarter }
}

/** Appends so many entries to a database that another figure has seeded. */
export function appendEntries(folder: string, count: number): Promise<void> {
  return append(
    folder,
    count,
    newId('key'),
    Array.from({ length: AUDITED_USERS }, () => newId('conn')),
  )
}

async function append(folder: string, count: number, keyId: string, connectionIds: readonly string[]) {
  const broker = await openBroker(readConfig(environmentFor(folder, 8400), 'serve'), { log: SILENT })
  const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
  for (let written = 0; written < count; written += BLOCK) {
    const lines = Array.from({ length: BLOCK }, (_, i) =>
      auditLine(broker.audit, projectId, keyId, written + i, connectionIds),
    )
    const { at, link } = broker.audit.of(projectId, { action: 'token.released' })
    await broker.store.audit.append({ projectId, at, link, lines })
  }
  // as a server does while the trail grows
  await indexProject(broker, projectId)
  await broker.close()
}

/** The line of a token's release to the next user; one in `RARE` is that of a refresh. */
function auditLine(
  audit: AuditLog,
  projectId: string,
  keyId: string,
  number: number,
  connectionIds: readonly string[],
): string {
  const user = (number * 7_919) % AUDITED_USERS
  const digest = sha256(String(number))
  const context = {
    actor: { kind: 'api_key', id: keyId },
    purpose: 'POST /v1/auth/authorize',
    requestId: `${digest.slice(0, 12)}-${number.toString(36)}`,
  } as const
  const event = {
    action: number % RARE === 0 ? 'connection.refreshed' : 'token.released',
    userId: userName(user),
    providerId: 'bench',
    connectionId: connectionIds[user] ?? '',
    fingerprint: digest.slice(0, 22),
  } as const
  const [line = ''] = inContext(context, () => audit.of(projectId, event)).lines
  return line
}
