import { isRecord } from '../parsing/json-record.ts'
import { valueAtReference } from '../sdk/worker/json-pointer.ts'

const MAX_DEPTH = 6
const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
}

/** An example that fits the schema in most cases: the required members, with the author's own examples and defaults. */
export function exampleInput(schema: unknown): unknown {
  return exampleOf(schema, schema, 0)
}

function exampleOf(schema: unknown, root: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null
  const { $ref, examples, anyOf, oneOf, allOf } = schema
  if (typeof $ref === 'string') return exampleOf(valueAtReference(root, $ref), root, depth + 1)
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if ('default' in schema) return schema.default
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const parts = [anyOf, oneOf, allOf].find((schemas) => Array.isArray(schemas) && schemas.length > 0)
  if (Array.isArray(parts)) return exampleOf(parts[0], root, depth + 1)
  return ofType(schema, root, depth)
}

function ofType(schema: Readonly<Record<string, unknown>>, root: unknown, depth: number): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  switch (type) {
    case 'object': {
      const properties = isRecord(schema.properties) ? schema.properties : {}
      const required = Array.isArray(schema.required) ? schema.required.map(String) : []
      return Object.fromEntries(required.map((name) => [name, exampleOf(properties[name], root, depth + 1)]))
    }
    case 'array': {
      const count = Math.min(numberOf(schema.minItems) ?? 1, 3)
      return Array.from({ length: count }, () => exampleOf(schema.items, root, depth + 1))
    }
    case 'string': {
      const text = FORMATS[String(schema.format)] ?? 'text'
      return text.padEnd(numberOf(schema.minLength) ?? 0, '.').slice(0, numberOf(schema.maxLength))
    }
    case 'integer':
    case 'number':
      return numberOf(schema.minimum) ?? Math.min(1, numberOf(schema.maximum) ?? 1)
    case 'boolean':
      return true
    default:
      return null
  }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}
