import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { pointerTokens, valueAtReference } from '../../sdk/worker/json-pointer.ts'
import { EVERY } from './argument-values.ts'

/** Subschemas that are read for one pointer. A schema that needs more has the place for none of the rules. */
const MAX_STEPS = 5_000
/** Keywords that name what a value may contain. A schema without them takes everything. */
const NAMING = ['properties', 'patternProperties', 'items', 'prefixItems', '$ref', 'allOf', 'anyOf', 'oneOf']

const known = new WeakMap<JsonSchema, Map<string, boolean>>()

/**
 * Whether the schema has the place that the pointer names: `additionalProperties` that is not said counts as false where
 * `properties` are named. A rule about a place that the schema lacks would never see a value.
 */
export function hasPlace(schema: JsonSchema, pointer: string): boolean {
  const places = known.get(schema) ?? new Map<string, boolean>()
  known.set(schema, places)
  const answer = places.get(pointer) ?? findPlace(schema, pointerTokens(pointer))
  places.set(pointer, answer)
  return answer
}

function findPlace(root: JsonSchema, tokens: readonly string[]): boolean {
  const seen = new Map<unknown, Set<number>>()
  const left: [schema: unknown, depth: number][] = [[root, 0]]
  for (let steps = 0; left.length > 0 && steps < MAX_STEPS; steps++) {
    const [schema, depth] = left.pop() ?? []
    if (depth === tokens.length || schema === true) return schema !== false
    if (depth === undefined || !isRecord(schema) || seen.get(schema)?.has(depth)) continue
    seen.set(schema, (seen.get(schema) ?? new Set()).add(depth))
    if (takesEverything(schema)) return true
    const { $ref, allOf, anyOf, oneOf } = schema
    const alike = [allOf, anyOf, oneOf].flatMap(listOf)
    if (typeof $ref === 'string') alike.push(valueAtReference(root, $ref))
    for (const other of [...alike, schema.if, schema.then, schema.else])
      if (other !== undefined) left.push([other, depth])
    for (const inner of below(schema, tokens[depth] ?? '')) left.push([inner, depth + 1])
  }
  return false
}

/** The schemas of a member or item, without the names that patterns are about. */
function below(schema: JsonSchema, token: string): unknown[] {
  const { properties, patternProperties, additionalProperties, items, prefixItems } = schema
  const named = isRecord(properties) ? properties : {}
  const more = [
    ...(isRecord(patternProperties) ? Object.values(patternProperties) : []),
    additionalProperties,
  ]
  const found =
    token === EVERY
      ? [...Object.values(named), ...more, items, ...listOf(prefixItems)]
      : Object.hasOwn(named, token)
        ? [named[token]]
        : [...more, ...(/^\d+$/.test(token) ? [items, listOf(prefixItems)[Number(token)]] : [])]
  return found.flatMap((schema) => (Array.isArray(schema) ? schema : schema === undefined ? [] : [schema]))
}

function takesEverything(schema: JsonSchema): boolean {
  const { type, additionalProperties } = schema
  const types = type === undefined ? ['object'] : listOf(type).length > 0 ? listOf(type) : [type]
  const isContainer = types.includes('object') || types.includes('array')
  return (
    isContainer &&
    additionalProperties !== false &&
    !isRecord(additionalProperties) &&
    NAMING.every((keyword) => schema[keyword] === undefined)
  )
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
