import { type AnswerFormat, answerTask } from '../../tools/finish-answer.ts'
import { type OxpAnswer, readOxpAnswer } from './backend-answer.ts'

export const oxpAnswers: AnswerFormat<OxpAnswer> = { read: readOxpAnswer }

export const run = answerTask(oxpAnswers)
