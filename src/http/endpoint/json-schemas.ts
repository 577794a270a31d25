import { z } from '@hono/zod-openapi'

// Schemas for what only a tool, a provider or a caller knows the form of. They are named in the OpenAPI document, so that
// generated types name them too.

/** The same in the parts of the document that no schema of zod generates. */
export const JSON_VALUE = { $ref: '#/components/schemas/JsonValue' } as const

/** Any JSON value. `unknown` accepts it unchanged; the document says what it may hold. */
export const jsonValue = z.unknown().openapi('JsonValue', {
  description: 'Any JSON value: its form is that of a tool, a provider or a caller',
  type: ['null', 'boolean', 'number', 'string', 'array', 'object'],
  items: JSON_VALUE,
  additionalProperties: JSON_VALUE,
})

/** An object with any members. */
export const jsonObject = z.record(z.string(), jsonValue).openapi('JsonObject', {
  description: 'An object whose members a tool, a provider or a caller chooses',
})

export const jsonSchema = z.record(z.string(), jsonValue).openapi('JsonSchema', {
  description: 'A JSON Schema, 2020-12 or draft-07 by its `$schema`',
})
