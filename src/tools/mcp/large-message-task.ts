import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CheckedTool } from '../check-output.ts'
import { finishAnswer } from '../finish-answer.ts'
import { type PackedAnswer, packAnswer } from '../packed-answer.ts'
import { asText } from '../read-json.ts'
import { scrub } from '../scrub/scrub.ts'
import { ownError } from '../tool-answer.ts'
import { badOutputError } from '../tool-error.ts'
import { mcpAnswers } from './read-answer-task.ts'

/** A large message of the protocol, or the server-sent event that contains it. */
export interface LargeMessage {
  readonly bytes: Uint8Array
  readonly form: 'json' | 'event'
  /** Put into the small result. `markOf` reads it to find the kept large result. */
  readonly mark: string
  /** Removed from errors. */
  readonly secrets: readonly string[]
}

export interface ReplacedMessage<Kept> {
  /** The message that replaces the large one in the same form; empty if the large one is dropped. */
  readonly bytes: Uint8Array
  readonly kept?: Kept
}

/** Makes a small result that replaces a large one, and what is kept of the large one. */
type Shrink<Kept> = (result: JsonRecord) => { readonly small: JsonRecord; readonly kept?: Kept }

/** The member of `_meta` with the mark of a replaced result. */
export const MARK = 'gatepass/large'
/** Length limit of members that are kept beside the content, in characters of JSON. */
const MAX_MEMBER = 4_000
const MAX_ERROR = 2_000
/** Limit of a message that asks the user (MCP 2026-07-28), which the SDK gets whole. */
const MAX_ASKING_BYTES = 512 * 1024

/** Replaces a large message, in a thread (thread-pool.ts). */
export function run(
  message: LargeMessage & { readonly tool?: CheckedTool },
  transfer: ArrayBuffer[],
): ReplacedMessage<PackedAnswer> {
  const { secrets, tool, mark } = message
  return replaceMessage(message, (result) => {
    const isAsking = result.resultType === 'input_required'
    if (isAsking && message.bytes.length <= MAX_ASKING_BYTES) return { small: result }
    const marked = { content: [], _meta: { [MARK]: mark } }
    if (isAsking) {
      const answer = ownError(
        badOutputError(`The tool’s question to its user has more than ${MAX_ASKING_BYTES} bytes.`),
      )
      return { small: { resultType: 'complete', ...marked }, kept: packAnswer(answer, transfer) }
    }
    const bytes = new TextEncoder().encode(JSON.stringify(result))
    const answer = finishAnswer({ raw: { bytes }, secrets, tool }, mcpAnswers)
    return { small: { ...smallMembers(result), ...marked }, kept: packAnswer(answer, transfer) }
  })
}

/** Parses the message and replaces it by a small one in the same form. `shrink` is called for a result. */
export function replaceMessage<Kept>(message: LargeMessage, shrink: Shrink<Kept>): ReplacedMessage<Kept> {
  const { bytes, form } = message
  const text = new TextDecoder().decode(bytes)
  const lines = form === 'json' ? [] : text.split(/\r\n|\r|\n/)
  const { stub, kept } = read(form === 'json' ? text : dataOf(lines), message, shrink)
  const replaced = (text: string) => ({
    bytes: new TextEncoder().encode(text),
    ...(kept !== undefined && { kept }),
  })
  if (form === 'json') return replaced(stub ?? '')
  const others = lines.filter((line) => /^(?:id|event|retry):/.test(line) && line.length < MAX_MEMBER)
  return replaced([...others, ...(stub === undefined ? [] : [`data: ${stub}`]), '', ''].join('\n'))
}

function dataOf(lines: readonly string[]): string {
  return lines
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /, '')] : []))
    .join('\n')
}

/** Drops messages that are neither results nor errors, such as notifications: no useful one is so large. */
function read<Kept>(
  text: string,
  { secrets }: LargeMessage,
  shrink: Shrink<Kept>,
): { readonly stub?: string; readonly kept?: Kept } {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return { stub: '"The message is not JSON."' } // the SDK refuses it as malformed
  }
  if (!isRecord(message)) return { stub: '"The message is not an object."' }
  const { jsonrpc, id, result, error } = message
  if (isRecord(error))
    return {
      stub: JSON.stringify({
        jsonrpc,
        id,
        error: { code: error.code, message: errorMessage(error, secrets) },
      }),
    }
  if (!isRecord(result)) return {}
  const { small, ...rest } = shrink(result)
  return { stub: JSON.stringify({ jsonrpc, id, result: small }), ...rest }
}

/** Removes secrets before cutting, because a cut secret would not be recognised. */
function errorMessage({ message }: JsonRecord, secrets: readonly string[]): string {
  return String(scrub(asText(message), secrets)).slice(0, MAX_ERROR)
}

/** The members of a result that are neither its content nor large. */
export function smallMembers(result: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(result).filter(
      ([name, value]) =>
        !['content', 'structuredContent', 'tools', '_meta', '__proto__'].includes(name) &&
        JSON.stringify(value).length < MAX_MEMBER,
    ),
  )
}
