import { z } from '@hono/zod-openapi'
import type { JsonSchema } from '../domain/tool.ts'

const made = new WeakMap<z.ZodType, JsonSchema>()

/** The JSON Schema of an operation's input or output on the wire, with the descriptions of `/openapi.json`. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  let known = made.get(schema)
  if (known === undefined) {
    // what JSON Schema cannot say is left to the check of the operation
    known = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
    made.set(schema, known)
  }
  return known
}
