import type { ElicitRequest } from '@modelcontextprotocol/server'
import type { Dialog, Elicitation } from '../../tools/dialog/dialog.ts'
import type { CallBinding } from '../request-state.ts'
import type { SuspendedRows } from './suspended-rows.ts'
import { readElicitationAnswer } from './suspended-state.ts'

/** Questions to clients of 2025: requests on the stream of a call, whose responses arrive by separate requests. */
export interface StreamQuestions {
  /**
   * `send` writes the request with this id to the stream of the call. `withdraw` tells the client that no answer is
   * expected any more.
   */
  askOnStream(
    call: { readonly binding: Pick<CallBinding, 'projectId' | 'caller'>; readonly owner: string },
    send: (id: string, params: ElicitRequest['params']) => void | Promise<void>,
    withdraw: (id: string) => void,
  ): Dialog['elicit']
  /**
   * Takes the response to a request of `askOnStream`, in any process; `result` is absent for an error. A response to no
   * open question of the caller is ignored.
   */
  answer(of: Pick<CallBinding, 'projectId' | 'caller'>, id: unknown, result: unknown): Promise<void>
}

/** The `processId` of such a row: only the stream that carried the question waits for the answer. */
const ON_STREAM = 'stream'

export function createStreamQuestions(rows: SuspendedRows): StreamQuestions {
  return {
    askOnStream({ binding: { projectId, caller }, owner }, send, withdraw) {
      return async (question, signal) => {
        const release = rows.acquireSlot(owner)
        try {
          const row = await rows.add(projectId, ON_STREAM, { caller, status: 'asking', number: 1, question })
          try {
            await send(row.id, streamParams(row.id, question))
            return await rows.awaitAnswer(row, 1, signal)
          } catch (error) {
            withdraw(row.id)
            throw error
          } finally {
            await rows.remove(projectId, row.id)
          }
        } finally {
          release()
        }
      }
    },

    async answer({ projectId, caller }, id, result) {
      const row =
        typeof id === 'string' && id.startsWith('susp_') ? await rows.find(projectId, id) : undefined
      if (row?.processId !== ON_STREAM) return
      const state = rows.stateOf(row)
      if (state.status !== 'asking' || state.caller !== caller) return
      const answer = readElicitationAnswer(result) ?? { action: 'cancel' }
      await rows.advance(row, { caller, status: 'answered', number: state.number, answer })
    },
  }
}

/** For clients of 2025: a form without `mode`, a link with an id. */
function streamParams(id: string, question: Elicitation): ElicitRequest['params'] {
  if (question.mode === 'url') return { ...question, elicitationId: id }
  const { mode: _, ...form } = question
  return form as ElicitRequest['params'] // `readForm` made the schema
}
