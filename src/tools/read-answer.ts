import type { OutgoingResponse } from '../egress/outgoing.ts'
import type { CheckedTool } from './check-output.ts'
import { type AnswerFormat, type AnswerJob, finishAnswer } from './finish-answer.ts'
import { LARGE_BYTES } from './large-json.ts'
import { type PackedAnswer, unpackAnswer } from './packed-answer.ts'
import { markScrubbed } from './scrub/scrub-answer.ts'
import { inThread, ThreadFault, type ThreadTask, threadTask } from './thread-pool.ts'
import { ownError, type ToolAnswer } from './tool-answer.ts'
import type { ToolError } from './tool-error.ts'
import { CANCELLED } from './worker-request.ts'

/** Options for reading an answer that do not depend on the worker's protocol. */
export interface AnswerReading {
  /** The tokens and secrets that the tool was given, which are removed from its answer. Entries may be added until the answer is read. */
  readonly secrets: readonly string[]
  readonly tool?: CheckedTool
  /** The project. Projects take turns in the queue for large answers. */
  readonly owner: string
  /** Aborts when the call is cancelled. */
  readonly signal?: AbortSignal | undefined
}

export interface AnswerReader<Raw> {
  readonly format: AnswerFormat<Raw>
  /** Reads large answers in a thread. */
  readonly task: ThreadTask<AnswerJob<Raw>, PackedAnswer>
}

/** `path`: the module that exports `answerTask` of the format as `run`, as for `threadTask`. */
export function answerReader<Raw>(format: AnswerFormat<Raw>, path: string, base: string): AnswerReader<Raw> {
  return { format, task: threadTask(path, base) }
}

/**
 * Reads an answer and removes secrets from it. A thread reads a large answer and checks its value, and the large parts of
 * the result are `LargeJson`. `shown`: further secrets to remove, which the request has shown to the worker.
 */
export async function readAnswer<Raw extends Unread>(
  { format, task }: AnswerReader<Raw>,
  raw: Raw,
  { secrets, tool, owner, signal }: AnswerReading = { secrets: [], owner: '' },
  shown: readonly string[] = [],
): Promise<ToolAnswer> {
  const job: AnswerJob<Raw> = { raw, secrets: [...secrets, ...shown] }
  const { length } = 'bytes' in raw ? raw.bytes : raw.response.body
  if (length <= (format.maxOnEventLoop?.(raw) ?? LARGE_BYTES)) {
    await format.prepare?.(raw)
    const answer = finishAnswer(job, format) // execute-tool.ts checks the value
    markScrubbed(answer, secrets)
    return answer
  }
  try {
    return unpackAnswer(await inThread(task, { ...job, ...(tool && { tool }) }, { owner, signal }))
  } catch (error) {
    if (error instanceof ThreadFault) return ownError(unreadError(error))
    throw error
  }
}

type Unread = { readonly bytes: Uint8Array } | { readonly response: OutgoingResponse }

/** The error of a call whose large answer a thread could not read. */
export function unreadError({ reason }: ThreadFault): ToolError {
  if (reason === 'cancelled') return CANCELLED
  return {
    kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
    message:
      reason === 'busy'
        ? 'The tool gave a large answer while too many others were being read.'
        : 'The tool gave an answer that takes too much time or memory to read.',
    canRetry: false,
    developerMessage: `Reading the answer ended: ${reason}.`,
  }
}
