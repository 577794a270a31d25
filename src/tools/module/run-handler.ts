import type { BackendCall, GivenAuthorization, ToolEvent } from '../backend.ts'
import { readAnswer } from '../read-answer.ts'
import { ownError, type ToolAnswer, type ToolLog } from '../tool-answer.ts'
import { badOutputError, type ToolError } from '../tool-error.ts'
import { upstreamKind } from '../upstream-status.ts'
import { MAX_ANSWER_BYTES } from '../worker-request.ts'
import {
  isTypedSchema,
  type SchemaIssue,
  type ToolAuthorization,
  type ToolContext,
  ToolFailure,
  type ToolFailureOptions,
  type ToolOptions,
  type ToolSchema,
} from './define-tool.ts'
import { NotJson, toJsonText, toJsonValue } from './json-value.ts'
import { authorizationsOf } from './load-module.ts'

const MAX_LOGS = 1000
/** Length of one log line, in characters. */
const MAX_LOG_LENGTH = 10_000

/**
 * Runs a handler until it returns, its time limit passes or the caller cancels, whichever comes first. Log lines and
 * events that the handler sends afterwards are dropped.
 */
export async function runHandler(
  options: ToolOptions,
  call: BackendCall,
  timeoutSeconds: number,
): Promise<ToolAnswer> {
  const logs: ToolLog[] = []
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new Error('The time limit has passed.')), timeoutSeconds * 1000)
  const cancel = () => ending.abort(new Error('The caller has cancelled.'))
  call.signal?.addEventListener('abort', cancel)
  if (call.signal?.aborted === true) cancel()
  let isOver = false
  const aborted = Promise.withResolvers<ToolAnswer>()
  ending.signal.addEventListener('abort', () => aborted.resolve(timedOut(logs)))
  try {
    if (ending.signal.aborted) return timedOut(logs)
    const tell = (event: ToolEvent) => {
      if (!isOver) call.onEvent?.(event)
    }
    const note = (log: ToolLog) => {
      if (!isOver && logs.length < MAX_LOGS) logs.push(log)
    }
    const answer = answerOf(options, call, { signal: ending.signal, tell, note, logs })
    return await Promise.race([answer, aborted.promise])
  } finally {
    isOver = true
    clearTimeout(timer)
    call.signal?.removeEventListener('abort', cancel)
    ending.abort(new Error('The run has ended.'))
  }
}

interface Running {
  readonly signal: AbortSignal
  readonly tell: (event: ToolEvent) => void
  readonly note: (log: ToolLog) => void
  readonly logs: readonly ToolLog[]
}

/** Never rejects. */
async function answerOf(options: ToolOptions, call: BackendCall, running: Running): Promise<ToolAnswer> {
  const { logs } = running
  try {
    // a copy, because history and the steps of a chain keep the original
    const input = await parsed(options.input, structuredClone(call.input))
    if (input.outcome === 'refused')
      return failed({ kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', message: input.why, canRetry: false }, logs)
    const given = await options.handler(contextOf(options, call, input.value, running))
    const output =
      options.output === undefined
        ? ({ outcome: 'taken', value: given } as const)
        : await parsed(options.output, given)
    if (output.outcome === 'refused') return failed(badOutputError(output.why), logs)
    const bytes = new TextEncoder().encode(toJsonText(output.value, MAX_ANSWER_BYTES))
    return await readAnswer({ protocol: 'module', bytes, logs }, call.reading)
  } catch (error) {
    return failed(error instanceof NotJson ? badOutputError(error.message) : toToolError(error), logs)
  }
}

function contextOf(
  options: ToolOptions,
  { executionId, userId, authorizations, secrets, metadata }: BackendCall,
  input: unknown,
  { signal, tell, note }: Running,
): ToolContext<never, string, never> {
  const given = authorizationsOf(options).map((auth) => {
    const name = 'id' in auth ? auth.id : auth.provider
    const found = authorizations.find(({ requirements }) =>
      requirements.some((one) => ('id' in auth ? one.id === name : one.providerId === name)),
    )
    return [name, toAuthorization(found)] as const
  })
  const values = new Map(secrets.map(({ key, value }) => [key, value]))
  const log = (level: string) => (message: string) =>
    note({ level, message: String(message).slice(0, MAX_LOG_LENGTH) })
  const context: Omit<ToolContext, 'input' | 'authorization'> = {
    authorizations: Object.fromEntries(
      given.filter((one): one is [string, ToolAuthorization] => one[1] !== undefined),
    ),
    getSecret(key) {
      const value = values.get(key)
      if (value !== undefined) return value
      throw new Error(
        `The tool "${options.name}" does not declare the secret "${key}": name it in requiresSecrets.`,
      )
    },
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    userId: userId ?? null,
    requestId: executionId,
    signal,
    log: { debug: log('debug'), info: log('info'), warning: log('warning'), error: log('error') },
    progress: {
      report(progress, total, message) {
        tell({
          kind: 'progress',
          data: {
            progress,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message }),
          },
        })
      },
    },
    chunk: (data) => tell({ kind: 'chunk', data: toJsonValue(data, MAX_ANSWER_BYTES) }),
  }
  // `defineTool` types the handler by the tool's own options
  return { ...context, input, authorization: given[0]?.[1] } as unknown as ToolContext<never, string, never>
}

