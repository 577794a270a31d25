import { and, count, eq, gt, isNull, lt, lte, or } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Database } from './database.ts'
import { placeholdersOf } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** One record of the authorization server for MCP clients, such as a client, a code or a refresh token. */
export interface McpRecord {
  /** oidc-provider's name of its kind: `Client`, `Grant`, `Interaction`, `AuthorizationCode`, `RefreshToken`, … */
  readonly model: string
  /** The record's id; where that is a secret, its SHA-256. */
  readonly id: string
  readonly payload: Sealed
  /** Of codes and refresh tokens: the grant with which they are deleted. */
  readonly grantId?: string
  readonly uid?: string
  readonly consumedAt?: EpochSeconds
  /** From this time on `find` does not return the record. */
  readonly expiresAt?: EpochSeconds
}

export interface McpRecords {
  /** Adds the record, or replaces the payload, the grant and the expiry of the one with that model and id. */
  put(record: Omit<McpRecord, 'consumedAt'>): Promise<void>
  find(model: string, id: string, now: EpochSeconds): Promise<McpRecord | undefined>
  /** Records the first use of a code or token: of two racing calls one gets `true`. */
  consume(model: string, id: string, now: EpochSeconds): Promise<boolean>
  /** Moves the expiry of an unexpired record to `expiresAt`, unless its expiry is later already. */
  prolong(model: string, id: string, expiresAt: EpochSeconds, now: EpochSeconds): Promise<void>
  delete(model: string, id: string): Promise<void>
  /** How many unexpired records of a model will have expired at `before`. */
  countExpiring(model: string, now: EpochSeconds, before: EpochSeconds): Promise<number>
  /** Deletes those that expired before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

interface Named {
  readonly model: string
  readonly id: string
}
type AtTime = Named & { readonly now: EpochSeconds }

export function createMcpRecords(database: Database): McpRecords {
  const { tables, query, statement, read, write, writeRepeatable } = database
  const { mcpRecords } = tables
  const { model, id, expiresAt } = mcpRecords
  const isNamed = (p: Named) => and(eq(model, p.model), eq(id, p.id))
  const unexpired = (now: EpochSeconds) => or(isNull(expiresAt), gt(expiresAt, now))

  const upsert = statement((_: Omit<McpRecord, 'consumedAt'>) => {
    const row = placeholdersOf(mcpRecords)
    const { payload, grantId, uid, expiresAt } = row
    return query
      .insert(mcpRecords)
      .values(row)
      .onConflictDoUpdate({
        target: [mcpRecords.model, mcpRecords.id],
        set: { payload, grantId, uid, expiresAt },
      })
      .returning({ id })
  })
  const byId = statement((p: AtTime) =>
    query
      .select()
      .from(mcpRecords)
      .where(and(isNamed(p), unexpired(p.now))),
  )
  const consume = statement((p: AtTime) =>
    query
      .update(mcpRecords)
      .set({ consumedAt: p.now })
      .where(and(isNamed(p), isNull(mcpRecords.consumedAt)))
      .returning({ id }),
  )
  const prolong = statement((p: AtTime & { expiresAt: EpochSeconds }) =>
    query
      .update(mcpRecords)
      .set({ expiresAt: p.expiresAt })
      .where(and(isNamed(p), gt(expiresAt, p.now), lt(expiresAt, p.expiresAt)))
      .returning({ id }),
  )
  const remove = statement((p: Named) => query.delete(mcpRecords).where(isNamed(p)).returning({ id }))
  const countExpiring = statement((p: { model: string; now: EpochSeconds; before: EpochSeconds }) =>
    query
      .select({ live: count() })
      .from(mcpRecords)
      .where(and(eq(model, p.model), gt(expiresAt, p.now), lte(expiresAt, p.before))),
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
    async consume(model, id, now) {
      return (await write(undefined, () => consume({ model, id, now }))).length > 0
    },
    async prolong(model, id, expiresAt, now) {
      await writeRepeatable(prolong({ model, id, expiresAt, now }))
    },
    async delete(model, id) {
      await writeRepeatable(remove({ model, id }))
    },
    async countExpiring(model, now, before) {
      const [row] = await read(countExpiring({ model, now, before }))
      return row?.live ?? 0
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
