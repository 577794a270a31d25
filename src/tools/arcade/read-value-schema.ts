import type { JsonSchema } from '../../domain/tool.ts'
import type { JsonRecord } from '../../parsing/json-record.ts'
import { VALUE_TYPES } from '../../sdk/worker/value-schema.ts'
import type { JsonType } from '../../sdk/worker/value-shape.ts'
import { asText, isAbsent, list, record, text } from '../read-json.ts'

const JSON_TYPES: readonly JsonType[] = ['array', 'boolean', 'null', 'number', 'object', 'string']

export interface ValueReading {
  /**
   * Accept any value for a parameter of type `string` without further keywords: arcade-mcp-ts writes that for every
   * type it cannot express, such as a record or a union, and only the worker knows what fits.
   */
  readonly isLoose?: boolean
}

/**
 * Converts `value_schema` to JSON Schema without adding constraints: `json` without properties and unknown types
 * accept anything.
 */
export function readValueSchema(value: unknown, path: string, reading: ValueReading = {}): JsonSchema {
  if (isAbsent(value)) return {}
  const schema = record(value, path)
  const nullable = schema.nullable === true
  const description = text(schema.description, `${path}.description`)
  return { ...typeOf(schema, nullable, path, reading), ...(description !== undefined && { description }) }
}

function typeOf(schema: JsonRecord, nullable: boolean, path: string, reading: ValueReading): JsonSchema {
  const type = (name: JsonType) => ({ type: nullable ? [name, 'null'] : name })
  const val_type = VALUE_TYPES.find((known) => known === schema.val_type)
  switch (val_type) {
    case 'string':
    case 'integer':
    case 'number': {
      const listed = list(schema.enum, `${path}.enum`)
      const values = val_type === 'string' ? listed : listed.map((value) => Number(asText(value)))
      const isUsable =
        values.length > 0 && values.every((value) => typeof value === 'string' || Number.isFinite(value))
      if (reading.isLoose === true && val_type === 'string' && Object.keys(schema).length === 1) return {}
      return { ...type(val_type), ...(isUsable && { enum: nullable ? [...values, null] : values }) }
    }
    case 'boolean':
      return type('boolean')
    case 'array': {
      const items = itemsOf(schema, path, reading)
      return { ...type('array'), ...(items && { items }) }
    }
    case 'json':
    case undefined: {
      if (isAbsent(schema.properties)) return nullable ? { type: JSON_TYPES } : {}
      const members = Object.entries(record(schema.properties, `${path}.properties`))
      const required = isAbsent(schema.required_keys)
        ? undefined
        : list(schema.required_keys, `${path}.required_keys`).filter((key) => typeof key === 'string')
      return {
        ...type('object'),
        properties: Object.fromEntries(
          members.map(([key, member]) => [
            key,
            readValueSchema(member, `${path}.properties.${key}`, reading),
          ]),
        ),
        ...(required && { required: [...new Set(required)] }),
      }
    }
  }
}

/** The item schema: `items` if the worker writes it, else built from the `inner_…` members and `enum`. */
function itemsOf(schema: JsonRecord, path: string, reading: ValueReading): JsonSchema | undefined {
  const { items, inner_val_type, inner_properties, inner_required_keys } = schema
  if (!isAbsent(items)) return readValueSchema(items, `${path}.items`, reading)
  if (isAbsent(inner_val_type)) return undefined
  const members = { properties: inner_properties, required_keys: inner_required_keys, enum: schema.enum }
  const inner = Object.fromEntries(Object.entries(members).filter(([, member]) => !isAbsent(member)))
  return readValueSchema({ val_type: inner_val_type, ...inner }, path, reading)
}
