import { and, count, desc, eq, gt, lt } from 'drizzle-orm'
import type { PausedChain } from '../domain/chain.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { placeholdersOf } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** Chains of tool runs that wait for their users' consent. */
export interface Chains {
  add(chain: PausedChain): Promise<void>
  /** Deletes the chain and returns it, unless it has expired: of two racing calls one gets it. */
  take(projectId: string, id: string, now: EpochSeconds): Promise<PausedChain | undefined>
  /** Those of a project that have not expired, without their states; those that were paused last come first. */
  list(projectId: string, now: EpochSeconds, limit: number): Promise<readonly Omit<PausedChain, 'state'>[]>
  /** The chain with its state, unless it has expired. */
  find(projectId: string, id: string, now: EpochSeconds): Promise<PausedChain | undefined>
  /** Deletes the chain, so that it cannot be resumed; returns whether it was there. */
  cancel(projectId: string, id: string, audit: AuditEntries): Promise<boolean>
  /** How many of a project have not expired. */
  count(projectId: string, now: EpochSeconds): Promise<number>
  /** Deletes those that expired before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createChains(database: Database): Chains {
  const { tables, query, statement, read, write } = database
  const { chains } = tables

  const insert = statement((_: PausedChain) =>
    query.insert(chains).values(placeholdersOf(chains)).returning({ id: chains.id }),
  )
  const take = statement((p: { projectId: string; id: string; now: EpochSeconds }) =>
    query
      .delete(chains)
      .where(and(eq(chains.id, p.id), eq(chains.projectId, p.projectId), gt(chains.expiresAt, p.now)))
      .returning(),
  )
  const listed = statement((p: { projectId: string; now: EpochSeconds; rows: number }) =>
    query
      .select({ id: chains.id, projectId: chains.projectId, expiresAt: chains.expiresAt })
      .from(chains)
      .where(and(eq(chains.projectId, p.projectId), gt(chains.expiresAt, p.now)))
      .orderBy(desc(chains.expiresAt))
      .limit(p.rows),
  )
  const one = statement((p: { projectId: string; id: string; now: EpochSeconds }) =>
    query
      .select()
      .from(chains)
      .where(and(eq(chains.id, p.id), eq(chains.projectId, p.projectId), gt(chains.expiresAt, p.now))),
  )
  const remove = statement((p: { projectId: string; id: string }) =>
    query
      .delete(chains)
      .where(and(eq(chains.id, p.id), eq(chains.projectId, p.projectId)))
      .returning({ id: chains.id }),
  )
  const live = statement((p: { projectId: string; now: EpochSeconds }) =>
    query
      .select({ live: count() })
      .from(chains)
      .where(and(eq(chains.projectId, p.projectId), gt(chains.expiresAt, p.now))),
  )
  const sweep = deleteInSlices(database, chains, { id: chains.id }, (p: { before: EpochSeconds }) =>
    lt(chains.expiresAt, p.before),
  )

  return {
    async add(chain) {
      await write(undefined, () => insert(chain))
    },
    async take(projectId, id, now) {
      const [taken] = await write(undefined, () => take({ projectId, id, now }))
      return taken
    },
    async list(projectId, now, limit) {
      return read(listed({ projectId, now, rows: limit }))
    },
    async find(projectId, id, now) {
      return (await read(one({ projectId, id, now })))[0]
    },
    async cancel(projectId, id, audit) {
      const cancelled = await write(audit, function* () {
        const gone = yield* remove({ projectId, id })
        return gone.length > 0 ? true : undefined
      })
      return cancelled ?? false
    },
    async count(projectId, now) {
      const [row] = await read(live({ projectId, now }))
      return row?.live ?? 0
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
