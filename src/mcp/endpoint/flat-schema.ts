import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { valueAtReference } from '../../sdk/worker/json-pointer.ts'

// Converts the schema of a tool's arguments to a form that model APIs accept: its root has `type: "object"` and no
// keyword that combines schemas. Clients drop a tool with another root, or even all tools. The flat schema is less exact
// than the real one, by which each call is still checked.

/** Removed from the root. The properties of their schemas, except those of `not` and `if`, are moved to the root. */
const COMBINING = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas', '$ref']
const NOT_AT_THE_ROOT = new Set([
  ...COMBINING,
  ...['$schema', '$id', '$dynamicRef', '$recursiveRef', 'enum', 'const', 'unevaluatedProperties'],
])
/**
 * The most properties and schemas that are read. The time grows with the square of their number, and the schema may
 * come from a hostile server.
 */
const MAX_READ = 5_000

export function flatSchema(schema: JsonRecord): JsonRecord {
  const { properties, required } = membersOf(schema, { root: schema, left: MAX_READ, required: new Map() })
  const kept = Object.entries(schema).filter(([keyword]) => !NOT_AT_THE_ROOT.has(keyword))
  const flat = { ...Object.fromEntries(kept), type: 'object', properties: Object.fromEntries(properties) }
  const whole = { ...flat, ...(required.size > 0 ? { required: [...required] } : { required: undefined }) }
  if (!refersToRemoved(whole)) return withoutUndefined(whole)
  // some references would lead nowhere, so only the names of the properties are kept
  const { title, description } = schema
  return withoutUndefined({
    type: 'object',
    title,
    description,
    properties: Object.fromEntries([...properties.keys()].map((name) => [name, {}])),
    required: whole.required,
  })
}

/** The properties that a schema names, directly or by schemas that it combines, and those of them that it requires. */
interface Members {
  readonly properties: Map<string, unknown>
  readonly required: ReadonlySet<string>
}

const NONE: Members = { properties: new Map(), required: new Set() }

interface Reading {
  readonly root: JsonRecord
  /** How many more properties and schemas may be read. */
  left: number
  /** The required names of each schema that has been read. */
  readonly required: Map<JsonRecord, Members['required']>
}

/**
 * Reads each schema once, however many references lead to it: after that, its properties are in the result already, and
 * would multiply there.
 */
function membersOf(schema: unknown, reading: Reading): Members {
  if (!isRecord(schema) || reading.left <= 0) return NONE
  const known = reading.required.get(schema)
  if (known === undefined) reading.required.set(schema, NONE.required) // for a reference that leads in a circle
  const members = known === undefined ? readMembers(schema, reading) : { ...NONE, required: known }
  reading.left -= 1 + members.required.size
  reading.required.set(schema, members.required)
  return members
}

function readMembers(schema: JsonRecord, reading: Reading): Members {
  const of = (one: unknown) => membersOf(one, reading)
  const list = (keyword: string) => {
    const value = schema[keyword]
    return Array.isArray(value) ? value.map(of) : []
  }
  const own: Members = {
    properties: new Map(isRecord(schema.properties) ? Object.entries(schema.properties) : []),
    required: new Set(
      Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [],
    ),
  }
  reading.left -= own.properties.size
  const { $ref, then: whenTrue, else: whenFalse, dependentSchemas } = schema
  const optional = [
    whenTrue,
    whenFalse,
    ...(isRecord(dependentSchemas) ? Object.values(dependentSchemas) : []),
  ]
  return [
    ...(typeof $ref === 'string' ? [of(valueAtReference(reading.root, $ref))] : []),
    ...list('allOf'),
    either(list('anyOf')),
    either(list('oneOf')),
    ...optional.map((one) => ({ ...of(one), required: NONE.required })),
  ].reduce(both, own)
}

/** The members of two schemas that both apply. */
function both(a: Members, b: Members): Members {
  return {
    properties: joined('allOf', a.properties, b.properties),
    required: b.required.size === 0 ? a.required : new Set([...a.required, ...b.required]),
  }
}

/** The members of alternative schemas: a name is required only if all of them require it. */
function either([first, ...others]: readonly Members[]): Members {
  if (first === undefined) return NONE
  return others.reduce(
    (all, one) => ({
      properties: joined('anyOf', all.properties, one.properties),
      required: new Set([...all.required].filter((name) => one.required.has(name))),
    }),
    first,
  )
}

/**
 * Adds the properties of `b` to those of `a`. A property that both name gets both schemas, combined by `keyword`, which
 * is allowed below the root.
 */
function joined(
  keyword: Combined,
  a: Members['properties'],
  b: Members['properties'],
): Members['properties'] {
  if (a.size === 0) return b
  for (const [name, schema] of b) a.set(name, a.has(name) ? combined(keyword, a.get(name), schema) : schema)
  return a
}

type Combined = 'allOf' | 'anyOf'

/** The schemas that `combined` has made. They are not compared with others, because they may be large and many. */
const made = new WeakMap<object, Combined>()

function combined(keyword: Combined, a: unknown, b: unknown): unknown {
  const by = isRecord(a) ? made.get(a) : undefined
  if (by === undefined && JSON.stringify(a) === JSON.stringify(b)) return b
  // one flat list, since nested ones would overflow the stack of their reader
  const schemas = isRecord(a) && by === keyword && Array.isArray(a[keyword]) ? [...a[keyword], b] : [a, b]
  const schema = { [keyword]: schemas }
  made.set(schema, keyword)
  return schema
}

/** Whether a reference leads to a keyword that was removed from the root, or into its value. */
function refersToRemoved(schema: JsonRecord): boolean {
  // `$ref`, the last keyword, holds no schema
  return new RegExp(`"\\$ref":"#/(?:${COMBINING.slice(0, -1).join('|')})[/"]`).test(JSON.stringify(schema))
}

function withoutUndefined(schema: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))
}
