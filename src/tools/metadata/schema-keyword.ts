import { isRecord } from '../../parsing/json-record.ts'
import { isUsablePattern } from '../json-schema/schema-pattern.ts'
import { kindOf, quote } from '../read-json.ts'
import type { Warn } from './metadata-member.ts'

/** The types of JSON Schema (2020-12 validation, section 6.1.1), by the names tool files use for them. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ...['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'].map(
    (type) => [type, type] as const,
  ),
  ['bigint', 'integer'],
  ['int', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['str', 'string'],
  ['bool', 'boolean'],
  ['list', 'array'],
  ['dict', 'object'],
])

export function isTypeName(value: unknown): value is string {
  return typeof value === 'string' && (TYPES.has(value.toLowerCase()) || value.toLowerCase() === 'any')
}

/** The types that `type` allows; `undefined` if it allows all. */
export function readTypes(value: unknown, path: string, warn: Warn): readonly string[] | undefined {
  const names = typeof value === 'string' ? value.split('|').map((part) => part.trim()) : value
  if (!Array.isArray(names) || !names.every(isTypeName)) {
    warn(path, `${quote(value)} is not a type of JSON Schema; any type is accepted.`)
    return undefined
  }
  if (names.some((name) => name.toLowerCase() === 'any')) {
    warn(path, '`any` is not a type of JSON Schema; it was left out, which accepts any type.')
    return undefined
  }
  const types = [...new Set(names.flatMap((name) => TYPES.get(name.toLowerCase()) ?? []))]
  const same =
    typeof value === 'string'
      ? types[0] === value
      : types.length === names.length && names.every((name, i) => name === types[i])
  if (!same) warn(path, `${quote(value)} was read as ${quote(types.length === 1 ? types[0] : types)}.`)
  return types.length === 0 ? undefined : types
}

/** Whether the value has one of the types. */
export function isOfType(value: unknown, types: readonly string[]): boolean {
  return types.some((type) => {
    if (type === 'null') return value === null
    if (type === 'array') return Array.isArray(value)
    if (type === 'object') return isRecord(value)
    if (type === 'integer') return Number.isInteger(value)
    return typeof value === type
  })
}

interface Expectation {
  readonly of: string
  readonly holds: (value: unknown) => boolean
}

const NUMBER: Expectation = { of: 'a number', holds: Number.isFinite }
const COUNT: Expectation = {
  of: 'an integer of 0 or more',
  holds: (value) => Number.isInteger(value) && Number(value) >= 0,
}
const FLAG: Expectation = { of: 'true or false', holds: (value) => typeof value === 'boolean' }
const TEXT: Expectation = { of: 'a string', holds: (value) => typeof value === 'string' }
const ANY: Expectation = { of: 'anything', holds: () => true }

/** Keywords whose value is not a schema (2020-12 validation, sections 6 to 9), with the check of their value. */
const KEYWORDS: ReadonlyMap<string, Expectation> = new Map([
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'].map((name) => [name, NUMBER] as const),
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minContains', 'maxContains'].map(
    (name) => [name, COUNT] as const,
  ),
  ...['minProperties', 'maxProperties'].map((name) => [name, COUNT] as const),
  ...['uniqueItems', 'deprecated', 'readOnly', 'writeOnly'].map((name) => [name, FLAG] as const),
  ...['title', 'description', 'format', '$comment', '$ref', 'contentEncoding', 'contentMediaType'].map(
    (name) => [name, TEXT] as const,
  ),
  ['default', ANY],
  ['const', ANY],
  ['examples', { of: 'an array', holds: Array.isArray }],
  ['enum', { of: 'an array with a value in it', holds: (value) => Array.isArray(value) && value.length > 0 }],
  ['pattern', { of: 'a regular expression without lookaround and back-references', holds: isPattern }],
  ['multipleOf', { of: 'a number above 0', holds: (value) => Number.isFinite(value) && Number(value) > 0 }],
])

/** Keywords of other drafts or of single validators that would change a schema's meaning or make it invalid. */
const FOREIGN = ['id', 'nullable', 'dependencies', 'discriminator']

/** Whether the keyword can be kept with its value: if not, it is dropped with a warning. */
export function isUsable(keyword: string, value: unknown, path: string, warn: Warn): boolean {
  const expected = KEYWORDS.get(keyword)
  if (expected?.holds(value)) return true
  if (expected !== undefined) {
    warn(path, `It is ${kindOf(value)} and must be ${expected.of}; it was left out.`)
    return false
  }
  const isAnnotation = typeof value !== 'object' && !keyword.startsWith('$') && !FOREIGN.includes(keyword)
  if (!isAnnotation) warn(path, `\`${keyword}\` cannot be used in this schema; it was left out.`)
  return isAnnotation
}

/** Whether the value is a regular expression that can be matched in linear time (`schemaPattern`). */
export function isPattern(value: unknown): value is string {
  return typeof value === 'string' && isUsablePattern(value)
}

/** The names in a list, without duplicates; `undefined`, after a warning, if it is not a list. */
export function readNames(value: unknown, path: string, warn: Warn): readonly string[] | undefined {
  const names = Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined
  if (names === undefined) warn(path, `It is ${kindOf(value)} and must be a list of names; it was left out.`)
  else if (Array.isArray(value) && names.length < value.length)
    warn(path, 'Items of this list that are no names were left out.')
  return names && [...new Set(names)]
}
