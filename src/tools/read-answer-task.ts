import { type AnswerJob, finishAnswer, readRawAnswer } from './finish-answer.ts'
import { type PackedAnswer, packAnswer } from './packed-answer.ts'

/** Reads an answer in a thread (thread-pool.ts). */
export function run(job: AnswerJob, transfer: ArrayBuffer[]): PackedAnswer {
  return packAnswer(finishAnswer(job, readRawAnswer), transfer)
}
