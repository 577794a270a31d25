import type { Broker } from '../../broker.ts'
import type { SuspendedCall } from '../../domain/suspended-call.ts'
import type { Dialog, Elicitation, ElicitationAnswer } from '../../tools/dialog/dialog.ts'
import { errorResult } from '../endpoint/call-result.ts'
import type { CallAnswer } from '../endpoint/mcp-call.ts'
import { type CallBinding, createRequestStates } from '../request-state.ts'
import { createStreamQuestions, type StreamQuestions } from './stream-questions.ts'
import { createSuspendedRows } from './suspended-rows.ts'
import { readElicitationAnswer, type SuspendedState } from './suspended-state.ts'

// Calls whose tools ask their user. A waiting run stays in the memory of its process. Question, answer and result are
// exchanged through a row of the database, so the client's next request may reach any process. The row exists from the
// first question on.
//
//  (running) --ask--> asking --answer--> answered --ask--> asking …
//                                           `------end---> ended

/** A call, as its client repeats it in every round. */
export interface SuspendableCall {
  readonly binding: CallBinding
  /** `Principal.owner`, by which waiting calls are limited. */
  readonly owner: string
  /** How the client of this request can ask its user. */
  readonly modes: Dialog['modes']
  /** Aborts when the client has cancelled this request, or this process ends. */
  readonly signal: AbortSignal
  /** Aborts when the client has cancelled this request. */
  readonly cancelled: AbortSignal
  /** The reports that the client of this request asked for. */
  readonly reports: Reports
}

export type Reports = Pick<Dialog, 'progress' | 'log'>

/** Runs the call; the signal ends the run. */
export type RunCall = (dialog: Dialog, signal: AbortSignal) => Promise<CallAnswer>

export interface SuspendedCalls extends StreamQuestions {
  /** Runs a call of a client of 2026-07-28 until it ends or asks its first question (`input_required`). */
  run(call: SuspendableCall, run: RunCall): Promise<CallAnswer>
  /**
   * Takes the answers of a repeated call and waits for its result or its next question. `undefined` for a
   * `requestState` of another kind, another call or another caller.
   */
  resume(
    call: SuspendableCall,
    given: {
      readonly requestState: string
      readonly inputResponses?: Readonly<Record<string, unknown>> | undefined
    },
  ): Promise<CallAnswer | undefined>
  /** Ends the runs of this process that have asked their user. */
  close(): void
}

/** In characters of JSON. A longer result is not stored. */
const MAX_RESULT = 8 * 1024 * 1024

/** The content of `requestState`. */
interface Round {
  readonly id: string
  /** The number of the question, from 1 on. */
  readonly number: number
}

