import type { CheckedTool } from '../check-output.ts'
import { finishAnswer } from '../finish-answer.ts'
import { type PackedAnswer, packAnswer } from '../packed-answer.ts'
import { isRecord, type JsonRecord } from '../read-json.ts'
import { scrub } from '../scrub.ts'

/** A message of the protocol, or the event that holds it. */
export interface LargeMessage {
  readonly bytes: Uint8Array
  readonly form: 'json' | 'event'
  /** Put into the small result, by which the large one is found again. */
  readonly mark: string
  readonly secrets: readonly string[]
  readonly tool?: CheckedTool
}

export interface ReadMessage {
  /** A small message in place of the large one, in the same form; nothing for one that is not passed on. */
  readonly bytes: Uint8Array
  readonly result?: PackedAnswer
}

export const MARK = 'gatepass/large'
/** Of what stays beside the content, in characters of JSON. */
const MAX_MEMBER = 4_000
const MAX_ERROR = 2_000

/** Runs in a thread. */
export function run(message: LargeMessage, transfer: ArrayBuffer[]): ReadMessage {
  const { bytes, form } = message
  const text = new TextDecoder().decode(bytes)
  const lines = form === 'json' ? [] : text.split(/\r\n|\r|\n/)
  const data = form === 'json' ? text : dataOf(lines)
  const { stub, result } = read(data, message, transfer)
  if (form === 'json') return packed(stub ?? '', result)
  const others = lines.filter((line) => /^(?:id|event|retry):/.test(line) && line.length < MAX_MEMBER)
  const event = [...others, ...(stub === undefined ? [] : [`data: ${stub}`]), '', '']
  return packed(event.join('\n'), result)
}

function packed(text: string, result: PackedAnswer | undefined): ReadMessage {
  return { bytes: new TextEncoder().encode(text), ...(result && { result }) }
}

function dataOf(lines: readonly string[]): string {
  return lines
    .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).replace(/^ /, '')] : []))
    .join('\n')
}

/** What is neither a result nor an error, such as a notification, says nothing that is worth its size. */
function read(
  text: string,
  { mark, secrets, tool }: LargeMessage,
  transfer: ArrayBuffer[],
): { readonly stub?: string; readonly result?: PackedAnswer } {
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch {
    return { stub: '"The message is not JSON."' } // refused by the SDK as what it is: no message
  }
  if (!isRecord(message)) return { stub: '"The message is not an object."' }
  const { jsonrpc, id, result, error } = message
  if (isRecord(error))
    return {
      stub: JSON.stringify({ jsonrpc, id, error: { code: error.code, message: wordsOf(error, secrets) } }),
    }
  if (!isRecord(result)) return {}
  const bytes = new TextEncoder().encode(JSON.stringify(result))
  const answer = finishAnswer({ raw: { protocol: 'mcp', bytes }, secrets, ...(tool && { tool }) })
  const small = { ...smallMembers(result), content: [], _meta: { [MARK]: mark } }
  return { stub: JSON.stringify({ jsonrpc, id, result: small }), result: packAnswer(answer, transfer) }
}

/** Cut only when secrets are out of it: the beginning of one would not be found. */
function wordsOf({ message }: JsonRecord, secrets: readonly string[]): string {
  return String(scrub(String(message), secrets)).slice(0, MAX_ERROR)
}

function smallMembers(result: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(result).filter(
      ([name, value]) =>
        !['content', 'structuredContent', '_meta', '__proto__'].includes(name) &&
        JSON.stringify(value).length < MAX_MEMBER,
    ),
  )
}
