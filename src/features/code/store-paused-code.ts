import { and, count, eq, gt, isNull, lt } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import { hasIdInProject, isOfUser } from '../../store/row-conditions.ts'
import { type InProject, type OfProject, type OfUser, placeholdersOf } from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { PausedCode } from './domain.ts'

/** Runs of code that wait for a consent or an approval of their users. */
export interface PausedRuns {
  add(run: PausedCode): Promise<void>
  /** The run with its state, unless it has expired. */
  find(projectId: string, id: string, now: EpochSeconds): Promise<PausedCode | undefined>
  /** Claims the run for one request that ends by `until`: of racing requests one gets `true`. A claim is never taken over. */
  claim(projectId: string, id: string, now: EpochSeconds, until: EpochSeconds): Promise<boolean>
  /** Replaces the state of a claimed run, which can be resumed again then; `false` if the row is gone. */
  pauseAgain(run: PausedCode): Promise<boolean>
  remove(projectId: string, id: string): Promise<void>
  /** How many runs of the project have not expired. */
  count(projectId: string, now: EpochSeconds): Promise<number>
  /** Deletes those that expired before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
  forgetUser(user: OfUser): Promise<unknown>
}

export function createPausedRuns(database: Database): PausedRuns {
  const { tables, query, statement, read, write } = database
  const { pausedCode } = tables
  const id = { id: pausedCode.id }
  const isLive = (p: OfProject & { now: EpochSeconds }) =>
    and(eq(pausedCode.projectId, p.projectId), gt(pausedCode.expiresAt, p.now))

  const insert = statement((_: PausedCode) =>
    query.insert(pausedCode).values(placeholdersOf(pausedCode)).returning(id),
  )
  const liveOne = statement((p: InProject & { now: EpochSeconds }) =>
    query
      .select()
      .from(pausedCode)
      .where(and(eq(pausedCode.id, p.id), isLive(p))),
  )
  const claim = statement((p: InProject & { now: EpochSeconds; until: EpochSeconds }) =>
    query
      .update(pausedCode)
      .set({ runningUntil: p.until })
      .where(and(eq(pausedCode.id, p.id), isLive(p), isNull(pausedCode.runningUntil)))
      .returning(id),
  )
  const pauseAgain = statement((p: Pick<PausedCode, 'id' | 'projectId' | 'state' | 'expiresAt'>) =>
    query
      .update(pausedCode)
      .set({ state: p.state, expiresAt: p.expiresAt, runningUntil: null })
      .where(hasIdInProject(pausedCode, p))
      .returning(id),
  )
  const remove = statement((p: InProject) =>
    query.delete(pausedCode).where(hasIdInProject(pausedCode, p)).returning(id),
  )
  const live = statement((p: OfProject & { now: EpochSeconds }) =>
    query.select({ live: count() }).from(pausedCode).where(isLive(p)),
  )
  const forget = statement((p: OfUser) =>
    query.delete(pausedCode).where(isOfUser(pausedCode, p)).returning(id),
  )
  const sweep = deleteInSlices(database, pausedCode, id, (p: { before: EpochSeconds }) =>
    lt(pausedCode.expiresAt, p.before),
  )

  return {
    async add(run) {
      await write(undefined, () => insert(run))
    },
    async find(projectId, id, now) {
      return (await read(liveOne({ projectId, id, now })))[0]
    },
    async claim(projectId, id, now, until) {
      return (await write(undefined, () => claim({ projectId, id, now, until }))).length > 0
    },
    async pauseAgain({ id, projectId, state, expiresAt }) {
      return (await write(undefined, () => pauseAgain({ id, projectId, state, expiresAt }))).length > 0
    },
    async remove(projectId, id) {
      await write(undefined, () => remove({ projectId, id }))
    },
    async count(projectId, now) {
      const [row] = await read(live({ projectId, now }))
      return row?.live ?? 0
    },
    sweep: (before) => sweep({ before }),
    forgetUser: (user) => write(undefined, () => forget(user)),
  }
}
