import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { readDialect } from '../json-schema/dialect.ts'
import { SchemaFault } from '../json-schema/schema-fault.ts'
import { isAbsent, kindOf, Refusal } from '../read-json.ts'
import { at, type Warn } from './metadata-member.ts'
import { isOfType, isPattern, isTypeName, isUsable, readNames, readTypes } from './schema-keyword.ts'
import { removeBadReferences } from './schema-reference.ts'
import { moveMisplaced } from './schema-shape.ts'

// Converts the schemas of tool files, which are often invalid, to valid JSON Schema 2020-12. Invalid parts are repaired if
// their meaning is clear and dropped otherwise, each with a warning. A dropped part makes the schema accept more.

export type Schema = JsonSchema | boolean

/**
 * Reads a tool's input or configuration schema, which has the type `object`. Without a schema any object is accepted.
 */
export function readInputSchema(value: unknown, path: string, warn: Warn): JsonSchema {
  if (isMissing(value)) return { type: 'object', properties: {} }
  const schema = readRoot(value, path, warn)
  if (schema.type !== undefined && schema.type !== 'object')
    warn(at(path, 'type'), 'Arguments are always an object; the type became `object`.')
  return { ...schema, type: 'object', properties: schema.properties ?? {} }
}

/** Reads a tool's result schema; `undefined` if the file says nothing about the result. */
export function readOutputSchema(value: unknown, path: string, warn: Warn): JsonSchema | undefined {
  if (isMissing(value)) return undefined
  const schema = readRoot(value, path, warn)
  if (Object.keys(schema).length === 0) return undefined
  const isObject = schema.type === undefined && schema.properties !== undefined
  return isObject ? { ...schema, type: 'object' } : schema
}

/** Whether there is no schema. Real files write `[]` for "no configuration". */
function isMissing(value: unknown): boolean {
  return isAbsent(value) || (Array.isArray(value) && value.length === 0)
}

/**
 * Reads the root schema. Throws `Refusal` for a dialect other than 2020-12 and draft-07, whose meaning could only be
 * guessed.
 */
function readRoot(value: unknown, path: string, warn: Warn): JsonSchema {
  if (isRecord(value)) checkDialect(value, path)
  const schema = readSchema(value, path, warn)
  return isRecord(schema) ? removeBadReferences(schema, path, warn) : {}
}

function checkDialect({ $schema }: JsonRecord, path: string): void {
  try {
    if (!isAbsent($schema)) readDialect($schema)
  } catch (error) {
    if (error instanceof SchemaFault) throw new Refusal(`${at(path, '$schema')}: ${error.message}`)
    throw error
  }
}

const SINGLE_SCHEMA = new Set([
  ...[
    'additionalProperties',
    'propertyNames',
    'unevaluatedProperties',
    'items',
    'contains',
    'unevaluatedItems',
  ],
  ...['not', 'if', 'then', 'else', 'contentSchema'],
])
const SCHEMA_LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const SCHEMA_MAP = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** Reads a schema and its subschemas. References are checked afterwards, when the whole document has been read. */
function readSchema(value: unknown, path: string, warn: Warn): Schema {
  if (typeof value === 'boolean') return value
  if (isTypeName(value)) {
    warn(path, `A schema belongs here, not the name of a type; the name was read as its \`type\`.`)
    return readSchema({ type: value }, path, () => {})
  }
  if (!isRecord(value)) {
    warn(path, `It is ${kindOf(value)} and no schema; anything is accepted.`)
    return {}
  }
  const node = moveMisplaced(value, path, warn)
  const members = Object.entries(node)
    // `null` means absent, except where null is a value; `$schema` has no effect within a document
    .filter(
      ([keyword, inner]) =>
        (inner !== null || ['default', 'const'].includes(keyword)) && keyword !== '$schema',
    )
    .map(([keyword, inner]) => [keyword, readKeyword(keyword, inner, at(path, keyword), warn)] as const)
    .filter(([, inner]) => inner !== undefined)
  return withTypes(Object.fromEntries(members), node, path, warn)
}

/** Converts a keyword's value; `undefined`, after a warning, if it is dropped. */
function readKeyword(keyword: string, value: unknown, path: string, warn: Warn): unknown {
  if (keyword === 'type') return readTypes(value, path, warn)
  if (keyword === 'nullable') return undefined // merged into `type` by `withTypes`
  if (keyword === 'required') return readNames(value, path, warn)
  if (keyword === 'dependentRequired') return readDependentNames(value, path, warn)
  if (SINGLE_SCHEMA.has(keyword)) return readSchema(value, path, warn)
  if (SCHEMA_LIST.has(keyword)) return readList(value, path, warn)
  if (SCHEMA_MAP.has(keyword)) return readMap(keyword, value, path, warn)
  return isUsable(keyword, value, path, warn) ? value : undefined
}

function readList(value: unknown, path: string, warn: Warn): readonly Schema[] | undefined {
  if (Array.isArray(value) && value.length > 0)
    return value.map((inner, index) => readSchema(inner, `${path}[${index}]`, warn))
  warn(path, 'It must be a list of at least one schema; it was left out.')
  return undefined
}

function readMap(keyword: string, value: unknown, path: string, warn: Warn): JsonRecord | undefined {
  if (!isRecord(value)) {
    const isEmpty = Array.isArray(value) && value.length === 0
    if (!isEmpty) warn(path, `It is ${kindOf(value)} and must be an object of schemas; it was left out.`)
    return undefined
  }
  const members = Object.entries(value).filter(([name]) => {
    if (keyword !== 'patternProperties' || isPattern(name)) return true
    warn(at(path, name), 'Its name is not a regular expression; it was left out.')
    return false
  })
  return Object.fromEntries(members.map(([name, inner]) => [name, readSchema(inner, at(path, name), warn)]))
}

function readDependentNames(value: unknown, path: string, warn: Warn): JsonRecord | undefined {
  if (!isRecord(value)) return readNames(value, path, warn) && undefined
  const members = Object.entries(value).map(
    ([name, inner]) => [name, readNames(inner, at(path, name), warn)] as const,
  )
  return Object.fromEntries(members.filter(([, names]) => names !== undefined))
}

/**
 * Turns OpenAPI's `nullable` into a union with `null`, writes a single type as a string, and checks the default
 * against the types.
 */
function withTypes(read: JsonRecord, node: JsonRecord, path: string, warn: Warn): JsonSchema {
  const declared = Array.isArray(read.type) ? read.type.map(String) : []
  const isNullable = node.nullable === true
  const types = isNullable && declared.length > 0 ? [...new Set([...declared, 'null'])] : declared
  const values = Array.isArray(read.enum) ? read.enum : undefined
  if (Object.hasOwn(read, 'default') && types.length > 0 && !isOfType(read.default, types))
    warn(
      at(path, 'default'),
      `It is ${kindOf(read.default)}, not of type ${types.join(' or ')}; it is kept as an annotation.`,
    )
  return {
    ...read,
    ...(types.length > 0 && { type: types.length === 1 ? types[0] : types }),
    ...(isNullable && values !== undefined && !values.includes(null) && { enum: [...values, null] }),
  }
}
