import type { OutgoingResponse } from '../../egress/outgoing.ts'
import { type Members, membersOf, readJsonMembers } from '../../providers/response-body.ts'
import { isDeeperThan } from '../../tools/read-json.ts'
import type { ToolAnswer, ToolOutcome } from '../../tools/tool-answer.ts'
import { badOutputError, type ToolError } from '../../tools/tool-error.ts'
import { WorkerFault } from '../../tools/worker-fault.ts'
import { jsonOf } from '../../tools/worker-request.ts'

const MAX_DEPTH = 100

/** An answer before it is parsed, and the members of the request that it must match. */
export interface OxpAnswer {
  readonly response: OutgoingResponse
  readonly asked: SentCall
}

interface SentCall {
  readonly callId: string
  /** The ids of the authorizations whose tokens were sent. */
  readonly given: readonly string[]
}

/**
 * Reads the answer to `tools/call`, wrapped in `result` or not. Throws `WorkerFault` if it is not an answer of the
 * protocol.
 */
export function readOxpAnswer({ response, asked }: OxpAnswer): ToolAnswer {
  const refusal = [400, 422].includes(response.status) ? readJsonMembers(response.body) : undefined
  if (refusal !== undefined && typeof refusal.message === 'string') {
    if (isDeeperThan(refusal, MAX_DEPTH)) throw badAnswer(`nests deeper than ${MAX_DEPTH} levels`)
    return { ...(response.status === 400 ? readRefusal(refusal, asked) : readInvalid(refusal)), logs: [] }
  }
  const body = membersOf(jsonOf(response))
  const result = membersOf(body?.result) ?? body
  if (typeof result?.success !== 'boolean') throw badAnswer('has no `success`')
  if (isDeeperThan(result, MAX_DEPTH)) throw badAnswer(`nests deeper than ${MAX_DEPTH} levels`)
  // another call's answer may hold another user's data
  if (typeof result.call_id === 'string' && result.call_id !== asked.callId)
    throw badAnswer('has the `call_id` of another call')
  const { duration } = result
  return {
    ...readResult(result, result.success),
    logs: [],
    ...(typeof duration === 'number' && duration >= 0 && { durationMs: duration }),
  }
}

function readResult(result: Members, success: boolean): ToolOutcome {
  const error = membersOf(result.error)
  if (error !== undefined) return failed(readError(error))
  if (success) return { outcome: 'value', value: result.value ?? null }
  return failed(readError({}))
}

/** OXP has no error kinds; `can_retry` chooses between the two generic ones. */
function readError(error: Members): ToolError {
  const { retry_after_ms: wait } = error
  const canRetry = error.can_retry === true
  return {
    kind: canRetry ? 'TOOL_RUNTIME_RETRY' : 'TOOL_RUNTIME_FATAL',
    message: text(error.message) ?? 'The tool failed without saying why.',
    canRetry,
    ...optional('developerMessage', error.developer_message),
    ...optional('additionalPromptContent', error.additional_prompt_content),
    ...(typeof wait === 'number' && wait >= 0 && { retryAfterMs: Math.ceil(wait) }),
  }
}

/**
 * Reads a ServerErrorResponse: the tool did not run. Links in it are never followed or shown, because the broker itself
 * asks for a missing consent. If all listed authorizations had a token, the server rejected the tokens.
 */
function readRefusal(body: Members, { given }: SentCall): ToolOutcome {
  const missing = membersOf(body.missing_requirements)
  const challenges = Array.isArray(missing?.authorization) ? missing.authorization : []
  const ids = challenges.flatMap((challenge) => text(membersOf(challenge)?.id) ?? [])
  if (ids.length > 0 && ids.every((id) => given.includes(id)))
    return failed({
      kind: 'UPSTREAM_RUNTIME_AUTH_ERROR',
      message: `The tool rejected its token for ${ids.join(', ')}.`,
      canRetry: true,
    })
  if (challenges.length > 0) {
    const id = ids.find((candidate) => !given.includes(candidate))
    return { outcome: 'authorization_requested', requested: { id } }
  }
  if (missing?.user_id === true)
    return {
      outcome: 'error',
      error: {
        kind: 'TOOL_REQUIREMENTS_NOT_MET',
        message: 'The tool acts for a user: say which in user_id.',
        canRetry: false,
      },
      isOwn: true,
    }
  return failed({
    kind: 'UPSTREAM_RUNTIME_BAD_REQUEST',
    message: String(body.message),
    ...optional('developerMessage', body.developer_message),
    statusCode: 400,
  })
}

function failed(error: Omit<ToolError, 'canRetry'> & { readonly canRetry?: boolean }): ToolOutcome {
  return { outcome: 'error', error: { canRetry: false, ...error } }
}

/** Reads a ValidationErrorResponse, which lists the invalid parameters. */
function readInvalid(body: Members): ToolOutcome {
  const errors = Object.entries(membersOf(body.parameter_errors) ?? {}).flatMap(([name, text]) =>
    typeof text === 'string' ? [[name, text] as const] : [],
  )
  const all = errors.map(([name, message]) => `${name}: ${message}`)
  return {
    outcome: 'error',
    error: {
      kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
      message: [body.message, ...all].join(' '),
      canRetry: false,
      statusCode: 422,
      parameterErrors: Object.fromEntries(errors),
    },
    isOwn: true, // sent by the server before its tool ran
  }
}

function optional<Name extends string>(name: Name, member: unknown): { readonly [_ in Name]?: string } {
  const value = text(member)
  // TypeScript widens computed keys to `string`
  return (value === undefined ? {} : { [name]: value }) as { [_ in Name]?: string }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function badAnswer(what: string): WorkerFault {
  return new WorkerFault(badOutputError(`The answer ${what}.`))
}
