import { sha256 } from '../../domain/ids.ts'
import { jsonText, LargeJson } from '../../tools/large-json.ts'
import type { Ran } from './call-trace.ts'
import type { CallError } from './code-error.ts'
import { MAX_KEPT_CHARACTERS } from './limits.ts'
import type { AnswerOrder, SandboxRequest } from './sandbox.ts'

// The requests of one run of code and what they led to. Code whose requests get the same answers in the same order, with
// the same random numbers and time, takes the same path, so a run that begins again from its journal reaches the call at
// which it was paused without making a call twice.

/** A tool call that has ended, as the code and the trace learn it. */
export type EndedCall = {
  /** The tool's id; of an unknown tool, the id that the code used. */
  readonly toolId: string
  /** Absent if no tool was run. */
  readonly ran?: Ran | undefined
} & (
  | {
      readonly outcome: 'value'
      /** For the trace. */
      readonly structured: unknown
      /** The answer to the code: with the media of an MCP result. */
      readonly value: unknown
    }
  | { readonly outcome: 'error'; readonly error: CallError }
)

export interface JournalRequest {
  /** As the sandbox counts its requests. */
  readonly id: number
  /** SHA-256 of what the code asked for. */
  readonly digest: string
  /** The calls that have ended: one, or the finished steps of a chain. */
  readonly calls: readonly EndedCall[]
  /** The list of tools. */
  readonly list?: unknown
}

export interface JournalEntries {
  /** In the order in which the code made them. */
  readonly requests: readonly JournalRequest[]
  /** The ids of the answered requests, in the order in which the code got the answers. */
  readonly answered: readonly number[]
}

export interface Journal extends AnswerOrder {
  /** Notes a request before it is served; `false` if the earlier run made another one in its place. */
  begin(request: SandboxRequest): boolean
  /** The end of the call (of a chain: of the step) in the earlier run. */
  endOf(requestId: number, step: number): EndedCall | undefined
  listOf(requestId: number): unknown
  /** Resolves when the code has caught up with the earlier run: before that nothing new may be run. */
  caughtUp(): Promise<void>
  readonly hasCaughtUp: boolean
  addCall(requestId: number, call: EndedCall): void
  addList(requestId: number, list: unknown): void
  /** Counts the request as answered although the run ends before the code gets the answer. */
  addAnswer(requestId: number): void
  /** `undefined` if it is too large to be kept. */
  entries(): JournalEntries | undefined
}

const NOTHING: JournalEntries = { requests: [], answered: [] }
/** For the members of an entry beside the values. */
const ENTRY_CHARACTERS = 200

/** @param earlier the journal of the run that is resumed. */
export function createJournal(earlier: JournalEntries = NOTHING): Journal {
  type Entry = { readonly digest: string; readonly calls: EndedCall[]; list?: unknown }
  const requests = new Map<number, Entry>(
    earlier.requests.map(({ id, calls, ...request }) => [id, { ...request, calls: [...calls] }]),
  )
  const expected = new Set(requests.keys())
  const answered: number[] = []
  /** Answers that wait until those before them were sent. */
  const waiting = new Map<number, () => void>()
  const { promise: caughtUp, resolve: catchUp } = Promise.withResolvers<void>()
  let room = MAX_KEPT_CHARACTERS
  for (const { calls, list } of earlier.requests)
    take(calls.reduce((sum, call) => sum + sizeOf(call), ENTRY_CHARACTERS + lengthOf(list)))

  const hasCaughtUp = () => expected.size === 0 && answered.length >= earlier.answered.length
  const nextAnswer = () => earlier.answered[answered.length]

  function take(characters: number): void {
    room -= characters
    if (room < 0) requests.clear() // it is not kept, and its values may be large
  }

  function release(): void {
    if (hasCaughtUp()) catchUp()
    const next = nextAnswer()
    for (const id of next === undefined ? [...waiting.keys()] : [next]) {
      waiting.get(id)?.()
      waiting.delete(id)
    }
  }

  release()
  return {
    begin({ id, what, text }) {
      const digest = sha256(`${what} ${text}`)
      const known = requests.get(id)
      if (!hasCaughtUp() && known?.digest !== digest) return false
      if (known === undefined && room >= 0) {
        take(ENTRY_CHARACTERS)
        requests.set(id, { digest, calls: [] })
      }
      expected.delete(id)
      release()
      return true
    },
    endOf: (requestId, step) => requests.get(requestId)?.calls[step],
    listOf: (requestId) => requests.get(requestId)?.list,
    caughtUp: () => caughtUp,
    get hasCaughtUp() {
      return hasCaughtUp()
    },
    addCall(requestId, call) {
      if (room >= 0) take(sizeOf(call))
      requests.get(requestId)?.calls.push(call)
    },
    addList(requestId, list) {
      if (room >= 0) take(lengthOf(list))
      const entry = requests.get(requestId)
      if (entry !== undefined) entry.list = list
    },
    addAnswer(requestId) {
      answered.push(requestId)
    },
    turn(requestId) {
      const next = nextAnswer()
      if (next === undefined || next === requestId) return undefined
      return new Promise((resolve) => waiting.set(requestId, resolve))
    },
    sent(requestId) {
      answered.push(requestId)
      release()
    },
    isStuck: (handled) => handled === answered.length && !hasCaughtUp(),
    entries() {
      if (room < 0) return undefined
      return { requests: [...requests].map(([id, entry]) => ({ id, ...entry })), answered }
    },
  }
}

function sizeOf(call: EndedCall): number {
  if (call.outcome === 'error') return ENTRY_CHARACTERS + call.error.message.length
  const { structured, value } = call
  return ENTRY_CHARACTERS + lengthOf(structured) + (value === structured ? 0 : lengthOf(value))
}

/** In characters of JSON; of large values, in bytes. */
function lengthOf(value: unknown): number {
  return value instanceof LargeJson ? value.bytes.length : jsonText(value).length
}
