import type { OutgoingResponse } from '../../egress/outgoing.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { FilePlace, ToolAnswer } from '../tool-answer.ts'
import { badOutputError, type ToolError } from '../tool-error.ts'
import { upstreamKind } from '../upstream-status.ts'
import { retryAfterMs } from '../worker-request.ts'
import type { AnswerPlan } from './answers/answer-plan.ts'
import { apiFailure, isFailure } from './answers/api-failure.ts'
import { fileAnswer, withFileMember } from './answers/file-answer.ts'
import { shapeAnswer } from './answers/shape-answer.ts'
import { isJsonType } from './read-parameters.ts'

/** The answer of an API to one request. */
export interface ApiAnswer {
  readonly response: OutgoingResponse
  /** Whether the request may be repeated (RFC 9110 section 9.2.1). */
  readonly isSafe: boolean
  /** Absent: the whole answer is the value of the tool. */
  readonly plan?: AnswerPlan | undefined
  readonly input?: Readonly<Record<string, unknown>> | undefined
  /** Where a file of the answer is stored; given where the plan has one. */
  readonly place?: FilePlace | undefined
}

/** Reads an API's answer as its plan says. */
export function readApiAnswer({ response, isSafe, plan, input = {}, place }: ApiAnswer): ToolAnswer {
  if (plan === undefined) return readResponse(response, isSafe)
  const { status, headers, body } = response
  const { errors = {} } = plan
  if (status < 200 || status > 299) {
    const described = jsonOf(body, headers['content-type'] ?? '')
    const guessed = described === undefined ? plainSentence(body, headers) : sentenceOf(described)
    return failed(apiFailure(errors, { status, isSafe, value: described, headers, input }, guessed))
  }
  const { file } = plan
  if (file !== undefined && file.at === undefined && place !== undefined && body.length > 0)
    return fileAnswer(file, body, { value: undefined, headers, input, place })
  const read = readResponse(response, isSafe)
  if (read.outcome !== 'value') return read
  const answered = { value: read.value, headers, input }
  if (isFailure(errors, answered))
    return failed(apiFailure(errors, { ...answered, status, isSafe }, sentenceOf(read.value)))
  if (file?.at === undefined || place === undefined) return { ...read, value: shapeAnswer(plan, answered) }
  const filed = withFileMember({ ...file, at: file.at }, { ...answered, place })
  if ('outcome' in filed) return filed
  const { value, unstored } = filed
  return { ...read, value: shapeAnswer(plan, { ...answered, value }), ...(unstored && { unstored }) }
}

/**
 * Reads an API's answer: JSON is parsed, text is kept, an empty body becomes `null`. Other content is refused,
 * because a tool's value is JSON. A status other than 2xx becomes an error with the API's own message, which
 * `boundedAnswer` shortens.
 */
export function readResponse(response: OutgoingResponse, isSafe: boolean): ToolAnswer {
  const { status, headers, body } = response
  if (status < 200 || status > 299) return failed(errorOf(response, isSafe))
  if (body.length === 0) return { outcome: 'value', value: null, logs: [] }
  const contentType = headers['content-type'] ?? ''
  const isJson = isJsonType(contentType)
  const text = isJson ? decode(body, 'utf-8') : textOf(body, contentType)
  if (text === undefined && isJson) return failed(badOutputError(NOT_JSON))
  if (text === undefined)
    return failed(
      badOutputError(
        `The API answered with ${contentType || 'content that is not text'}; only JSON and text are supported.`,
      ),
    )
  if (!isJson && contentType !== '') return { outcome: 'value', value: text, logs: [] }
  try {
    return { outcome: 'value', value: JSON.parse(text), logs: [] }
  } catch {
    if (contentType === '') return { outcome: 'value', value: text, logs: [] }
    return failed(badOutputError(NOT_JSON)) // the parser's message would quote the answer
  }
}

const NOT_JSON = 'The API answered with a body that is not JSON, although its content type says so.'

/**
 * Decodes text in the charset of its media type (RFC 9110 section 8.3.2), else UTF-8; `undefined` if it is not text.
 */
function textOf(body: Uint8Array, contentType: string): string | undefined {
  const isText =
    contentType === '' ||
    /^(text\/|application\/([\w.-]+\+)?(xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|jsonl|csv|graphql|[\w.-]+\.(?:diff|patch)))/i.test(
      contentType,
    )
  return isText ? decode(body, /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8') : undefined
}

function decode(body: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body)
  } catch {
    return undefined // an unknown charset, or bytes that are invalid in it
  }
}

function errorOf({ status, headers, body }: OutgoingResponse, isSafe: boolean): ToolError {
  // GitHub and others answer 403 with Retry-After when a rate limit is exceeded
  const isLimited = status === 429 || (status === 403 && headers['retry-after'] !== undefined)
  const canRetry = isLimited || status === 503 || (isSafe && status >= 500)
  const wait = canRetry ? retryAfterMs(headers['retry-after']) : undefined
  const message = messageOf(body, headers['content-type'] ?? '')
  return {
    kind: isLimited ? 'UPSTREAM_RUNTIME_RATE_LIMIT' : upstreamKind(status),
    message: `The API answered ${status}${message === undefined ? '.' : `: ${message}`}`,
    canRetry,
    statusCode: status,
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
}

/** The message in a JSON error: `message`, RFC 9457's `detail`, RFC 6749's `error_description` and similar members. */
function messageOf(body: Uint8Array, contentType: string): string | undefined {
  return sentenceOf(jsonOf(body, contentType))
}

function jsonOf(body: Uint8Array, contentType: string): unknown {
  if (!isJsonType(contentType)) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return undefined
  }
}

function sentenceOf(described: unknown): string | undefined {
  const plain = sentenceIn(described, 0)
    ?.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return plain === '' ? undefined : plain
}

/** The error of an API that answers with plain text. A page of HTML says nothing to a caller. */
function plainSentence(body: Uint8Array, headers: Readonly<Record<string, string>>): string | undefined {
  if (!/^text\/plain/i.test(headers['content-type'] ?? '')) return undefined
  return sentenceOf(new TextDecoder().decode(body))
}

const SENTENCES = [
  'message',
  'detail',
  'error_description',
  'error',
  'errors',
  'title',
  'description',
  'reason',
]

function sentenceIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value
  if (depth > 3) return undefined
  if (Array.isArray(value)) return sentenceIn(value[0], depth + 1)
  if (!isRecord(value)) return undefined
  for (const name of SENTENCES) {
    const sentence = value[name] === undefined ? undefined : sentenceIn(value[name], depth + 1)
    if (sentence !== undefined && sentence !== '') return sentence
  }
  return undefined
}

function failed(error: ToolError): ToolAnswer {
  return { outcome: 'error', error, logs: [] }
}
