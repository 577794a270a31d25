import { and, eq, isNull, type SQL } from 'drizzle-orm'
import type { ApiKey } from '../domain/api-key.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import { type Browsed, createBrowse, type ListPosition } from './browse.ts'
import type { Database } from './database.ts'
import { createLastUse, type WriteLastUse } from './last-use.ts'
import { createPages, type Page, type PageRequest } from './page.ts'
import { hasIdInProject, isOfUser } from './row-conditions.ts'
import { type InProject, type OfProject, type OfUser, placeholdersOf } from './statement.ts'
import { writeRow } from './write-row.ts'

export interface ApiKeys {
  /** Adds the key, unless there is a key with the same hash. */
  add(key: ApiKey, audit?: AuditEntries): Promise<void>
  /** The key with that hash, unless it was revoked. */
  findByHash(hash: string): Promise<ApiKey | undefined>
  find(projectId: string, id: string): Promise<ApiKey | undefined>
  /** The oldest first, revoked ones too. */
  list(projectId: string): Promise<readonly ApiKey[]>
  /** The keys that may act for this user alone and are not revoked. */
  ofUser(projectId: string, userId: string): Promise<readonly ApiKey[]>
  /** A page of `list`. */
  page(projectId: string, page: PageRequest): Promise<Page<ApiKey>>
  /** A page of all keys, the newest first, revoked ones too. */
  browse(projectId: string, place: ListPosition, limit: number): Promise<Browsed<ApiKey>>
  revoke(projectId: string, id: string, now: EpochSeconds, audit?: AuditEntries): Promise<boolean>
  /**
   * Adds the successor of a key, and lets the old key expire at `expiresAt`. `false`, with nothing written, unless the
   * old key exists and is neither revoked nor replaced.
   */
  rotate(
    old: Pick<ApiKey, 'projectId' | 'id' | 'mac'>,
    expiresAt: EpochSeconds,
    successor: ApiKey,
    audit?: AuditEntries,
  ): Promise<boolean>
  /** Writes the MAC of a row of an older release, which wrote no MACs; returns how many rows it wrote. */
  sign(id: string, mac: string): Promise<number>
  /** Writes when each key was last used, by id. A later time that is already stored stays. */
  readonly used: WriteLastUse
}

export function createApiKeys(database: Database): ApiKeys {
  const { tables, query, statement, read, write } = database
  const { apiKeys } = tables
  const isUnrevoked = isNull(apiKeys.revokedAt)

  const byHash = statement((p: { hash: string }) =>
    query
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.hash, p.hash), isUnrevoked)),
  )
  const ofProject = statement((p: OfProject) =>
    query.select().from(apiKeys).where(eq(apiKeys.projectId, p.projectId)).orderBy(apiKeys.id),
  )
  const byId = statement((p: InProject) => query.select().from(apiKeys).where(hasIdInProject(apiKeys, p)))
  const ofUser = statement((p: OfUser) =>
    query
      .select()
      .from(apiKeys)
      .where(and(isOfUser(apiKeys, p), isUnrevoked)),
  )
  const listed = {
    key: apiKeys.id,
    matching: (p: OfProject) => eq(apiKeys.projectId, p.projectId),
    select: (where: SQL | undefined, order: SQL) => query.select().from(apiKeys).where(where).orderBy(order),
    keyOf: ({ id }: ApiKey) => id,
  }
  const pageOf = createPages(database, { ...listed, table: apiKeys, order: 'ascending' })
  const browse = createBrowse(database, listed)
  const insert = statement((_: typeof apiKeys.$inferInsert) =>
    query.insert(apiKeys).values(placeholdersOf(apiKeys)).onConflictDoNothing().returning({ id: apiKeys.id }),
  )
  const revoke = statement((p: InProject & { now: EpochSeconds }) =>
    query
      .update(apiKeys)
      .set({ revokedAt: p.now, mac: null })
      .where(and(hasIdInProject(apiKeys, p), isUnrevoked))
      .returning({ id: apiKeys.id }),
  )
  const replace = statement(
    (p: InProject & { expiresAt: EpochSeconds; successor: string; mac: string | undefined }) =>
      query
        .update(apiKeys)
        .set({ expiresAt: p.expiresAt, replacedBy: p.successor, mac: p.mac })
        .where(and(hasIdInProject(apiKeys, p), isUnrevoked, isNull(apiKeys.replacedBy)))
        .returning({ id: apiKeys.id }),
  )
  const sign = statement((p: { id: string; mac: string }) =>
    query.update(apiKeys).set({ mac: p.mac }).where(eq(apiKeys.id, p.id)).returning({ id: apiKeys.id }),
  )

  return {
    async add(key, audit) {
      await writeRow(write, audit, { noun: 'api_key' }, () => insert(key))
    },
    async findByHash(hash) {
      return (await read(byHash({ hash })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    async ofUser(projectId, userId) {
      return read(ofUser({ projectId, userId }))
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async page(projectId, page) {
      return pageOf({ projectId }, page)
    },
    async browse(projectId, place, limit) {
      return browse({ projectId }, place, limit)
    },
    async revoke(projectId, id, now, audit) {
      const revoked = await writeRow(write, audit, { noun: 'api_key' }, () => revoke({ projectId, id, now }))
      return revoked !== undefined
    },
    async rotate({ projectId, id, mac }, expiresAt, successor, audit) {
      return write(audit, function* (announce) {
        const replaced = yield* replace({ projectId, id, expiresAt, successor: successor.id, mac })
        if (replaced.length === 0) return false
        const added = yield* insert(successor)
        if (added.length === 0) throw new Error(`the successor of API key ${id} already exists`)
        announce({ noun: 'api_key' })
        return true
      })
    },
    async sign(id, mac) {
      return (await write(undefined, () => sign({ id, mac }))).length
    },
    used: createLastUse(database, apiKeys, 'lastUsedAt'),
  }
}
