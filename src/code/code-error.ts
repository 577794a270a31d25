/** How a run of code may end besides by its `return`, a closed list for callers to switch on. */
const CODE_ERROR_KINDS = [
  'code_error',
  'timeout',
  'memory_limit',
  'tool_call_limit',
  'chain_step_limit',
  'output_limit',
  'sandbox_violation',
  'cancelled',
] as const

export type CodeErrorKind = (typeof CODE_ERROR_KINDS)[number]

export interface CodeError {
  readonly kind: CodeErrorKind
  readonly message: string
  /** Where in the code it was thrown, from 1, as far as that is known. */
  readonly line?: number
  readonly column?: number
}

/** Why a tool call failed, as the code catches it. */
export interface CallError {
  /** One of a tool's error kinds, or the code of the broker's own refusal. */
  readonly kind: string
  readonly message: string
  /** Whether the same call may be made again without doing anything twice. */
  readonly canRetry: boolean
}

/** What anybody may be shown of a text that the code chose. */
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
  message: `The code calls more than its ${toolCalls} tools (limits.tool_calls; each step of a chain counts).`,
})
