import { AuthorizationRequired } from '../client/errors.ts'
import { findMissingConsents, joinConsents } from './find-missing-consent.ts'
import { consentText, errorText, valueText } from './model-text.ts'
import { type Binding, type FinishedCall, type Missing, modeOf } from './options.ts'
import { type ModelCall, runUntilMissing } from './run-tool.ts'

/** A call in a model's answer, with the id to which its result refers. */
export interface IdentifiedCall extends ModelCall {
  readonly id: string
}

/** The result of one call, as the model reads it. */
export interface CallResult {
  readonly id: string
  readonly text: string
  readonly isError: boolean
}

export interface CallResults {
  /** One for each call, in their order; none while a consent or an approval is pending. */
  readonly results: readonly CallResult[]
  /** The consents and approvals to wait for before all calls are made again. */
  readonly pending: readonly Missing[]
}

/** A call, or its result where it is known without a run. */
export type AnsweredCall = IdentifiedCall | CallResult

/** Results that are kept for calls that the application may never make again. */
const MAX_FINISHED = 1000

/**
 * Runs the calls of one answer of a model, all at once. In the modes `wait` and `throw`, no call is run while a
 * consent is missing. That a call needs an approval is known only when it is made: the results of the others are kept,
 * because the application makes all calls again, and no tool may run twice.
 */
export async function runCalls(
  binding: Binding,
  answered: readonly AnsweredCall[],
  signal: AbortSignal | undefined,
): Promise<CallResults> {
  const { consent, finished } = binding
  const calls = answered.filter(isCall)
  const isAskedFirst = consent === 'wait' || consent === 'throw'
  if (isAskedFirst && calls.length > 1) {
    const names = calls.filter((call) => !finished.has(keyOf(call))).map(({ runsAs }) => runsAs)
    const missing = await findMissingConsents(binding, names, signal)
    const authorization = await joinConsents(binding, missing, signal)
    if (authorization !== undefined && consent === 'throw') throw new AuthorizationRequired(authorization)
    if (authorization !== undefined) return { results: [], pending: [authorization] }
  }
  const endings = await Promise.all(
    calls.map(
      async (call): Promise<CallEnding> =>
        finished.get(keyOf(call)) ?? (await endingOf(binding, call, signal)),
    ),
  )
  const waiting = endings.flatMap(({ authorization }) => authorization ?? [])
  if (waiting.length > 0) {
    for (const [i, call] of calls.entries()) keep(binding, call, endings[i])
    const thrown = waiting.find((missing) => modeOf(binding, missing) === 'throw')
    if (thrown !== undefined) throw new AuthorizationRequired(thrown)
    return { results: [], pending: [...new Map(waiting.map((missing) => [missing.id, missing])).values()] }
  }
  const ran = endings.map(({ text, isError }, i) => ({ id: calls[i]?.id ?? '', text, isError }))
  for (const call of calls) finished.delete(keyOf(call))
  return { results: answered.flatMap((call) => (isCall(call) ? (ran.shift() ?? []) : call)), pending: [] }
}

function isCall(call: AnsweredCall): call is IdentifiedCall {
  return 'name' in call
}

function keyOf({ id, runsAs, input }: IdentifiedCall): string {
  return JSON.stringify([id, runsAs, input])
}

function keep({ finished }: Binding, call: IdentifiedCall, ending: CallEnding | undefined): void {
  if (ending === undefined || ending.authorization !== undefined) return
  const [oldest] = finished.keys()
  if (finished.size >= MAX_FINISHED && oldest !== undefined) finished.delete(oldest)
  finished.set(keyOf(call), ending)
}

interface CallEnding extends FinishedCall {
  /** What the application must wait for before it makes the call again. */
  readonly authorization?: Missing
}

async function endingOf(
  binding: Binding,
  { id: _, ...call }: IdentifiedCall,
  signal: AbortSignal | undefined,
): Promise<CallEnding> {
  try {
    const ending = await runUntilMissing(binding, call, signal)
    if (ending.ended === 'value') return { text: valueText(ending.value), isError: false }
    const { authorization } = ending
    const text = consentText(call.name, authorization)
    return { text, isError: true, ...(modeOf(binding, authorization) !== 'return' && { authorization }) }
  } catch (error) {
    const text = errorText(call.name, error)
    if (text === undefined) throw error
    return { text, isError: true }
  }
}
