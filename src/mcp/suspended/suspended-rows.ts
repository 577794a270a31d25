import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import type { SuspendedCall } from '../../domain/suspended-call.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { type ChangeSignal, createChangeSignal } from '../../services/change-signal.ts'
import { createOwnerCounts } from '../../services/owner-counts.ts'
import type { ElicitationAnswer } from '../../tools/dialog/dialog.ts'
import { type SuspendedState, stateOf, toColumns } from './suspended-state.ts'

// Reads and writes the rows of calls that wait for an answer of their user.

export interface SuspendedRows {
  /** By the id of the row. */
  readonly waitFor: ChangeSignal['waitFor']
  /**
   * Takes a slot for a call that waits in this process. Returns the function that releases the slot; calling it again
   * has no effect. Throws `ContextRequiredError` if there is no free slot.
   */
  acquireSlot(owner: string): () => void
  add(projectId: string, processId: string, state: SuspendedState): Promise<SuspendedCall>
  find(projectId: string, id: string): Promise<SuspendedCall | undefined>
  stateOf(row: SuspendedCall): SuspendedState
  /** Writes the next state; `undefined` if the row was removed or changed since it was read. */
  advance(row: SuspendedCall, state: SuspendedState): Promise<SuspendedCall | undefined>
  remove(projectId: string, id: string): Promise<void>
  /** Waits for the answer to the question. Resolves to `cancel` when its time is over. Rejects if the row was removed. */
  awaitAnswer(row: SuspendedCall, number: number, signal: AbortSignal): Promise<ElicitationAnswer>
}

/** The most waiting calls: in one process, and of one owner. */
const MAX_CALLS = 1_000
const MAX_PER_OWNER = 20
const POLL_MS = 50
/** No change announces that a row has expired, or that the process of its run has ended. */
const REREAD_MS = 1_000

export function createSuspendedRows(broker: Broker): SuspendedRows {
  const { store, now } = broker
  const changes = createChangeSignal(store, {
    topicOf: (change) => (change.noun === 'suspended_call' ? change.id : undefined),
    pollMs: POLL_MS,
    rereadMs: REREAD_MS,
  })
  const owners = createOwnerCounts()
  let total = 0
  const find = (projectId: string, id: string) => store.suspendedCalls.find(projectId, id, now())

  return {
    waitFor: changes.waitFor,
    find,
    stateOf: (row) => stateOf(broker, row),
    remove: (projectId, id) => store.suspendedCalls.remove(projectId, id),
    acquireSlot(owner) {
      const others = owners.of(owner)
      if (others >= MAX_PER_OWNER || total >= MAX_CALLS)
        throw new ContextRequiredError(
          others >= MAX_PER_OWNER
            ? `The tool asks its user, but ${others} calls of yours are waiting for answers already. Answer or decline some first.`
            : 'The tool asks its user, but too many calls are waiting for answers. Call it again later.',
        )
      total++
      const removeFromOwner = owners.add(owner)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        total--
        removeFromOwner()
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
          // a read that fails is repeated until the time of the answer is over
          const current = await find(row.projectId, row.id).catch(() => 'unreadable' as const)
          if (current === undefined || current === 'unreadable') {
            if (now() >= row.expiresAt) return { action: 'cancel' as const }
            if (current === 'unreadable') return undefined
            throw new Error('The client has canceled the call.')
          }
          const state = stateOf(broker, current)
          return state.status === 'answered' && state.number === number ? state.answer : undefined
        },
        signal,
      ),
  }
}
