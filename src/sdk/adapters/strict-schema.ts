import type { ObjectSchema } from './list-tools.ts'

// OpenAI's strict mode guarantees arguments that fit the schema, for schemas in which every object is closed and every
// property required. Optional properties therefore accept `null`, which the adapter removes from the arguments.

type Schema = Readonly<Record<string, unknown>>

/** Keywords that strict mode takes, besides those that `strictOf` rewrites. */
const KEPT = [
  ...['type', 'description', 'enum', 'const', '$ref', 'pattern', 'format', 'minItems', 'maxItems'],
  ...['multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
]
/** Keywords that only restrict values: Gatepass checks the arguments by the tool's own schema anyway. */
const DROPPED = [
  ...['title', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', '$comment'],
  ...[
    'minLength',
    'maxLength',
    'uniqueItems',
    'minProperties',
    'maxProperties',
    'contentEncoding',
    'contentMediaType',
  ],
]
const REWRITTEN = ['properties', 'required', 'additionalProperties', 'items', 'anyOf', '$defs']
const KNOWN = new Set([...KEPT, ...DROPPED, ...REWRITTEN])
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
/** OpenAI refuses schemas that are nested more deeply. */
const MAX_DEPTH = 10

/** Returns the schema for strict mode; `undefined` if strict mode cannot express it. */
export function toStrictSchema(schema: ObjectSchema): Schema | undefined {
  // such a schema accepts properties of any name, which strict mode cannot express
  if (Object.keys(schema.properties).length === 0 && schema.additionalProperties !== false) return undefined
  try {
    return strictOf(schema, 0)
  } catch (error) {
    if (error === NOT_STRICT) return undefined
    throw error
  }
}

const NOT_STRICT = Symbol('not strict')

function strictOf(schema: unknown, depth: number): Schema {
  if (!isSchema(schema) || depth > MAX_DEPTH) throw NOT_STRICT
  if (Object.keys(schema).some((keyword) => !KNOWN.has(keyword))) throw NOT_STRICT
  const { type, items, anyOf, $defs, format } = schema
  const kept = Object.entries(schema).filter(
    ([keyword]) => KEPT.includes(keyword) && (keyword !== 'format' || FORMATS.includes(String(format))),
  )
  if ([type, anyOf, schema.enum, schema.const, schema.$ref].every((value) => value === undefined))
    throw NOT_STRICT
  const types = typesOf(schema)
  if (types.includes('array') && items === undefined) throw NOT_STRICT
  return {
    ...Object.fromEntries(kept),
    ...(types.includes('object') && closed(schema, depth)),
    ...(items !== undefined && { items: strictOf(items, depth + 1) }),
    ...(anyOf !== undefined && {
      anyOf: alternatives(anyOf).map((alternative) => strictOf(alternative, depth + 1)),
    }),
    ...(isSchema($defs) && { $defs: mapValues($defs, (def) => strictOf(def, 1)) }),
  }
}

function closed({ properties, required, additionalProperties }: Schema, depth: number): Schema {
  if (!isSchema(properties) || (additionalProperties !== undefined && additionalProperties !== false))
    throw NOT_STRICT
  return {
    properties: mapValues(properties, (property, name) => {
      const strict = strictOf(property, depth + 1)
      return isRequired(required, name) ? strict : nullable(strict)
    }),
    required: Object.keys(properties),
    additionalProperties: false,
  }
}

function nullable(schema: Schema): Schema {
  const { type, description } = schema
  if (typeof type === 'string' && schema.enum === undefined && schema.const === undefined)
    return type === 'null' ? schema : { ...schema, type: [type, 'null'] }
  if (typesOf(schema).includes('null') && schema.enum === undefined) return schema
  return { ...(description !== undefined && { description }), anyOf: [schema, { type: 'null' }] }
}

/** Returns the alternatives of `anyOf`. Refuses several objects or lists: a value does not show which it matches. */
function alternatives(anyOf: unknown): readonly unknown[] {
  const all = Array.isArray(anyOf) ? anyOf : []
  const others = all.filter((schema) => !(isSchema(schema) && schema.type === 'null'))
  const isScalar = (schema: unknown) =>
    isSchema(schema) &&
    schema.$ref === undefined &&
    schema.anyOf === undefined &&
    !/object|array/.test(typesOf(schema).join())
  if (others.length !== 1 && !others.every(isScalar)) throw NOT_STRICT
  return all
}

/** Returns the arguments without each `null` that only the strict schema accepts. */
export function withoutAddedNulls(schema: ObjectSchema, value: unknown): unknown {
  return strip(schema, value, schema)
}

function strip(schema: unknown, value: unknown, root: Schema): unknown {
  const known = resolve(schema, root)
  if (Array.isArray(value)) return value.map((item) => strip(known.items, item, root))
  if (!isSchema(value) || !isSchema(known.properties)) return value
  const { properties, required } = known
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined
      if (
        member === null &&
        property !== undefined &&
        !isRequired(required, name) &&
        !takesNull(property, root)
      )
        return []
      return [[name, strip(property, member, root)]]
    }),
  )
}

/**
 * Follows each `$ref`, and each `anyOf` that has one alternative besides `null`, to the schema that describes the
 * value. `followed` holds the schemas on the way there. Returns an empty schema for a cycle.
 */
function resolve(schema: unknown, root: Schema, followed: readonly unknown[] = []): Schema {
  if (!isSchema(schema) || followed.includes(schema)) return {}
  const { $ref, anyOf } = schema
  if (typeof $ref === 'string') return resolve(definition($ref, root), root, [...followed, schema])
  const others = Array.isArray(anyOf)
    ? anyOf.filter((choice) => !(isSchema(choice) && choice.type === 'null'))
    : []
  return others.length === 1 ? resolve(others[0], root, [...followed, schema]) : schema
}

/** Whether the schema accepts `null`. `followed` holds the schemas on the way there; a cycle accepts nothing more. */
function takesNull(schema: unknown, root: Schema, followed: readonly unknown[] = []): boolean {
  if (followed.includes(schema)) return false
  if (!isSchema(schema)) return true
  const { anyOf, enum: values, $ref } = schema
  if (typeof $ref === 'string') return takesNull(definition($ref, root), root, [...followed, schema])
  if (Array.isArray(values)) return values.includes(null)
  if (Array.isArray(anyOf)) return anyOf.some((choice) => takesNull(choice, root, [...followed, schema]))
  if (schema.const !== undefined) return schema.const === null
  return schema.type === undefined || typesOf(schema).includes('null')
}

/** Returns the definition that `$ref` names; `undefined` if the schema has none. */
function definition($ref: string, { $defs }: Schema): unknown {
  const [, name = ''] = /^#\/\$defs\/([^/]+)$/.exec($ref) ?? []
  return isSchema($defs) && Object.hasOwn($defs, name) ? $defs[name] : undefined
}

function isRequired(required: unknown, name: string): boolean {
  return Array.isArray(required) && required.includes(name)
}

function typesOf({ type }: Schema): readonly unknown[] {
  return Array.isArray(type) ? type : [type]
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapValues(from: Schema, map: (value: unknown, name: string) => Schema): Schema {
  return Object.fromEntries(Object.entries(from).map(([name, value]) => [name, map(value, name)]))
}
