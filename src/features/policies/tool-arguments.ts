import { SchemaFault } from '../../tools/json-schema/schema-fault.ts'
import { validateQuickly } from '../../tools/json-schema/schema-validator.ts'
import { inThread, ThreadFault, threadTask } from '../../tools/thread-pool.ts'
import { type ArgumentsToJudge, judgeArguments } from './argument-judge.ts'
import type { JudgeArguments } from './argument-verdicts.ts'

/** What the event loop does, in steps of RE2: about ten milliseconds. */
const QUICK_STEPS = 100_000

const task = threadTask<ArgumentsToJudge, readonly boolean[] | undefined>(
  './tool-arguments-task',
  import.meta.url,
)

/** Compares arguments with conditions: on the event loop what is quick, in a thread the rest. */
export const judgeToolArguments: JudgeArguments = (job, owner) => {
  if (job.conditions.length === 0) return []
  return judgeArguments(job, { maxSteps: QUICK_STEPS, validate: isValidQuickly }) ?? judgeInThread(job, owner)
}

function isValidQuickly(schema: object, value: unknown): boolean | undefined {
  try {
    const validity = validateQuickly(schema, value)
    return validity === undefined || 'isUnchecked' in validity ? undefined : validity.valid
  } catch (error) {
    if (error instanceof SchemaFault) return undefined
    throw error
  }
}

async function judgeInThread(job: ArgumentsToJudge, owner: string): Promise<readonly boolean[] | undefined> {
  try {
    return await inThread(task, job, { owner })
  } catch (error) {
    if (error instanceof ThreadFault) return undefined
    throw error
  }
}
