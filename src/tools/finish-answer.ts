import type { OutgoingResponse } from '../egress/outgoing.ts'
import { isRecord } from '../parsing/json-record.ts'
import { readWorkerAnswer } from './arcade/read-worker-answer.ts'
import { type CheckedTool, withCheckedValue } from './check-output.ts'
import { readMcpResult } from './mcp/read-mcp-result.ts'
import { readResponse } from './openapi/read-response.ts'
import { scrubParsed } from './scrub/scrub.ts'
import { ownError, type ToolAnswer, type ToolLog } from './tool-answer.ts'
import { badOutputError, type ToolError } from './tool-error.ts'
import { WorkerFault } from './worker-fault.ts'
import { jsonOf } from './worker-request.ts'

// Parses, scrubs, shortens and checks an answer before other code sees it. It is one function without side effects,
// because it runs on the event loop for small answers and in a thread for large ones (read-answer.ts).

/** The answer of a worker before it is parsed. A kind of worker of a feature has a type of its own (`AnswerReader`). */
export type RawAnswer =
  /** Arcade's worker protocol. */
  | { readonly protocol: 'http'; readonly response: OutgoingResponse }
  | { readonly protocol: 'openapi'; readonly response: OutgoingResponse; readonly isSafe: boolean }
  /** The JSON of a CallToolResult. */
  | { readonly protocol: 'mcp'; readonly bytes: Uint8Array }
  /** The JSON of a value. */
  | { readonly protocol: 'module'; readonly bytes: Uint8Array; readonly logs: readonly ToolLog[] }

export interface AnswerJob<Raw = RawAnswer> {
  readonly raw: Raw
  /** Removed from the answer. */
  readonly secrets: readonly string[]
  /** The tool whose output schema the value must fit. Absent: the value is not checked here. */
  readonly tool?: CheckedTool | undefined
}

/** Returns the answer in its final form. An answer that breaks the worker's protocol becomes an error. */
export function finishAnswer<Raw extends object>(
  { raw, secrets, tool }: AnswerJob<Raw>,
  read: (raw: Raw) => ToolAnswer,
): ToolAnswer {
  const clean = scrubParsed(
    withoutFault(() => read(raw)),
    secrets,
  ) as ToolAnswer // `scrubParsed` keeps the shape
  const isOfApi = 'protocol' in raw && raw.protocol === 'openapi'
  const answer = boundedAnswer(clean, isOfApi ? MAX_API_MESSAGE : MAX_MESSAGE)
  return tool === undefined ? answer : withCheckedValue(tool, answer)
}

/** Parses an answer of a kind of worker of the core. Throws `WorkerFault`. */
export function readRawAnswer(raw: RawAnswer): ToolAnswer {
  switch (raw.protocol) {
    case 'http':
      return readWorkerAnswer(jsonOf(raw.response))
    case 'openapi':
      return readResponse(raw.response, raw.isSafe)
    case 'mcp': {
      const result: unknown = JSON.parse(new TextDecoder().decode(raw.bytes))
      if (isRecord(result)) return { ...readMcpResult(result), logs: [] }
      return ownError(badOutputError('The result is not an object.'))
    }
    case 'module':
      return {
        outcome: 'value',
        value: JSON.parse(new TextDecoder().decode(raw.bytes)),
        logs: [...raw.logs], // a copy, because the module may add logs after the scrubbing
      }
  }
}

function withoutFault(read: () => ToolAnswer): ToolAnswer {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return ownError(error.error)
  }
}

/** In characters. */
const MAX_MESSAGE = 10_000
/** In characters, for messages of APIs, whose errors may be long pages. */
const MAX_API_MESSAGE = 500
/** In characters, also for `additionalPromptContent`. */
const MAX_STACKTRACE = 50_000
const MAX_SCOPES = 500

/**
 * Shortens the texts of an error and the scopes that a worker requests. This happens after secrets were removed, because a
 * shortened text may hold the beginning of a secret, which would not be found.
 */
export function boundedAnswer(answer: ToolAnswer, longest = MAX_MESSAGE): ToolAnswer {
  if (answer.outcome === 'error') return { ...answer, error: boundedError(answer.error, longest) }
  if (answer.outcome !== 'authorization_requested') return answer
  const { requested } = answer
  const scopes = requested.scopes?.slice(0, MAX_SCOPES).map((scope) => scope.slice(0, MAX_MESSAGE))
  return { ...answer, requested: { ...requested, ...(scopes && { scopes }) } }
}

function boundedError(error: ToolError, longest: number): ToolError {
  const cut = (member: 'developerMessage' | 'additionalPromptContent' | 'stacktrace', most: number) => {
    const text = error[member]
    return text === undefined ? {} : { [member]: text.slice(0, most) }
  }
  return {
    ...error,
    message: error.message.slice(0, longest),
    ...cut('developerMessage', MAX_MESSAGE),
    ...cut('additionalPromptContent', MAX_STACKTRACE),
    ...cut('stacktrace', MAX_STACKTRACE),
  }
}
