import { and, eq, gt, lte } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { SuspendedCall } from '../domain/suspended-call.ts'
import type { Database } from './database.ts'
import { hasIdInProject } from './row-conditions.ts'
import { type InProject, placeholdersOf } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** Tool calls that ask their users. A change is announced (`suspended_call`), so that any process can wait for it. */
export interface SuspendedCalls {
  add(call: SuspendedCall): Promise<void>
  /** `undefined` once the call has expired. */
  find(projectId: string, id: string, now: EpochSeconds): Promise<SuspendedCall | undefined>
  /**
   * Writes `next` in place of `before`. `false`, with nothing written, when the row has changed since it was read: of two
   * answers to one question one is written.
   */
  advance(
    before: SuspendedCall,
    next: Pick<SuspendedCall, 'status' | 'payload' | 'expiresAt'>,
  ): Promise<boolean>
  remove(projectId: string, id: string): Promise<void>
  /** Deletes those that have expired; returns how many. */
  sweep(now: EpochSeconds): Promise<number>
}

export function createSuspendedCalls(database: Database): SuspendedCalls {
  const { tables, query, statement, read, write } = database
  const { suspendedCalls } = tables
  const id = { id: suspendedCalls.id }

  const insert = statement((_: SuspendedCall) =>
    query.insert(suspendedCalls).values(placeholdersOf(suspendedCalls)).returning(id),
  )
  const live = statement((p: InProject & { now: EpochSeconds }) =>
    query
      .select()
      .from(suspendedCalls)
      .where(and(hasIdInProject(suspendedCalls, p), gt(suspendedCalls.expiresAt, p.now))),
  )
  const advance = statement(
    (
      p: SuspendedCall & {
        readonly beforeStatus: SuspendedCall['status']
        readonly before: SuspendedCall['payload']
      },
    ) =>
      query
        .update(suspendedCalls)
        .set({ status: p.status, payload: p.payload, expiresAt: p.expiresAt })
        .where(
          and(
            hasIdInProject(suspendedCalls, p),
            eq(suspendedCalls.status, p.beforeStatus),
            eq(suspendedCalls.payload, p.before),
          ),
        )
        .returning(id),
  )
  const remove = statement((p: InProject) =>
    query.delete(suspendedCalls).where(hasIdInProject(suspendedCalls, p)).returning(id),
  )
  const sweep = deleteInSlices(database, suspendedCalls, id, (p: { now: EpochSeconds }) =>
    lte(suspendedCalls.expiresAt, p.now),
  )

  return {
    async add(call) {
      await write(undefined, () => insert(call))
    },
    async find(projectId, id, now) {
      return (await read(live({ projectId, id, now })))[0]
    },
    async advance(before, next) {
      return write(undefined, function* (announce) {
        const written = yield* advance({
          ...before,
          ...next,
          beforeStatus: before.status,
          before: before.payload,
        })
        if (written.length === 0) return false
        announce({ noun: 'suspended_call', id: before.id })
        return true
      })
    },
    async remove(projectId, id) {
      await write(undefined, function* (announce) {
        const removed = yield* remove({ projectId, id })
        if (removed.length > 0) announce({ noun: 'suspended_call', id })
        return removed.length
      })
    },
    async sweep(now) {
      return sweep({ now })
    },
  }
}
