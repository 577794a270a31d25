import { SchemaFault } from '../../tools/json-schema/schema-fault.ts'
import { validate } from '../../tools/json-schema/schema-validator.ts'
import { type ArgumentsToJudge, judgeArguments } from './argument-judge.ts'

/** A few seconds of RE2. */
const MAX_STEPS = 100_000_000

/** Compares arguments with conditions in a thread (`tools/thread-pool.ts`). */
export function run(job: ArgumentsToJudge): readonly boolean[] | undefined {
  return judgeArguments(job, { maxSteps: MAX_STEPS, validate: isValid })
}

function isValid(schema: object, value: unknown): boolean | undefined {
  try {
    const validity = validate(schema, value)
    return 'isUnchecked' in validity ? undefined : validity.valid
  } catch (error) {
    if (error instanceof SchemaFault) return undefined
    throw error
  }
}
