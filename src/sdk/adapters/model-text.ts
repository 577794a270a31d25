import type { AuthorizationFailed, GatepassError } from '../client/errors.ts'
import { Gatepass } from '../client/gatepass.ts'
import { isTransient } from '../client/retry.ts'
import type { ToolError } from '../client/tool-error.ts'
import type { ApprovedCall, Missing } from './options.ts'

/** A tool's value as a model reads it: a string unchanged, everything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null)
}

/** A missing consent or approval, as JSON for user interfaces and stored runs. */
export interface ConsentRequest {
  readonly kind: 'consent' | 'approval'
  readonly id: string
  readonly url: string
  readonly scopes: readonly string[]
  readonly status: 'pending'
  /** What an approval is about. */
  readonly call?: ApprovedCall
}

export function toConsentRequest(missing: Missing): ConsentRequest {
  const { kind, id, url, scopes, status } = missing
  return {
    kind,
    id,
    url,
    scopes: [...scopes],
    status,
    ...(missing.kind === 'approval' && { call: missing.call }),
  }
}

/** What the model tells the user when a consent or an approval is missing. */
export function consentText(
  name: string,
  { kind, url, scopes }: Pick<ConsentRequest, 'kind' | 'url' | 'scopes'>,
): string {
  if (kind === 'approval')
    return `A person must approve exactly this call of ${name} before it runs. Ask the user to open ${url} and to decide there. Call ${name} again with the same arguments only when the user says that it is done.`
  const asked = scopes.length > 0 ? ` (${scopes.join(', ')})` : ''
  return `${name} needs the user's approval${asked}. Ask the user to open ${url} and to approve there. The link is for this user alone and ends after a few minutes. Call ${name} again only when the user says that it is done.`
}

/**
 * What the model reads when a call fails, with advice on retrying. `undefined` for errors that are for the application
 * and not for a model: a consent in the mode `throw`, an API key that Gatepass refuses, an abort, a bug.
 */
export function errorText(name: string, error: unknown): string | undefined {
  if (!Gatepass.isError(error)) return undefined
  if (Gatepass.isError(error, 'tool_error')) return toolErrorText(error)
  if (Gatepass.isError(error, 'authorization_failed')) return failedConsentText(name, error)
  switch (error.code) {
    case 'authorization_required': // thrown in the mode `throw` only
    case 'invalid_authorization':
    case 'insufficient_role':
    case 'insufficient_scope':
    case 'user_not_allowed':
    case 'invalid_options':
      return undefined
    case 'authorization_timeout':
      return `The user has not approved ${name} yet. Call it again only when the user says that it is done.`
    case 'invalid_input':
    case 'invalid_request':
      return `${error.message} Correct the arguments and call ${name} again.`
    default:
      if (mayHaveRun(error))
        return `${error.message} It is not known whether ${name} ran: check before you call it again.`
      return `${error.message} ${isTransient(error) ? laterText(error) : 'The same call would fail again.'}`
  }
}

/** For a call of a tool that does not exist. */
export function unknownToolText(name: string): string {
  return `There is no tool ${name}. Call one of the tools that were given to you, by its exact name.`
}

function toolErrorText(error: ToolError): string {
  const { message, additionalPromptContent: more, canRetry, kind, retryAfterMs } = error
  const advice =
    kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE'
      ? 'Correct the arguments and call it again.'
      : canRetry
        ? laterText({ retryAfterMs })
        : 'The same call would fail again.'
  return [message, more, advice].filter(Boolean).join(' ')
}

export function refusedText(name: string): string {
  return `The user refused the access that ${name} needs. Do not call it again unless the user asks for it.`
}

function failedConsentText(name: string, { reason, authorization }: AuthorizationFailed): string {
  if (reason === 'access_denied') return refusedText(name)
  if (reason === 'approval_denied') return `${authorization.message} Do not make this call of ${name} again.`
  if (reason === 'approval_superseded') return authorization.message
  if (reason === 'approval_expired')
    return `${authorization.message} Ask the user whether to call ${name} again: another call asks once more.`
  if (reason === 'expired')
    return `The link for the approval that ${name} needs has expired. Ask the user whether to try again: another call makes a new link.`
  return `The approval that ${name} needs has failed (${reason}). ${authorization.message}`
}

function laterText({ retryAfterMs }: Pick<GatepassError, 'retryAfterMs'>): string {
  if (retryAfterMs === undefined || retryAfterMs === 0) return 'You may call it again.'
  const seconds = Math.ceil(retryAfterMs / 1000)
  return `You may call it again after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
}

/** Whether the tool may have run although its answer is missing, so that another call could do something twice. */
function mayHaveRun({ code, status = 0 }: GatepassError): boolean {
  switch (code) {
    case 'connection_error':
    case 'timeout':
    case 'internal_error':
    case 'outcome_unknown':
      return true
    case 'unexpected_answer': // of a proxy before Gatepass, which says by 501 and 503 that it passed nothing on
      return status >= 500 && status !== 501 && status !== 503
    default:
      return false
  }
}

/** The error to throw in a framework that gives the messages of errors to the model. */
export function toModelError(name: string, error: unknown): unknown {
  const text = errorText(name, error)
  return text === undefined ? error : new Error(text, { cause: error })
}
