import { type AnswerFormat, answerTask } from '../finish-answer.ts'
import { LARGE_BYTES } from '../large-json.ts'
import { boundAnswer, MAX_ANSWER } from './answers/bound-answer.ts'
import { mayReadHtml, prepareConversions } from './answers/convert-answer.ts'
import { shortenTexts } from './answers/shape-answer.ts'
import { type ApiAnswer, readApiAnswer } from './read-response.ts'

/** In bytes. Reading HTML takes up to ten times as long as parsing JSON: many small tables of 64 KiB took 80 ms. */
const LARGE_HTML = 4 * 1024

export const apiAnswers: AnswerFormat<ApiAnswer> = {
  prepare: ({ plan }) => plan?.convert && prepareConversions(Object.values(plan.convert)),
  maxOnEventLoop: ({ plan }) => (mayReadHtml(Object.values(plan?.convert ?? {})) ? LARGE_HTML : LARGE_BYTES),
  read: readApiAnswer,
  shorten: (value, { plan, input = {} }) => {
    if (plan === undefined) return value
    const { longTexts, limit = MAX_ANSWER, goesOn: mayGoOn = false } = plan
    const short = longTexts === undefined ? value : shortenTexts(longTexts, value, input)
    return boundAnswer(short, { limit, mayGoOn, input })
  },
  maxMessage: 500, // errors of APIs may be long pages
}

export const run = answerTask(apiAnswers)
