import type { CodeError } from './code-error.ts'

// The messages between the broker's thread and the thread of the sandbox. All data from the code is JSON text.

export const LANGUAGES = ['javascript', 'typescript'] as const
export type Language = (typeof LANGUAGES)[number]

/** The data that a thread starts with. */
export interface ThreadData {
  readonly code: string
  readonly language: Language
  /** QuickJS, compiled. */
  readonly quickjs: WebAssembly.Module
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly toolCalls: number
  /** The time that the code sees, in seconds since 1970. */
  readonly now: number
  /** Of `Math.random`. */
  readonly seed: Uint8Array
  /** Whether `idle` is wanted. */
  readonly reportsIdle: boolean
  readonly stdout: SharedArrayBuffer
  readonly stderr: SharedArrayBuffer
}

export const REQUEST_KINDS = ['call', 'chain', 'list'] as const
/** What the code can request of the broker. */
export type RequestKind = (typeof REQUEST_KINDS)[number]

export type FromThread =
  /** The code begins to run. */
  | { readonly type: 'started' }
  | { readonly type: 'request'; readonly id: number; readonly what: RequestKind; readonly payload: string }
  /** The code waits, after it got that many answers. */
  | { readonly type: 'idle'; readonly answers: number }
  /** The last message. */
  | { readonly type: 'ended'; readonly ended: Ended }

export type Ended =
  /** `json`: the JSON of `{ value }`. */
  | { readonly outcome: 'value'; readonly json: string }
  | { readonly outcome: 'error'; readonly error: CodeError }

/** `answer`: JSON of `{ value }` or of `{ error }`, a `CallError`. */
export interface ToThread {
  readonly id: number
  readonly answer: string
}
