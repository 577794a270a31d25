import { _, type Ajv, type FuncKeywordDefinition, str } from 'ajv'
import { isNode, UNKNOWN_TYPE } from './read-document.ts'
import { chargeSteps } from './step-limit.ts'

// Replacements for keywords whose ajv implementation may cost more than its schema and value suggest, or fails on a
// member named `valueOf`.

/** Replaces ajv's implementations by those of this file. */
export function replaceKeywords(ajv: Pick<Ajv, 'addKeyword' | 'removeKeyword'>): void {
  for (const keyword of [uniqueItems, maxLength, minLength, constant, enumeration])
    ajv.removeKeyword(String(keyword.keyword)).addKeyword(keyword)
  ajv.addKeyword(unknownTypeKeyword)
}

const unknownTypeKeyword: FuncKeywordDefinition = {
  keyword: UNKNOWN_TYPE,
  schemaType: 'string',
  validate: () => false,
  error: { message: 'cannot be valid, because its schema has a type that JSON Schema does not know' },
}

/**
 * ajv's implementation counts the code points of the whole text. A code point is one or two UTF-16 units, so most lengths
 * can be checked without counting.
 */
const maxLength: FuncKeywordDefinition = {
  keyword: 'maxLength',
  type: 'string',
  schemaType: 'number',
  validate: (limit: number, text: string) =>
    text.length <= limit || (text.length <= 2 * limit && codePoints(text) <= limit),
  error: { message: ({ schema }) => str`must have at most ${schema} characters` },
}

const minLength: FuncKeywordDefinition = {
  keyword: 'minLength',
  type: 'string',
  schemaType: 'number',
  validate: (limit: number, text: string) =>
    text.length >= 2 * limit || (text.length >= limit && codePoints(text) >= limit),
  error: { message: ({ schema }) => str`must have at least ${schema} characters` },
}

function codePoints(text: string): number {
  chargeSteps(text.length / 4)
  let count = 0
  for (const _character of text) count++
  return count
}

/** ajv's implementation compares every item with every other. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isWanted: boolean, items: readonly unknown[]) =>
    !isWanted || new Set(items.map(canonical)).size === items.length,
  error: { message: 'must not have the same item twice' },
}

/** ajv's implementation calls `valueOf` of a value that has such a member. */
const constant: FuncKeywordDefinition = {
  keyword: 'const',
  validate: (wanted: unknown, value: unknown) => isSame(wanted, value),
  error: { message: 'must be the constant', params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}` },
}

const enumeration: FuncKeywordDefinition = {
  keyword: 'enum',
  schemaType: 'array',
  validate: (wanted: readonly unknown[], value: unknown) =>
    wanted.some((candidate) => isSame(candidate, value)),
  error: { message: 'must be listed', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
}

function isSame(wanted: unknown, value: unknown): boolean {
  if (wanted === value) return true
  if (!isNode(wanted) && !Array.isArray(wanted)) return false
  return typeof value === 'object' && value !== null && canonical(wanted) === canonical(value)
}

/** Serializes a JSON value so that equal values give equal texts, independent of the order of members. */
function canonical(value: unknown): string {
  chargeSteps(1)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isNode(value)) return JSON.stringify(value) ?? 'null'
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}
