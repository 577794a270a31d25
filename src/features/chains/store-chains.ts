import { and, count, desc, eq, gt, lt } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import { type InProject, type OfProject, placeholdersOf } from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { PausedChain } from './domain.ts'

/** Chains of tool runs that wait for their users' consent. */
export interface Chains {
  add(chain: PausedChain): Promise<void>
  /** Deletes the chain and returns it, unless it has expired: of two racing calls one gets it. */
  take(projectId: string, id: string, now: EpochSeconds): Promise<PausedChain | undefined>
  /** The project's chains that have not expired, without their states, the latest paused first. */
  list(projectId: string, now: EpochSeconds, limit: number): Promise<readonly Omit<PausedChain, 'state'>[]>
  /** The chain with its state, unless it has expired. */
  find(projectId: string, id: string, now: EpochSeconds): Promise<PausedChain | undefined>
  /** Deletes the chain, so that it cannot be resumed; returns whether it was there. */
  cancel(projectId: string, id: string, audit: AuditEntries): Promise<boolean>
  /** How many chains of the project have not expired. */
  count(projectId: string, now: EpochSeconds): Promise<number>
  /** Deletes those that expired before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createChains(database: Database): Chains {
  const { tables, query, statement, read, write } = database
  const { chains } = tables
  const isLive = (p: OfProject & { now: EpochSeconds }) =>
    and(eq(chains.projectId, p.projectId), gt(chains.expiresAt, p.now))
  const isLiveOne = (p: InProject & { now: EpochSeconds }) => and(eq(chains.id, p.id), isLive(p))

  const insert = statement((_: PausedChain) =>
    query.insert(chains).values(placeholdersOf(chains)).returning({ id: chains.id }),
  )
  const take = statement((p: InProject & { now: EpochSeconds }) =>
    query.delete(chains).where(isLiveOne(p)).returning(),
  )
  const listed = statement((p: OfProject & { now: EpochSeconds; rows: number }) =>
    query
      .select({ id: chains.id, projectId: chains.projectId, expiresAt: chains.expiresAt })
      .from(chains)
      .where(isLive(p))
      .orderBy(desc(chains.expiresAt))
      .limit(p.rows),
  )
  const liveOne = statement((p: InProject & { now: EpochSeconds }) =>
    query.select().from(chains).where(isLiveOne(p)),
  )
  const remove = statement((p: InProject) =>
    query.delete(chains).where(hasIdInProject(chains, p)).returning({ id: chains.id }),
  )
  const live = statement((p: OfProject & { now: EpochSeconds }) =>
    query.select({ live: count() }).from(chains).where(isLive(p)),
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
      return (await read(liveOne({ projectId, id, now })))[0]
    },
    async cancel(projectId, id, audit) {
      return write(audit, function* () {
        return (yield* remove({ projectId, id })).length > 0
      })
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
