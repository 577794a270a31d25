import { type AnswerJob, finishAnswer } from '../../tools/finish-answer.ts'
import { type PackedAnswer, packAnswer } from '../../tools/packed-answer.ts'
import { type OxpAnswer, readOxpAnswer } from './backend-answer.ts'

/** Reads an answer in a thread (thread-pool.ts). */
export function run(job: AnswerJob<OxpAnswer>, transfer: ArrayBuffer[]): PackedAnswer {
  return packAnswer(finishAnswer(job, readOxpAnswer), transfer)
}
