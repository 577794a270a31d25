import { z } from '@hono/zod-openapi'

// Schemas of values whose form only a tool, a provider or a caller knows. They have names in the OpenAPI document, so
// that generated types have them too.

/** A reference to `jsonValue`, for the parts of the OpenAPI document that no zod schema generates. */
export const JSON_VALUE = { $ref: '#/components/schemas/JsonValue' } as const

/** Any JSON value. `z.unknown()` accepts it unchanged; the OpenAPI document lists the types. */
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
