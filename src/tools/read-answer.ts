import type { CheckedTool } from './check-output.ts'
import { type AnswerJob, finishAnswer, type RawAnswer } from './finish-answer.ts'
import { LARGE_BYTES } from './large-json.ts'
import { type PackedAnswer, unpackAnswer } from './packed-answer.ts'
import { inThread, ThreadFault, threadTask } from './thread-pool.ts'
import { ownError, type ToolAnswer } from './tool-answer.ts'

/** What an answer is read with besides what its protocol says. */
export interface AnswerReading {
  /** What the tool was given: taken out of its answer. It may grow until the answer is read. */
  readonly secrets: readonly string[]
  readonly tool?: CheckedTool
  /** The project: large answers of several are read in turn. */
  readonly owner: string
  /** Nobody waits for it any more. */
  readonly signal?: AbortSignal
}

const task = threadTask<AnswerJob, PackedAnswer>('./read-answer-task', import.meta.url)

/**
 * Reads an answer and takes secrets out of it. A large one is read in a thread, its value is checked there too, and the
 * large parts of what comes back are `LargeJson`. `shown`: what the worker was shown besides, such as the token of the request.
 */
export async function readAnswer(
  raw: RawAnswer,
  { secrets, tool, owner, signal }: AnswerReading = { secrets: [], owner: '' },
  shown: readonly string[] = [],
): Promise<ToolAnswer> {
  const job: AnswerJob = { raw, secrets: [...secrets, ...shown] }
  const { length } = 'bytes' in raw ? raw.bytes : raw.response.body
  if (length <= LARGE_BYTES) return finishAnswer(job) // execute-tool.ts checks it
  try {
    return unpackAnswer(
      await inThread(task, { ...job, ...(tool && { tool }) }, { owner, ...(signal && { signal }) }),
    )
  } catch (error) {
    if (error instanceof ThreadFault) return unreadable(error.reason)
    throw error
  }
}

function unreadable(reason: ThreadFault['reason']): ToolAnswer {
  return ownError({
    kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
    message:
      reason === 'busy'
        ? 'The tool gave a large answer while too many others were being read.'
        : 'The tool gave an answer that takes too much to be read.',
    canRetry: false,
    developerMessage: `Reading the answer ended: ${reason}.`,
  })
}
