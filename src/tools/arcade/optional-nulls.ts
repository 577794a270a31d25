import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord } from '../../parsing/json-record.ts'

const MAX_DEPTH = 100

/** Keywords that say nothing of an object's members. */
const SAY_NOTHING = new Set(['type', 'title', 'description', 'default', 'examples'])

/** A list may name tens of thousands of members, and a value have as many. */
const requiredNames = new WeakMap<object, ReadonlySet<unknown>>()

function requiredOf(schema: JsonSchema): ReadonlySet<unknown> {
  const known = requiredNames.get(schema) ?? new Set(Array.isArray(schema.required) ? schema.required : [])
  requiredNames.set(schema, known)
  return known
}

/**
 * Removes members that are `null` and that the schema does not require, at any depth. Free JSON, of whose members the
 * schema says nothing, keeps its nulls.
 */
export function withoutOptionalNulls(schema: unknown, value: unknown, depth = 0): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return value
  if (Object.keys(schema).every((keyword) => SAY_NOTHING.has(keyword))) return value
  if (Array.isArray(value)) return value.map((item) => withoutOptionalNulls(schema.items, item, depth + 1))
  if (!isRecord(value)) return value
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = requiredOf(schema)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => member !== null || required.has(name))
      .map(([name, member]) => [
        name,
        withoutOptionalNulls(
          Object.hasOwn(properties, name) ? properties[name] : undefined,
          member,
          depth + 1,
        ),
      ]),
  )
}

/**
 * Removes `null` for properties that are optional and whose schema does not allow `null`: models write it to mean
 * "absent", and a worker that only knows "given or not" refuses it. Values that no schema describes are kept.
 */
export function withoutUndeclaredNulls(schema: JsonSchema, input: Input): Input {
  return strip(schema, input, 0) as Input // `strip` maps objects to objects
}

type Input = Readonly<Record<string, unknown>>

function strip(schema: unknown, value: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((item) => strip(schema.items, item, depth + 1))
  if (!isRecord(value) || !isRecord(schema.properties)) return value
  const { properties } = schema
  const required = requiredOf(schema)
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (member === null && !required.has(name) && isRecord(property) && !takesNull(property)) return []
      return [[name, strip(property, member, depth + 1)]]
    }),
  )
}

function takesNull({ type }: Readonly<Record<string, unknown>>): boolean {
  return type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'))
}
