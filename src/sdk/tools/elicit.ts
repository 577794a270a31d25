import type { ElicitResult, JsonSchema } from './content.ts'
import { elicitationForm } from './elicitation-form.ts'
import { jsonSchemaOf, parseValue, type TypedSchema, type ValueOf } from './schema.ts'

/** A form for the user. */
export interface Form {
  readonly message: string
  /** A flat object (elicitation-form.ts). */
  readonly schema: JsonSchema
  /** Whether what the user sent fits the schema. */
  accepts(content: unknown): Promise<boolean>
  readonly timeoutMs?: number
  /** Names the answer, where it is sent with the call again. */
  readonly key?: string
}

export interface ElicitOptions {
  /** For clients that answer while the handler waits, in milliseconds. */
  readonly timeout?: number
  /** Names the answer: give one to each form where the handler does not always ask in the same order. */
  readonly key?: string
}

/** Shows the user a form and parses what they sent. Throws `TypeError` for a schema that forms do not know. */
export async function elicit<Schema extends TypedSchema>(
  ask: (form: Form) => Promise<ElicitResult<unknown>>,
  message: string,
  schema: Schema,
  { timeout, key }: ElicitOptions = {},
): Promise<ElicitResult<ValueOf<Schema>>> {
  const { action, content } = await ask({
    message,
    schema: elicitationForm(jsonSchemaOf(schema, 'input')),
    accepts: async (sent) => (await parseValue(schema, sent)).outcome === 'accepted',
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(key !== undefined && { key }),
  })
  if (action !== 'accept') return { action }
  const parsed = await parseValue(schema, content)
  if (parsed.outcome === 'refused') throw new Error(`The answer does not fit the form: ${parsed.reason}`)
  return { action, content: parsed.value as ValueOf<Schema> } // parsed by that schema
}
