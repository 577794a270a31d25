import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { at, type Warn } from './metadata-member.ts'
import { isTypeName } from './schema-keyword.ts'

/**
 * Moves keywords to where they belong: real files have them one level too deep or too high, or under the names of
 * earlier drafts.
 */
export function moveMisplaced(node: JsonRecord, path: string, warn: Warn): JsonRecord {
  const hoisted = withDependencies(withHoisted(node, path, warn), path, warn)
  return withTuple(withSiblings(hoisted, path, warn), path, warn)
}

/** Moves `required` and `type` out of `properties`, and `required: true` of a property into the list of the object. */
function withHoisted(node: JsonRecord, path: string, warn: Warn): JsonRecord {
  const { properties } = node
  if (!isRecord(properties)) return node
  const kept: [string, unknown][] = []
  let required: unknown[] = Array.isArray(node.required) ? [...node.required] : []
  let { type } = node
  for (const [name, value] of Object.entries(properties)) {
    const inner = at(at(path, 'properties'), name)
    if (name === 'required' && Array.isArray(value)) {
      warn(inner, 'The list was inside `properties`; it was moved out.')
      required = required.concat(value)
    } else if (name === 'type' && (value === 'object' || Array.isArray(value))) {
      warn(inner, 'The type was inside `properties`; it was moved out.')
      type ??= value
    } else if (isRecord(value) && typeof value.required === 'boolean') {
      const { required: isRequired, ...schema } = value
      warn(at(inner, 'required'), '`required` is a list of names beside `properties`; it was moved there.')
      if (isRequired === true) required.push(name)
      kept.push([name, schema])
    } else kept.push([name, value])
  }
  return {
    ...node,
    ...(type !== undefined && { type }),
    properties: Object.fromEntries(kept),
    ...(required.length > 0 && { required }),
  }
}

/** Keywords that take a schema, which therefore cannot be stray properties. */
const TAKES_SCHEMA = new Set([
  ...['properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'unevaluatedProperties'],
  ...[
    'items',
    'additionalItems',
    'contains',
    'unevaluatedItems',
    'not',
    'if',
    'then',
    'else',
    'contentSchema',
  ],
  ...['$defs', 'definitions', 'dependentSchemas', 'dependentRequired', 'default', 'const'],
])

/** Moves a schema that was written beside `properties` into it, as an optional property of the same name. */
function withSiblings(node: JsonRecord, path: string, warn: Warn): JsonRecord {
  const { properties } = node
  if (!isRecord(properties)) return node
  const isMeant = ([name, value]: [string, unknown]) =>
    !TAKES_SCHEMA.has(name) &&
    !name.startsWith('x-') &&
    looksLikeSchema(value) &&
    !Object.hasOwn(properties, name)
  const strays = Object.entries(node).filter(isMeant)
  for (const [name] of strays)
    warn(at(path, name), 'It was beside `properties`; it was moved in as an optional property.')
  const rest = Object.entries(node).filter((entry) => !isMeant(entry))
  return { ...Object.fromEntries(rest), properties: { ...properties, ...Object.fromEntries(strays) } }
}

function looksLikeSchema(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { type, properties, $ref } = value
  return isTypeName(type) || Array.isArray(type) || isRecord(properties) || typeof $ref === 'string'
}

/**
 * Converts an earlier draft's tuple, `items: [...]` with `additionalItems`, to 2020-12's `prefixItems` with `items`.
 */
function withTuple(node: JsonRecord, path: string, warn: Warn): JsonRecord {
  const { items, additionalItems, ...rest } = node
  if (!Array.isArray(items)) return node
  warn(at(path, 'items'), 'A list of schemas is `prefixItems` since JSON Schema 2020-12; it was moved there.')
  return {
    ...(items.length > 0 && { prefixItems: items }),
    ...rest,
    ...(additionalItems !== undefined && { items: additionalItems }),
  }
}

/**
 * Converts earlier drafts' `dependencies` to 2020-12's `dependentRequired`, if they list names, and
 * `dependentSchemas`.
 */
function withDependencies(node: JsonRecord, path: string, warn: Warn): JsonRecord {
  const { dependencies, ...rest } = node
  if (!isRecord(dependencies)) return node
  warn(
    at(path, 'dependencies'),
    'In JSON Schema 2020-12 it is `dependentRequired` and `dependentSchemas`; it was moved there.',
  )
  const entries = Object.entries(dependencies)
  const names = entries.filter(([, value]) => Array.isArray(value))
  const schemas = entries.filter(([, value]) => !Array.isArray(value))
  const merged = (known: unknown, more: typeof entries) => ({
    ...Object.fromEntries(more),
    ...(isRecord(known) && known),
  })
  return {
    ...rest,
    ...(names.length > 0 && { dependentRequired: merged(rest.dependentRequired, names) }),
    ...(schemas.length > 0 && { dependentSchemas: merged(rest.dependentSchemas, schemas) }),
  }
}
