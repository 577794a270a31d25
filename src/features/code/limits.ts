/** The resources that one run of code may use. */
export interface CodeLimits {
  /** From the first statement on, including the time of tool calls. */
  readonly timeoutMs: number
  /** For all that the code holds: values, functions, results of tools. */
  readonly memoryMb: number
  /** The number of tool calls; each step of a chain counts. */
  readonly toolCalls: number
  /** The number of steps of one chain. */
  readonly chainSteps: number
}

/** For runs that give no limits. */
export const DEFAULT_LIMITS: CodeLimits = {
  timeoutMs: 30_000,
  memoryMb: 64,
  toolCalls: 100,
  chainSteps: 100,
}

/** The highest limits that a run may request. A requested 0 means the highest. */
export const MAX_LIMITS: CodeLimits = {
  timeoutMs: 120_000,
  memoryMb: 256,
  toolCalls: 10_000,
  chainSteps: 1_000,
}

// Limits of every run. Characters are UTF-16 code units.

export const MAX_CODE_CHARACTERS = 256 * 1024
/** For standard output and standard error each; further output is cut off. */
export const MAX_OUTPUT_BYTES = 256 * 1024
/** The `value`, as JSON. */
export const MAX_VALUE_CHARACTERS = 1024 * 1024
/** The arguments of one call, as JSON. */
export const MAX_ARGUMENT_CHARACTERS = 256 * 1024
/** The result of one call, as JSON. */
export const MAX_ANSWER_CHARACTERS = 4 * 1024 * 1024
/** Arguments and results of all calls together in `toolCalls`, as JSON; further ones are left out. */
export const MAX_TRACE_CHARACTERS = 2 * 1024 * 1024
/** The results of all calls together that are kept while a run waits for its user, as JSON; a longer run is not kept. */
export const MAX_KEPT_CHARACTERS = 4 * 1024 * 1024
/** How deep JSON from the sandbox may nest: as deep as a request to the API. */
export const MAX_DEPTH = 64
/** Calls of one run at a time; further calls wait in a queue inside of the sandbox. */
export const CALLS_AT_ONCE = 8
