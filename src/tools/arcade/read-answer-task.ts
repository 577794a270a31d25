import type { OutgoingResponse } from '../../egress/outgoing.ts'
import { type AnswerFormat, answerTask } from '../finish-answer.ts'
import { jsonOf } from '../worker-request.ts'
import { readWorkerAnswer } from './read-worker-answer.ts'

export const arcadeAnswers: AnswerFormat<{ readonly response: OutgoingResponse }> = {
  read: ({ response }) => readWorkerAnswer(jsonOf(response)),
}

export const run = answerTask(arcadeAnswers)
