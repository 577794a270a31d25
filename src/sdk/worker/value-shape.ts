import { isRecord } from '../is-record.ts'
import type { JsonSchema } from '../tools/content.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { valueAtReference } from './json-pointer.ts'

export type JsonType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** What a schema says about a value, with its references, `allOf`, `anyOf` and `oneOf` merged. */
export interface ValueShape {
  /** Absent: any type. */
  readonly types?: ReadonlySet<JsonType>
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, unknown>>
  readonly required?: readonly string[]
  readonly items?: unknown
  readonly description?: string
  /** The references (`$ref`) that were followed to this shape. */
  readonly followed: readonly string[]
}

export interface SchemaReader {
  shapeOf(schema: unknown): ValueShape
  /** A reader for subschemas of this shape that does not follow the same references again. */
  within(shape: ValueShape): SchemaReader
}

const ANY: ValueShape = { followed: [] }
/** References can expand a small schema into a huge tree. Schemas past this number are read as accepting any value. */
const MAX_SCHEMAS = 2000

/** Reads the schemas of one document. Terminates for any document, because no reference is followed within itself. */
export function schemaReader(root: JsonSchema): SchemaReader {
  let left = MAX_SCHEMAS

  function read(schema: unknown, followed: readonly string[]): ValueShape {
    if (!isRecord(schema) || left-- <= 0) return ANY
    const { $ref: reference, allOf, anyOf, oneOf } = schema
    let shape = ownShape(schema)
    if (typeof reference === 'string' && !followed.includes(reference)) {
      const target = read(valueAtReference(root, reference), [...followed, reference])
      shape = mergeShapes(shape, { ...target, followed: [...target.followed, reference] })
    }
    if (Array.isArray(allOf)) for (const part of allOf) shape = mergeShapes(shape, read(part, followed))
    for (const choice of [anyOf, oneOf])
      if (Array.isArray(choice))
        shape = mergeShapes(shape, mergeAlternatives(choice.map((item) => read(item, followed))))
    return shape
  }

  function reader(followed: readonly string[]): SchemaReader {
    return {
      shapeOf: (schema) => read(schema, followed),
      within: (shape) => reader([...followed, ...shape.followed]),
    }
  }
  return reader(['#'])
}

const TYPES: readonly JsonType[] = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object']

function ownShape(schema: JsonSchema): ValueShape {
  const { enum: listed, properties, required, items, description } = schema
  const values = Array.isArray(listed) ? listed : schema.const !== undefined ? [schema.const] : undefined
  const types = ownTypes(schema, values)
  return withoutUndefined({
    types,
    enum: values,
    properties: isRecord(properties) ? properties : undefined,
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : undefined,
    items: isRecord(items) ? items : undefined,
    description: typeof description === 'string' && description !== '' ? description : undefined,
    followed: [],
  })
}

/** The types from `type`, else those that the other keywords imply. OpenAPI 3.0 has `nullable` beside `type`. */
function ownTypes(schema: JsonSchema, values: readonly unknown[] | undefined): Set<JsonType> | undefined {
  const { type } = schema
  const named = TYPES.filter((known) => known === type || (Array.isArray(type) && type.includes(known)))
  if (named.length > 0) return new Set([...named, ...(schema.nullable === true ? (['null'] as const) : [])])
  if (values) return new Set(values.map(typeOf))
  if (isRecord(schema.properties)) return new Set(['object'])
  return schema.items !== undefined || schema.prefixItems !== undefined ? new Set(['array']) : undefined
}

function typeOf(value: unknown): JsonType {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  // JSON has no other type
  return typeof value === 'string' || typeof value === 'boolean' ? (typeof value as JsonType) : 'object'
}

/** Merges two shapes that a value must both match. If they contradict each other, the first wins. */
function mergeShapes(a: ValueShape, b: ValueShape): ValueShape {
  const types = a.types && b.types ? intersectTypes(a.types, b.types) : (a.types ?? b.types)
  return withoutUndefined({
    types,
    enum: a.enum ?? b.enum,
    properties: (a.properties || b.properties) && { ...b.properties, ...a.properties },
    required: (a.required || b.required) && [...new Set([...(a.required ?? []), ...(b.required ?? [])])],
    items: a.items ?? b.items,
    description: a.description ?? b.description,
    followed: [...a.followed, ...b.followed],
  })
}

function intersectTypes(a: ReadonlySet<JsonType>, b: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  const has = (set: ReadonlySet<JsonType>, type: JsonType) =>
    set.has(type) || (type === 'integer' && set.has('number'))
  const met = TYPES.filter((type) => has(a, type) && has(b, type))
  return met.length > 0 ? new Set(met) : a
}

/** Merges alternative shapes: keeps what is true of all. An alternative that is only `null` adds a type. */
function mergeAlternatives(choices: readonly ValueShape[]): ValueShape {
  const informative = choices.filter(({ types }) => !(types?.size === 1 && types.has('null')))
  const [only, ...others] = informative
  if (only === undefined) return choices[0] ?? ANY
  const types = new Set(choices.flatMap(({ types }) => [...(types ?? [])]))
  const known = choices.every((choice) => choice.types !== undefined) ? { types } : {}
  if (others.length === 0) return { ...only, ...known }
  const values = informative.flatMap((shape) => shape.enum ?? [])
  return {
    ...known,
    ...(informative.every((shape) => shape.enum) && { enum: values }),
    followed: informative.flatMap((shape) => shape.followed),
  }
}
