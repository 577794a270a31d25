import { and, count, eq, gt, inArray, lt } from 'drizzle-orm'
import type { PausedChain } from '../domain/chain.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { placeholdersOf } from './statement.ts'
import { inSlices } from './sweep.ts'

/** Chains of tool runs that wait for their users' consent. */
export interface Chains {
  add(chain: PausedChain): Promise<void>
  /** Deletes the chain and returns it, unless it has expired: of two racing calls one gets it. */
  take(projectId: string, id: string, now: EpochSeconds): Promise<PausedChain | undefined>
  /** How many of a project have not expired. */
  count(projectId: string, now: EpochSeconds): Promise<number>
  /** Deletes those that expired before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createChains(database: Database): Chains {
  const { tables, query, statement, read, write, writeRepeatable, dialect } = database
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
  const live = statement((p: { projectId: string; now: EpochSeconds }) =>
    query
      .select({ live: count() })
      .from(chains)
      .where(and(eq(chains.projectId, p.projectId), gt(chains.expiresAt, p.now))),
  )
  const sweep = statement((p: { before: EpochSeconds }) => {
    const isOld = lt(chains.expiresAt, p.before)
    const old = query.select({ id: chains.id }).from(chains).where(isOld).limit(dialect.sweptAtOnce)
    return query
      .delete(chains)
      .where(and(inArray(chains.id, old), isOld))
      .returning({ id: chains.id })
  })

  return {
    async add(chain) {
      await write(undefined, () => insert(chain))
    },
    async take(projectId, id, now) {
      const [taken] = await write(undefined, () => take({ projectId, id, now }))
      return taken
    },
    async count(projectId, now) {
      const [row] = await read(live({ projectId, now }))
      return row?.live ?? 0
    },
    async sweep(before) {
      return inSlices(dialect.sweptAtOnce, () => writeRepeatable(sweep({ before })))
    },
  }
}
