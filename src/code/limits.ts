/** What one run of code may use. */
export interface CodeLimits {
  /** From its first statement on, the tools it waits for included. */
  readonly timeoutMs: number
  /** Everything the code holds: values, functions, what tools answered. */
  readonly memoryMb: number
  /** Tools called, each step of a chain counted. */
  readonly toolCalls: number
  /** Steps of one chain. */
  readonly chainSteps: number
}

/** Where a run says nothing. */
export const DEFAULT_LIMITS: CodeLimits = {
  timeoutMs: 30_000,
  memoryMb: 64,
  toolCalls: 100,
  chainSteps: 100,
}

/** What a run may ask for; 0 asks for these. */
export const MAX_LIMITS: CodeLimits = {
  timeoutMs: 120_000,
  memoryMb: 256,
  toolCalls: 10_000,
  chainSteps: 1_000,
}

// What is the same for every run. Characters are UTF-16 code units.

export const MAX_CODE_CHARACTERS = 256 * 1024
/** Of standard output and of standard error each; what is printed beyond is cut off. */
export const MAX_OUTPUT_BYTES = 256 * 1024
/** The `value`, as JSON. */
export const MAX_VALUE_CHARACTERS = 1024 * 1024
/** The arguments of one call, as JSON. */
export const MAX_ARGUMENT_CHARACTERS = 256 * 1024
/** What one call answers, as JSON. */
export const MAX_ANSWER_CHARACTERS = 4 * 1024 * 1024
/** Arguments and answers of all calls together that `toolCalls` repeats, as JSON; later ones are left out. */
export const MAX_TRACE_CHARACTERS = 2 * 1024 * 1024
/** How deep JSON may nest that leaves the sandbox, as deep as a request to the API may. */
export const MAX_DEPTH = 64
/** Calls of one run that are under way at a time; more wait their turn inside the sandbox. */
export const CALLS_AT_ONCE = 8
