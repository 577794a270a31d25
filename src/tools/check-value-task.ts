import { type Checked, check } from './check-output.ts'
import { checkNow, type ValueToCheck } from './check-value.ts'
import { validate } from './json-schema/schema-validator.ts'

/** Checks a value or a schema in a thread (thread-pool.ts). */
export function run(job: ValueToCheck): Checked {
  return 'value' in job ? check(() => validate(job.schema, job.value)) : checkNow(job.schema)
}
