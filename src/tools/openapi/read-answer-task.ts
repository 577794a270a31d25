import type { OutgoingResponse } from '../../egress/outgoing.ts'
import { type AnswerFormat, answerTask } from '../finish-answer.ts'
import { readResponse } from './read-response.ts'

export const apiAnswers: AnswerFormat<{ readonly response: OutgoingResponse; readonly isSafe: boolean }> = {
  read: ({ response, isSafe }) => readResponse(response, isSafe),
  maxMessage: 500, // errors of APIs may be long pages
}

export const run = answerTask(apiAnswers)
