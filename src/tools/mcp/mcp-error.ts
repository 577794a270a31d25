import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { OutgoingError } from '../../egress/outgoing.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { bearerChallenge } from '../../providers/protected-resource.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { ASKS_ITS_USER } from '../dialog/tool-dialog.ts'
import { scrub } from '../scrub/scrub.ts'
import type { ToolOutcome } from '../tool-answer.ts'
import { badOutputError, type ErrorKind, type ToolError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { CANCELLED, refusalOf, toolErrorOf } from '../worker-request.ts'
import { ExchangeFault } from './exchange.ts'
import { serverScopes } from './settings.ts'

/** Error code URLElicitationRequiredError of MCP 2025-11-25. */
export const URL_ELICITATION_REQUIRED = -32_042
/** Error code MissingRequiredClientCapability of MCP 2026-07-28. */
const MISSING_CAPABILITY = -32_021
/**
 * The error message of MCP 2025 servers for a client without elicitation. The official SDK sends it with the code
 * -32603.
 */
const LACKS_ELICITATION = /\bnot support\b.{0,40}\belicitation\b/i
const MAX_MESSAGE_LENGTH = 500

/** Converts a failed exchange to an error, or to the consent for further scopes that the server requires. */
export function outcomeOf(error: unknown, host: string, stage: 'connecting' | 'calling'): ToolOutcome {
  const fault = error instanceof ExchangeFault && error.cause instanceof WorkerFault ? error.cause : error
  if (fault instanceof WorkerFault) return { outcome: 'error', error: fault.error, isOwn: true }
  if (fault instanceof ContextRequiredError) return notAsked(fault)
  if (!(error instanceof ExchangeFault)) throw error
  const { seen, cause } = error
  const own = (toolError: ToolError): ToolOutcome => ({ outcome: 'error', error: toolError, isOwn: true })
  if (seen.isCancelled) return own(CANCELLED)
  if (seen.isTimeout)
    return own(toolErrorOf(new OutgoingError('timeout', host, { requestSent: stage === 'calling' })))
  if (seen.refused !== undefined && !(cause instanceof ProtocolError)) {
    const { status, challenge, retryAfter } = seen.refused
    const { error: code, scopes } = bearerChallenge(challenge)
    if (status === 403 && code === 'insufficient_scope')
      return {
        outcome: 'authorization_requested',
        requested: { use: 'server', scopes: serverScopes({}, scopes ?? []) },
      }
    const refusal = refusalOf(status, retryAfter)
    if (status === 401)
      return {
        outcome: 'error',
        // the server refused before the tool ran
        error: { ...refusal, canRetry: true, developerMessage: `${host} answered 401.` },
      }
    return own({ ...refusal, developerMessage: `${host} answered ${status}.` })
  }
  if (seen.fault !== undefined)
    return own(
      toolErrorOf(
        stage === 'calling' || !seen.fault.requestSent
          ? seen.fault
          : // only the handshake was sent, not the call
            new OutgoingError(seen.fault.kind, host, { requestSent: false }),
      ),
    )
  if (cause instanceof ProtocolError) return refusedByProtocol(cause)
  return own(badOutputError(`${host} does not follow the Model Context Protocol${breachOf(cause)}.`))
}

/** How the server's result breaks the protocol. Other messages of the SDK may quote what the server sent. */
function breachOf(cause: unknown): string {
  return isInvalidResult(cause) ? `: ${plainWords(cause.message)}` : ''
}

function isInvalidResult(cause: unknown): cause is SdkError {
  return cause instanceof SdkError && cause.code === SdkErrorCode.InvalidResult
}

function plainWords(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, MAX_MESSAGE_LENGTH)
}

/**
 * Removes the secrets that were sent to the server from the failure: the server's error, the names of members of its
 * result, and the metadata URL in its challenge may repeat them.
 */
export function scrubFault(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof ExchangeFault) || secrets.length === 0) return error
  const { cause, seen } = error
  const clean = <T>(value: T) => scrub(value, secrets) as T // `scrub` keeps the shape
  return new ExchangeFault(
    cause instanceof ProtocolError
      ? new ProtocolError(cause.code, clean(cause.message), clean(cause.data))
      : isInvalidResult(cause)
        ? new SdkError(cause.code, clean(cause.message))
        : cause,
    { ...seen, ...(seen.refused && { refused: clean(seen.refused) }) },
  )
}

/** Converts a failed exchange to a `WorkerFault`, for requests other than calls. */
export function faultOf(error: unknown, host: string): WorkerFault {
  const outcome = outcomeOf(error, host, 'connecting')
  if (outcome.outcome === 'error') return new WorkerFault(outcome.error)
  return new WorkerFault({ ...refusalOf(403, undefined), developerMessage: `${host} requires more scopes.` })
}

/** The error of a tool whose question was not passed on to its user. */
export function notAsked({ message }: ContextRequiredError): ToolOutcome {
  return {
    outcome: 'error',
    isOwn: true,
    error: { kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED', message, canRetry: false },
  }
}

/**
 * The error of a server that needs a capability which its client has not declared. If none is named, elicitation is
 * assumed.
 */
function missingCapability(data: unknown): ToolOutcome {
  const required = isRecord(data) && isRecord(data.requiredCapabilities) ? data.requiredCapabilities : {}
  const [other] = Object.keys(required).filter((key) => key !== 'elicitation')
  if (other === undefined) return { outcome: 'error', error: ASKS_ITS_USER, isOwn: true }
  return notAsked(
    new ContextRequiredError(
      `The tool needs an MCP client that offers ${other.slice(0, 50)}, which Gatepass does not offer.`,
    ),
  )
}

function refusedByProtocol({ code, message, data }: ProtocolError): ToolOutcome {
  if (code === URL_ELICITATION_REQUIRED) return { outcome: 'error', error: ASKS_ITS_USER, isOwn: true }
  if (code === MISSING_CAPABILITY) return missingCapability(data)
  if (LACKS_ELICITATION.test(message)) return { outcome: 'error', error: ASKS_ITS_USER, isOwn: true }
  const [kind, text] = RPC_ERRORS.get(code) ?? [
    'UPSTREAM_RUNTIME_UNMAPPED',
    'The server of the tool refused the call.',
  ]
  return {
    outcome: 'error',
    error: {
      kind,
      message: text,
      canRetry: false,
      developerMessage: `JSON-RPC error ${code}: ${plainWords(message)}`,
    },
  }
}

/** Error codes of JSON-RPC 2.0 section 5.1. */
const RPC_ERRORS = new Map<number, readonly [ErrorKind, string]>([
  [-32_600, ['UPSTREAM_RUNTIME_BAD_REQUEST', 'The server of the tool could not read the call.']],
  [-32_601, ['UPSTREAM_RUNTIME_NOT_FOUND', 'The server of the tool does not support the call.']],
  [
    -32_602,
    ['TOOL_RUNTIME_BAD_INPUT_VALUE', 'The server of the tool refused the input, or does not know the tool.'],
  ],
  [-32_603, ['UPSTREAM_RUNTIME_SERVER_ERROR', 'The server of the tool failed.']],
  [-32_700, ['UPSTREAM_RUNTIME_BAD_REQUEST', 'The server of the tool could not read the call.']],
])
