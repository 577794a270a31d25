/** How a run of code can fail: a closed list that callers switch on. */
export const CODE_ERROR_KINDS = [
  'code_error',
  'timeout',
  'memory_limit',
  'tool_call_limit',
  'chain_step_limit',
  'output_limit',
  'sandbox_violation',
  'cancelled',
  'replay_diverged',
] as const

export type CodeErrorKind = (typeof CODE_ERROR_KINDS)[number]

export interface CodeError {
  readonly kind: CodeErrorKind
  readonly message: string
  /** The position in the code where it was thrown, counted from 1; absent where it is not known. */
  readonly line?: number
  readonly column?: number
}

/** Why a tool call failed, as the code can catch it. */
export interface CallError {
  /** An error kind of a tool, or the error code of a refusal by the broker. */
  readonly kind: string
  readonly message: string
  /** Whether the same call may be repeated without doing anything twice. */
  readonly canRetry: boolean
}

/** The limit for a message that the code chose. */
export const MAX_MESSAGE_CHARACTERS = 2_000

export const timedOut = (timeoutMs: number): CodeError => ({
  kind: 'timeout',
  message: `The code ran for longer than its ${timeoutMs} ms (limits.timeout_ms).`,
})

export const outOfMemory = (memoryMb: number): CodeError => ({
  kind: 'memory_limit',
  message: `The code used more than its ${memoryMb} MB of memory (limits.memory_mb).`,
})

export const tooManyCalls = (toolCalls: number): CodeError => ({
  kind: 'tool_call_limit',
  message: `The code made more than its ${toolCalls} tool calls (limits.tool_calls; each step of a chain counts).`,
})
