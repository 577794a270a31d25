import type { CodeError } from './code-error.ts'

// What the broker's thread and that of the sandbox say to each other. Everything the code made crosses as JSON text.

export const LANGUAGES = ['javascript', 'typescript'] as const
export type Language = (typeof LANGUAGES)[number]

/** What a thread begins with. */
export interface ThreadData {
  readonly code: string
  readonly language: Language
  /** QuickJS, compiled. */
  readonly quickjs: WebAssembly.Module
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly toolCalls: number
  /** The one time the code sees, in seconds since 1970. */
  readonly now: number
  readonly stdout: SharedArrayBuffer
  readonly stderr: SharedArrayBuffer
}

export const ASKS = ['call', 'chain', 'list'] as const
/** What the code may want of the broker. */
export type Ask = (typeof ASKS)[number]

export type FromThread =
  /** The code begins to run. */
  | { readonly tell: 'started' }
  | { readonly tell: 'asks'; readonly id: number; readonly what: Ask; readonly payload: string }
  /** Nothing comes after it. */
  | { readonly tell: 'ended'; readonly ended: Ended }

export type Ended =
  /** `told`: JSON of `{ value }`. */
  | { readonly outcome: 'value'; readonly told: string }
  | { readonly outcome: 'error'; readonly error: CodeError }

/** `answer`: JSON of `{ value }` or of `{ error }`, a `CallError`. */
export interface ToThread {
  readonly id: number
  readonly answer: string
}
