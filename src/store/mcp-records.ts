import { and, count, desc, eq, gt, isNotNull, isNull, lt, min, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Database } from './database.ts'
import { placeholdersOf } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** One record of the authorization server for MCP clients, such as a client, a code or a refresh token. */
export interface McpRecord {
  /** oidc-provider's name of its kind: `Client`, `Grant`, `AuthorizationCode`, `RefreshToken`, … */
  readonly model: string
  /** The record's id; where that is a secret, its SHA-256. */
  readonly id: string
  readonly payload: Sealed
  /** Of codes and refresh tokens: the grant with which they are deleted. */
  readonly grantId?: string | undefined
  readonly uid?: string
  readonly consumedAt?: EpochSeconds
  /** From this time on `find` does not return the record. */
  readonly expiresAt?: EpochSeconds
  /** Of a client that no user has approved yet: the network that registered it. */
  readonly network?: string
}

export interface McpRecords {
  /** Adds the record, or replaces the payload, the grant and the expiry of the one with that model and id. */
  put(record: Omit<McpRecord, 'consumedAt'>): Promise<void>
  find(model: string, id: string, now: EpochSeconds): Promise<McpRecord | undefined>
  /** Replaces the record if its payload is still `before`; `false` if it has changed or is gone. */
  replace(record: Omit<McpRecord, 'consumedAt' | 'network'>, before: Sealed): Promise<boolean>
  /** Records the first use of a code: of two racing calls one gets `true`. */
  consume(model: string, id: string, now: EpochSeconds): Promise<boolean>
  /** Records that a user has approved an unexpired client. It expires at `expiresAt`, unless it expires later already. */
  approve(clientId: string, expiresAt: EpochSeconds, now: EpochSeconds): Promise<void>
  delete(model: string, id: string): Promise<void>
  /** How many clients no user has approved. */
  countUnapproved(): Promise<number>
  /** Deletes the oldest unapproved client of the network that has most of them. */
  evictUnapproved(): Promise<void>
  /** Deletes those that expired before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

const CLIENT = 'Client'

interface Named {
  readonly model: string
  readonly id: string
}
type AtTime = Named & { readonly now: EpochSeconds }

export function createMcpRecords(database: Database): McpRecords {
  const { tables, query, statement, read, write, writeRepeatable } = database
  const { mcpRecords } = tables
  const { model, id, expiresAt, network } = mcpRecords
  const isNamed = (p: Named) => and(eq(model, p.model), eq(id, p.id))
  const unexpired = (now: EpochSeconds) => or(isNull(expiresAt), gt(expiresAt, now))

  const upsert = statement((_: Omit<McpRecord, 'consumedAt'>) => {
    const row = placeholdersOf(mcpRecords)
    const { payload, grantId, uid, expiresAt, network } = row
    return query
      .insert(mcpRecords)
      .values(row)
      .onConflictDoUpdate({
        target: [mcpRecords.model, mcpRecords.id],
        set: { payload, grantId, uid, expiresAt, network },
      })
      .returning({ id })
  })
  const byId = statement((p: AtTime) =>
    query
      .select()
      .from(mcpRecords)
      .where(and(isNamed(p), unexpired(p.now))),
  )
  const replace = statement(
    (
      p: Named & { payload: Sealed; grantId: string | null; expiresAt: EpochSeconds | null; before: Sealed },
    ) =>
      query
        .update(mcpRecords)
        .set({ payload: p.payload, grantId: p.grantId, expiresAt: p.expiresAt })
        .where(and(isNamed(p), eq(mcpRecords.payload, p.before)))
        .returning({ id }),
  )
  const consume = statement((p: AtTime) =>
    query
      .update(mcpRecords)
      .set({ consumedAt: p.now })
      .where(and(isNamed(p), isNull(mcpRecords.consumedAt)))
      .returning({ id }),
  )
  const approve = statement((p: AtTime & { expiresAt: EpochSeconds }) =>
    query
      .update(mcpRecords)
      .set({ expiresAt: p.expiresAt, network: null })
      .where(and(isNamed(p), gt(expiresAt, p.now), lt(expiresAt, p.expiresAt)))
      .returning({ id }),
  )
  const remove = statement((p: Named) => query.delete(mcpRecords).where(isNamed(p)).returning({ id }))
  const countUnapproved = statement((_: object) =>
    query.select({ unapproved: count() }).from(mcpRecords).where(isNotNull(network)),
  )
  const largestNetwork = query
    .select({ network })
    .from(mcpRecords)
    .where(isNotNull(network))
    .groupBy(network)
    .orderBy(desc(count()), min(expiresAt))
    .limit(1)
  const oldestOfIt = query
    .select({ id })
    .from(mcpRecords)
    .where(sql`${network} = (${largestNetwork})`)
    .orderBy(expiresAt)
    .limit(1)
  const evict = statement((p: { model: string }) =>
    query
      .delete(mcpRecords)
      .where(and(eq(model, p.model), sql`${id} = (${oldestOfIt})`))
      .returning({ id }),
  )
  const sweep = deleteInSlices(database, mcpRecords, { model, id }, (p: { before: EpochSeconds }) =>
    lt(expiresAt, p.before),
  )

  return {
    async put(record) {
      await writeRepeatable(upsert(record))
    },
    async find(model, id, now) {
      return (await read(byId({ model, id, now })))[0]
    },
    async replace({ grantId = null, expiresAt = null, ...record }, before) {
      return (await write(undefined, () => replace({ ...record, grantId, expiresAt, before }))).length > 0
    },
    async consume(model, id, now) {
      return (await write(undefined, () => consume({ model, id, now }))).length > 0
    },
    async approve(id, expiresAt, now) {
      await writeRepeatable(approve({ model: CLIENT, id, expiresAt, now }))
    },
    async delete(model, id) {
      await writeRepeatable(remove({ model, id }))
    },
    async countUnapproved() {
      const [row] = await read(countUnapproved({}))
      return row?.unapproved ?? 0
    },
    async evictUnapproved() {
      await write(undefined, () => evict({ model: CLIENT }))
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