export function createSuspendedCalls(broker: Broker): SuspendedCalls {
  const { liveness, now } = broker
  const states = createRequestStates<Round>(broker, 'elicitation')
  const rows = createSuspendedRows(broker)
  const streams = createStreamQuestions(rows)
  /** The suspended runs of this process. */
  const runs = new Map<string, LocalRun>()

  async function inputRequired(
    { binding }: SuspendableCall,
    id: string,
    number: number,
    question: Elicitation,
  ): Promise<CallAnswer> {
    return {
      resultType: 'input_required',
      inputRequests: { [keyOf(number)]: { method: 'elicitation/create', params: question } },
      requestState: await states.seal({ id, number }, binding),
    } as CallAnswer // `readForm` made the schema
  }

  async function run(call: SuspendableCall, body: RunCall): Promise<CallAnswer> {
    const { binding, owner, modes, signal } = call
    const { projectId, caller } = binding
    const ending = new AbortController()
    const cancel = () => ending.abort(signal.reason)
    const firstQuestion = Promise.withResolvers<CallAnswer>()
    const done = Promise.withResolvers<void>()
    const local: LocalRun = { ending, reports: call.reports }
    let row: SuspendedCall | undefined
    let number = 0
    let isOver = false
    let releaseSlot = () => {}

    /** Adds the row with the first question. From then on heartbeats are sent, and removing the row ends the run. */
    async function suspend(question: Elicitation): Promise<SuspendedCall> {
      releaseSlot() // the slot of an earlier question whose row could not be written
      releaseSlot = rows.acquireSlot(owner)
      const claimant = Promise.withResolvers<string>()
      void liveness
        .whileAlive((processId) => {
          claimant.resolve(processId)
          return done.promise
        })
        .catch(claimant.reject)
      const state = { caller, status: 'asking', number, question } as const
      const added = await rows.add(projectId, await claimant.promise, state)
      const { id } = added
      if (isOver) {
        await rows.remove(projectId, id)
        throw new Error('The run has ended.')
      }
      runs.set(id, local)
      firstQuestion.resolve(inputRequired(call, id, number, question))
      void rows
        .waitFor(id, async () => (await isRemoved(id)) || undefined, ending.signal)
        .then(() => ending.abort(new Error('The client has canceled the call.')))
        .catch(() => undefined) // the run has ended
      return added
    }

    async function isRemoved(id: string): Promise<boolean> {
      const known = row
      const found = await rows.find(projectId, id).catch(() => known) // the next read may succeed
      return found === undefined && known !== undefined && now() < known.expiresAt
    }

    async function elicit(question: Elicitation, asking: AbortSignal): Promise<ElicitationAnswer> {
      if (isOver) throw new Error('The run has ended.')
      number++
      if (row === undefined) row = await suspend(question)
      else if (!(await write({ caller, status: 'asking', number, question })))
        throw new Error('The client has canceled the call, or took too long.')
      return rows.awaitAnswer(row, number, AbortSignal.any([asking, ending.signal]))
    }

    /** Writes the run's next state over the client's answer. */
    async function write(state: SuspendedState): Promise<boolean> {
      const current = row && (await rows.find(projectId, row.id))
      const next = current && (await rows.advance(current, state))
      if (next !== undefined) row = next
      return next !== undefined
    }

    async function end(result: CallAnswer): Promise<CallAnswer> {
      if (row === undefined) return result
      const isShort = JSON.stringify(result).length <= MAX_RESULT
      await write({ caller, status: 'ended', result: isShort ? result : TOO_LONG }).catch((error: unknown) =>
        broker.log.error({ error }, 'the result of a call that had asked its user could not be stored'),
      )
      return result
    }

    async function fail(error: unknown): Promise<never> {
      if (row !== undefined) await write({ caller, status: 'ended', result: FAILED }).catch(() => false)
      throw error
    }

    // the first request can cancel the run until it is answered; after that, the requests that repeat the call can
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    const dialog: Dialog = {
      modes,
      elicit,
      progress: (data) => local.reports.progress?.(data),
      log: (line) => local.reports.log?.(line),
    }
    const ended = body(dialog, ending.signal)
      .then(end, fail)
      .finally(() => {
        isOver = true
        if (row !== undefined) {
          ending.abort(new Error('The run has ended.'))
          runs.delete(row.id)
        }
        done.resolve()
        releaseSlot()
      })
    ended.catch(() => undefined) // if no request waits any more, `fail` has stored the error
    try {
      return await Promise.race([ended, firstQuestion.promise])
    } finally {
      signal.removeEventListener('abort', cancel)
      if (row !== undefined && local.reports === call.reports) local.reports = {}
    }
  }

  /** The answer to a round; `undefined` while there is none. Without the process of the run, the outcome is unknown. */
  async function nextAnswer(
    call: SuspendableCall,
    round: Round,
    responses: Readonly<Record<string, unknown>>,
  ): Promise<CallAnswer | undefined> {
    const { projectId, caller } = call.binding
    const row = await rows.find(projectId, round.id)
    if (row === undefined) return OUTCOME_UNKNOWN
    const state = rows.stateOf(row)
    if (state.caller !== caller) return OUTCOME_UNKNOWN
    if (state.status === 'ended') return state.result
    if (state.status === 'asking') {
      const { number, question } = state
      const answer = number === round.number ? readElicitationAnswer(responses[keyOf(number)]) : undefined
      if (answer === undefined) return inputRequired(call, row.id, number, question)
      await rows.advance(row, { caller, status: 'answered', number, answer })
      return undefined
    }
    return (await liveness.isAlive(row.processId)) ? undefined : OUTCOME_UNKNOWN
  }

  return {
    ...streams,
    run,
    async resume(call, { requestState, inputResponses = {} }) {
      const round = await states.open(requestState, call.binding)
      if (round === undefined) return undefined
      const local = runs.get(round.id)
      if (local !== undefined) local.reports = call.reports
      try {
        return await rows.waitFor(round.id, () => nextAnswer(call, round, inputResponses), call.signal)
      } catch (error) {
        // A client cancels by closing the stream (MCP 2026-07-28, Cancellation). The end of this process ends no run of
        // another process: the client repeats its request there.
        if (!call.cancelled.aborted) throw error
        await rows.remove(call.binding.projectId, round.id)
        return OUTCOME_UNKNOWN // the client does not read it
      } finally {
        if (local?.reports === call.reports) local.reports = {}
      }
    },

    close() {
      for (const { ending } of runs.values()) ending.abort(new Error('This process ends.'))
    },
  }
}

interface LocalRun {
  readonly ending: AbortController
  /** The reports for the request that waits for the run now. */
  reports: Reports
}

function keyOf(number: number): string {
  return `question-${number}`
}

const OUTCOME_UNKNOWN = errorResult({
  kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
  message:
    'The tool asked its user, and its run was lost before it ended: it took too long, was canceled, or its process stopped. It is not known whether the tool has done its work. Check that before you call it again.',
  canRetry: false,
})

const FAILED = errorResult({
  kind: 'TOOL_RUNTIME_FATAL',
  message: 'The call failed in Gatepass after the tool had asked its user.',
  canRetry: false,
})

const TOO_LONG = errorResult({
  kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
  message:
    'The tool has run, but its result is lost: after a question to the user, a result this long cannot be sent.',
  canRetry: false,
})