function toAuthorization(given: GivenAuthorization | undefined): ToolAuthorization | undefined {
  if (given === undefined) return undefined
  const { accessToken, userInfo, extra = {}, connection } = given.release
  return {
    token: accessToken,
    tokenType: connection.tokenType,
    ...(connection.expiresAt !== undefined && { expiresAt: new Date(connection.expiresAt * 1000) }),
    // copies, because the broker caches the originals for the next call
    ...structuredClone({ scopes: connection.scopes, userInfo, extra }),
  }
}

type Parsed =
  | { readonly outcome: 'taken'; readonly value: unknown }
  | { readonly outcome: 'refused'; readonly why: string }

/**
 * Parses a value with a typed schema. The broker has already checked the JSON Schema of every kind of tool;
 * transformations and refinements only the schema itself can apply.
 */
async function parsed(schema: ToolSchema, value: unknown): Promise<Parsed> {
  if (!isTypedSchema(schema)) return { outcome: 'taken', value }
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return { outcome: 'taken', value: result.value }
  return { outcome: 'refused', why: result.issues.slice(0, 5).map(toSentence).join(' ') }
}

function toSentence({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((one) => String(typeof one === 'object' ? one.key : one))
  return `${keys.length > 0 ? `${keys.join('.')}: ` : ''}${message}${/[.!?]$/.test(message) ? '' : '.'}`
}

const KINDS = { retry: 'TOOL_RUNTIME_RETRY', fatal: 'TOOL_RUNTIME_FATAL' } as const

/**
 * Converts what a tool threw. The message of an unexpected error may contain anything, so only the operator sees it.
 */
function toToolError(error: unknown): ToolError {
  const failure = asFailure(error)
  const stack = error instanceof Error && error.stack !== undefined ? { stacktrace: error.stack } : {}
  if (failure === undefined)
    return {
      kind: 'TOOL_RUNTIME_FATAL',
      message: 'The tool has failed.',
      canRetry: false,
      developerMessage:
        error instanceof Error ? `${error.name}: ${error.message}` : `It has thrown ${typeof error}.`,
      ...stack,
    }
  const { message, kind, options } = failure
  const { statusCode, developerMessage, retryAfterMs, additionalPromptContent } = options
  return {
    kind: kind !== 'upstream' ? KINDS[kind] : upstreamKind(statusCode ?? 0),
    message,
    canRetry: kind === 'retry' || (kind === 'upstream' && statusCode === 429),
    ...(developerMessage !== undefined && { developerMessage: developerMessage }),
    ...(additionalPromptContent !== undefined && { additionalPromptContent: additionalPromptContent }),
    ...(retryAfterMs !== undefined && { retryAfterMs: retryAfterMs }),
    ...(statusCode !== undefined && { statusCode: statusCode }),
    ...stack,
  }
}

/** Recognises the classes by shape, because an author's module may use another copy of this package. */
function asFailure(
  error: unknown,
): (Pick<ToolFailure, 'message' | 'kind'> & { options: ToolFailureOptions }) | undefined {
  if (error instanceof ToolFailure) return error
  const isLike =
    error instanceof Error && 'kind' in error && 'options' in error && FAILURES.includes(error.name)
  return isLike ? (error as ToolFailure) : undefined // checked by shape above
}

const FAILURES = ['ToolFailure', 'RetryableToolError', 'UpstreamError', 'FatalToolError']

function failed(error: ToolError, logs: readonly ToolLog[]): ToolAnswer {
  return { outcome: 'error', error, logs }
}

function timedOut(logs: readonly ToolLog[]): ToolAnswer {
  const error: ToolError = {
    kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT',
    message: 'The tool did not answer in time.',
    canRetry: false,
  }
  return ownError(error, [...logs])
}
