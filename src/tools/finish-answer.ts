import { type CheckedTool, withCheckedValue } from './check-output.ts'
import { type PackedAnswer, packAnswer } from './packed-answer.ts'
import { scrubParsed } from './scrub/scrub.ts'
import { ownError, type ToolAnswer } from './tool-answer.ts'
import type { ToolError } from './tool-error.ts'
import { WorkerFault } from './worker-fault.ts'

// Parses, scrubs, shortens and checks an answer before other code sees it. It is one function without side effects,
// because it runs on the event loop for small answers and in a thread for large ones (read-answer.ts).

/** How the answers of a protocol are read. */
export interface AnswerFormat<Raw> {
  /** Loads what `read` needs for this answer. */
  readonly prepare?: (raw: Raw) => Promise<void> | undefined
  /** Throws `WorkerFault`. */
  readonly read: (raw: Raw) => ToolAnswer
  /** In bytes: a larger answer is read in a thread. Default: `LARGE_BYTES`. */
  readonly maxOnEventLoop?: (raw: Raw) => number
  /** Shortens the value of an answer from which secrets were removed. */
  readonly shorten?: (value: unknown, raw: Raw) => unknown
  /** The longest message of an error, in characters. Default: 10,000. */
  readonly maxMessage?: number
}

export interface AnswerJob<Raw> {
  /** The answer before it is parsed. */
  readonly raw: Raw
  /** Removed from the answer. */
  readonly secrets: readonly string[]
  /** The tool whose output schema the value must fit. Absent: the value is not checked here. */
  readonly tool?: CheckedTool | undefined
}

/**
 * Returns the answer in its final form, after the format's `prepare`. An answer that breaks the worker's protocol becomes an
 * error.
 */
export function finishAnswer<Raw>(
  { raw, secrets, tool }: AnswerJob<Raw>,
  { read, shorten, maxMessage }: AnswerFormat<Raw>,
): ToolAnswer {
  const clean = scrubParsed(
    withoutFault(() => read(raw)),
    secrets,
  ) as ToolAnswer // `scrubParsed` keeps the shape
  const short =
    shorten !== undefined && clean.outcome === 'value'
      ? { ...clean, value: shorten(clean.value, raw) }
      : clean
  const answer = boundedAnswer(short, maxMessage)
  return tool === undefined ? answer : withCheckedValue(tool, answer)
}

/** Makes the function `run` of the module that reads answers of this format in a thread (thread-pool.ts). */
export function answerTask<Raw>(format: AnswerFormat<Raw>) {
  return async (job: AnswerJob<Raw>, transfer: ArrayBuffer[]): Promise<PackedAnswer> => {
    await format.prepare?.(job.raw)
    return packAnswer(finishAnswer(job, format), transfer)
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
