import { type AnswerFormat, answerTask } from '../finish-answer.ts'
import { prepareConversions } from './answers/convert-answer.ts'
import { shortenTexts } from './answers/shape-answer.ts'
import { type ApiAnswer, readApiAnswer } from './read-response.ts'

export const apiAnswers: AnswerFormat<ApiAnswer> = {
  prepare: ({ plan }) => plan?.convert && prepareConversions(Object.values(plan.convert)),
  read: readApiAnswer,
  shorten: (value, { plan, input = {} }) =>
    plan?.longTexts === undefined ? value : shortenTexts(plan.longTexts, value, input),
  maxMessage: 500, // errors of APIs may be long pages
}

export const run = answerTask(apiAnswers)
