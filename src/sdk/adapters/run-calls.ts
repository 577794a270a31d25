import type { PendingAuthorization } from '../client/authorization.ts'
import { AuthorizationRequired } from '../client/errors.ts'
import { findMissingConsents, joinConsents } from './find-missing-consent.ts'
import { consentText, errorText, valueText } from './model-text.ts'
import type { Binding } from './options.ts'
import { type ModelCall, runToEnd } from './run-tool.ts'

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
  /** One for each call, in their order; none while a consent is pending. */
  readonly results: readonly CallResult[]
  /** The consents to wait for before the calls are run. */
  readonly pending: readonly PendingAuthorization[]
}

/** A call, or its result where it is known without a run. */
export type AnsweredCall = IdentifiedCall | CallResult

/**
 * Runs the calls of one answer of a model, all at once. In the modes `wait` and `throw`, no call is run while a
 * consent is missing: the application runs all calls again after the consent, and no tool may run twice.
 */
export async function runCalls(
  binding: Binding,
  answered: readonly AnsweredCall[],
  signal: AbortSignal | undefined,
): Promise<CallResults> {
  const { consent } = binding
  const calls = answered.filter(isCall)
  const isAskedFirst = consent === 'wait' || consent === 'throw'
  if (isAskedFirst && calls.length > 1) {
    const names = calls.map(({ runsAs }) => runsAs)
    const missing = await findMissingConsents(binding, names, signal)
    const authorization = await joinConsents(binding, missing, signal)
    if (authorization !== undefined && consent === 'throw') throw new AuthorizationRequired(authorization)
    if (authorization !== undefined) return { results: [], pending: [authorization] }
  }
  const endings = await Promise.all(calls.map((call) => endingOf(binding, call, signal)))
  const [only] = endings
  if (consent === 'wait' && endings.length === 1 && only?.authorization)
    return { results: [], pending: [only.authorization] }
  const ran = endings.map(({ id, text, isError }) => ({ id, text, isError }))
  return { results: answered.flatMap((call) => (isCall(call) ? (ran.shift() ?? []) : call)), pending: [] }
}

function isCall(call: AnsweredCall): call is IdentifiedCall {
  return 'name' in call
}

interface CallEnding extends CallResult {
  /** The consent that is missing. */
  readonly authorization?: PendingAuthorization
}

async function endingOf(
  binding: Binding,
  { id, ...call }: IdentifiedCall,
  signal: AbortSignal | undefined,
): Promise<CallEnding> {
  try {
    const ending = await runToEnd(binding, call, signal)
    if (ending.ended === 'value') return { id, text: valueText(ending.value), isError: false }
    const { authorization } = ending
    return { id, text: consentText(call.name, authorization), isError: true, authorization }
  } catch (error) {
    const text = errorText(call.name, error)
    if (text === undefined) throw error
    return { id, text, isError: true }
  }
}
