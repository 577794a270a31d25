import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import type { SuspendedCall } from '../../domain/suspended-call.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import type { ElicitationAnswer } from '../../tools/dialog/dialog.ts'
import { createRowChanges, type RowChanges } from './row-changes.ts'
import { type SuspendedState, stateOf, toColumns } from './suspended-state.ts'

// The rows of calls that ask their users, as every process reads and writes them.

export interface SuspendedRows extends RowChanges {
  /** Counts a call that waits in this process; returns the function that ends that. Throws `ContextRequiredError`. */
  takeRoom(owner: string): () => void
  add(projectId: string, processId: string, state: SuspendedState): Promise<SuspendedCall>
  find(projectId: string, id: string): Promise<SuspendedCall | undefined>
  stateOf(row: SuspendedCall): SuspendedState
  /** Writes the next state; `undefined` where the row is gone, or has changed since it was read. */
  advance(row: SuspendedCall, state: SuspendedState): Promise<SuspendedCall | undefined>
  remove(projectId: string, id: string): Promise<void>
  /** Waits for the answer to the question. `cancel` when the time for it is over. Rejects where the row was removed. */
  awaitAnswer(row: SuspendedCall, number: number, signal: AbortSignal): Promise<ElicitationAnswer>
}

/** Calls that wait in one process, and how many of them one owner may have. */
const MAX_CALLS = 1_000
const MAX_PER_OWNER = 20

export function createSuspendedRows(broker: Broker): SuspendedRows {
  const { store, now } = broker
  const changes = createRowChanges(store)
  const counts = new Map<string, number>()
  let total = 0
  const find = (projectId: string, id: string) => store.suspendedCalls.find(projectId, id, now())

  return {
    ...changes,
    find,
    stateOf: (row) => stateOf(broker, row),
    remove: (projectId, id) => store.suspendedCalls.remove(projectId, id),
    takeRoom(owner) {
      const others = counts.get(owner) ?? 0
      if (others >= MAX_PER_OWNER || total >= MAX_CALLS)
        throw new ContextRequiredError(
          others >= MAX_PER_OWNER
            ? `The tool asks its user, and ${others} calls of yours wait for answers already. Answer or decline some first.`
            : 'The tool asks its user, and too many calls wait for answers. Call it again later.',
        )
      total++
      counts.set(owner, others + 1)
      return () => {
        total--
        const left = (counts.get(owner) ?? 1) - 1
        if (left > 0) counts.set(owner, left)
        else counts.delete(owner)
      }
    },
    async add(projectId, processId, state) {
      const id = newId('susp')
      const row = { id, projectId, processId, ...toColumns(broker, { id, projectId }, state) }
      await store.suspendedCalls.add(row)
      return row
    },
    async advance(row, state) {
      const next = toColumns(broker, row, state)
      return (await store.suspendedCalls.advance(row, next)) ? { ...row, ...next } : undefined
    },
    awaitAnswer: (row, number, signal) =>
      changes.waitFor(
        row.id,
        async () => {
          const current = await find(row.projectId, row.id)
          if (current === undefined) {
            if (now() >= row.expiresAt) return { action: 'cancel' as const }
            throw new Error('The client has cancelled the call.')
          }
          const state = stateOf(broker, current)
          return state.status === 'answered' && state.number === number ? state.answer : undefined
        },
        signal,
      ),
  }
}
