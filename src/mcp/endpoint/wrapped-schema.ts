import type { JsonRecord } from '../../parsing/json-record.ts'
import { mapSchemas } from './schema-walk.ts'

/** The schema of `{result: value}`. Local references still lead to the same places, which are now below `result`. */
export function wrappedSchema(schema: JsonRecord): JsonRecord {
  // references in a schema with an `$id` are relative to the schema, so they need no change
  const result = schema.$id === undefined ? mapSchemas(schema, moved) : schema
  return { type: 'object', properties: { result }, required: ['result'] }
}

function moved(schema: JsonRecord): JsonRecord {
  const { $ref, $dynamicRef } = schema
  if (typeof $ref !== 'string' && typeof $dynamicRef !== 'string') return schema
  return {
    ...schema,
    ...(typeof $ref === 'string' && { $ref: movedReference($ref) }),
    ...(typeof $dynamicRef === 'string' && { $dynamicRef: movedReference($dynamicRef) }),
  }
}

function movedReference(reference: string): string {
  if (reference === '#') return '#/properties/result'
  return reference.startsWith('#/') ? `#/properties/result${reference.slice(1)}` : reference
}
