import type { JsonSchema } from '../domain/tool.ts'
import { type Checked, check } from './check-output.ts'
import { isQuickSchema } from './json-schema/quick-schema.ts'
import { checkSchema, validateQuickly } from './json-schema/schema-validator.ts'
import { inThread, ThreadFault, threadTask } from './thread-pool.ts'

// Checks values and schemas without blocking the event loop: a schema may take half a second to compile, and so may the
// check of a value. The event loop does what takes a few milliseconds, and a thread the rest.

export interface ValueToCheck {
  readonly schema: JsonSchema
  /** Absent: only the schema is checked. */
  readonly value?: unknown
}

const task = threadTask<ValueToCheck, Checked>('./check-value-task', import.meta.url)

/** Checks a value by an immutable schema. `owner`: the project, whose checks wait in a queue of its own. */
export async function checkValue(schema: JsonSchema, value: unknown, owner: string): Promise<Checked> {
  let isQuick = true
  const checked = check(() => {
    const validity = validateQuickly(schema, value)
    isQuick = validity !== undefined
    return validity ?? { valid: true }
  })
  return isQuick ? checked : checkInThread({ schema, value }, owner)
}

/** Checks whether a schema can be used. */
export async function checkUsable(schema: JsonSchema, owner: string): Promise<Checked> {
  if (!isQuickSchema(JSON.stringify(schema))) return checkInThread({ schema }, owner)
  return checkNow(schema)
}

/** Checks whether a schema can be used, without a thread: in a thread, or for a schema that is quick to compile. */
export function checkNow(schema: JsonSchema): Checked {
  return check(() => {
    checkSchema(schema)
    return { valid: true }
  })
}

async function checkInThread(job: ValueToCheck, owner: string): Promise<Checked> {
  try {
    return await inThread(task, job, { owner })
  } catch (error) {
    if (!(error instanceof ThreadFault)) throw error
    const message =
      error.reason === 'busy'
        ? 'cannot be checked against its schema now: too many other checks wait'
        : 'is too much to be checked against its schema'
    return { outcome: 'invalid', path: '', message }
  }
}
