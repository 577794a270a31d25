import { isRecord } from '../is-record.ts'
import type { JsonSchema } from '../tools/content.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { type JsonType, type SchemaReader, schemaReader, type ValueShape } from './value-shape.ts'

// Converts JSON Schema to Arcade's parameters; Gatepass converts in the other direction. A worker's definition that is
// converted to JSON Schema and back keeps its meaning.

export const VALUE_TYPES = ['string', 'integer', 'number', 'boolean', 'json', 'array'] as const
export type ValueType = (typeof VALUE_TYPES)[number]

/** Arcade's description of a value's type, in its wire form. */
export interface ValueSchema {
  val_type: ValueType
  /**
   * Always present for arrays, and never `array`, because Arcade's zod helper throws otherwise. For an array of arrays
   * it is `json`, and `items` has the inner schema.
   */
  inner_val_type?: ValueType
  /** For an array, the enum of its items. */
  enum?: string[]
  properties?: Record<string, ValueSchema>
  required_keys?: string[]
  inner_properties?: Record<string, ValueSchema>
  inner_required_keys?: string[]
  items?: ValueSchema
  nullable?: true
  description?: string
}

export interface Parameter {
  name: string
  value_schema: ValueSchema
  description?: string
  required: boolean
  inferrable: boolean
}

/** Gatepass's own schema keyword: `false` marks a parameter whose value a model cannot infer. Default: `true`. */
export const INFERRABLE = 'x-inferrable'

/** Converts an input schema to parameters. */
export function toParameters(inputSchema: JsonSchema): Parameter[] {
  const reader = schemaReader(inputSchema)
  const shape = reader.shapeOf(inputSchema)
  const { properties = {}, required = [] } = shape
  return Object.entries(properties).map(([name, schema]) => {
    const { description, ...value_schema } = toValue(schema, reader.within(shape))
    return withoutUndefined({
      name,
      value_schema,
      description,
      required: required.includes(name),
      inferrable: !isRecord(schema) || schema[INFERRABLE] !== false,
    })
  })
}

/** Converts as much of a schema as Arcade's types can express. The rest is left out, so the result accepts more. */
export function toValueSchema(schema: JsonSchema): ValueSchema {
  return toValue(schema, schemaReader(schema))
}

function toValue(schema: unknown, reader: SchemaReader): ValueSchema {
  const shape = reader.shapeOf(schema)
  const { types, enum: values, description } = shape
  const val_type = valueTypeOf(types)
  const nullable = types?.has('null') === true
  return {
    val_type,
    ...(val_type === 'json' && types?.has('object') && objectMembers(shape, reader.within(shape))),
    ...(val_type === 'array' && arrayMembers(shape.items, reader.within(shape))),
    ...(val_type !== 'array' && enumMember(val_type, values)),
    ...(nullable && { nullable }),
    ...(description !== undefined && { description }),
  }
}

function valueTypeOf(types: ReadonlySet<JsonType> | undefined): ValueType {
  const [first, ...others] = [...(types ?? [])].filter((type) => type !== 'null')
  if (first === undefined || first === 'object') return 'json'
  if (others.length === 0) return first
  const numbers = [first, ...others].every((type) => type === 'integer' || type === 'number')
  return numbers ? 'number' : 'json'
}

function objectMembers(
  { properties, required }: ValueShape,
  reader: SchemaReader,
): Pick<ValueSchema, 'properties' | 'required_keys'> {
  if (properties === undefined) return {}
  const members = Object.entries(properties).map(([name, schema]) => [name, toValue(schema, reader)] as const)
  return { properties: Object.fromEntries(members), ...(required && { required_keys: [...required] }) }
}

function arrayMembers(items: unknown, reader: SchemaReader): Partial<ValueSchema> {
  const inner: ValueSchema = items === undefined ? { val_type: 'json' } : toValue(items, reader)
  if (inner.val_type === 'array') return { inner_val_type: 'json', items: inner }
  const saysMore = inner.nullable !== undefined || inner.description !== undefined
  return withoutUndefined({
    inner_val_type: inner.val_type,
    enum: inner.enum,
    inner_properties: inner.properties,
    inner_required_keys: inner.required_keys,
    items: saysMore ? inner : undefined,
  })
}

/** Returns the enum as strings, as Arcade has the enums of numbers too. */
function enumMember(val_type: ValueType, values: readonly unknown[] | undefined): Pick<ValueSchema, 'enum'> {
  const wanted = val_type === 'string' ? 'string' : 'number'
  if (val_type === 'json' || val_type === 'boolean') return {}
  const texts = values?.filter((value) => typeof value === wanted).map(String)
  return texts && texts.length > 0 ? { enum: texts } : {}
}
