import { type AnswerFormat, answerTask } from '../finish-answer.ts'
import type { ToolLog } from '../tool-answer.ts'

/** The JSON of a value that a handler returned, and what the handler has logged. */
export const moduleAnswers: AnswerFormat<{
  readonly bytes: Uint8Array
  readonly logs: readonly ToolLog[]
}> = {
  read: ({ bytes, logs }) => ({
    outcome: 'value',
    value: JSON.parse(new TextDecoder().decode(bytes)),
    logs: [...logs], // a copy, because the module may add logs after the scrubbing
  }),
}

export const run = answerTask(moduleAnswers)
