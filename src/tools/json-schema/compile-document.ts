import {
  _,
  Ajv,
  type CodeKeywordDefinition,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  str,
} from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { COST, COST_OF_MEMBERS, flatten } from './flatten.ts'
import { isNode, type SchemaDocument, UNKNOWN_TYPE } from './read-document.ts'
import { SchemaFault } from './schema-fault.ts'

export type Outcome =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'invalid'; readonly errors: readonly ErrorObject[] }
  /** Nothing is known: the value nests too deeply, or its check takes more than `MAX_STEPS`. */
  | { readonly outcome: 'too_deep' | 'too_long' }

/**
 * What one check may cost. A step takes 10 to 60 ns: a schema whose parts are applied over and over to the same value, or
 * a pattern that looks at a long text, holds the process for well under a second, and an honest one never gets near.
 */
const MAX_STEPS = 10_000_000

class TooLong extends Error {}

// one check runs at a time and to its end, so there is one count
let stepsLeft = 0

function charge(steps: number): void {
  stepsLeft -= steps
  if (stepsLeft < 0) throw new TooLong()
}

function chargeForMembers(value: unknown, steps: number): void {
  if (isNode(value)) charge(steps * Object.keys(value).length)
}

const cost = (keyword: string, spend: typeof chargeForMembers): CodeKeywordDefinition => ({
  keyword,
  schemaType: 'number',
  before: '$ref',
  code({ gen, data, schema }) {
    gen.code(_`${gen.scopeValue('func', { ref: spend })}(${data}, ${schema})`)
  },
})

const unknownType: FuncKeywordDefinition = {
  keyword: UNKNOWN_TYPE,
  schemaType: 'string',
  validate: () => false,
  error: { message: 'is to be of a type that JSON Schema does not have' },
}

/** ajv's own counts the code points of every text, to its end. A code point is one UTF-16 unit or two. */
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
  charge(text.length / 4)
  let count = 0
  for (const _character of text) count++
  return count
}

/** ajv's own compares each item with each. */
const uniqueItems: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  validate: (isWanted: boolean, items: readonly unknown[]) =>
    !isWanted || new Set(items.map(canonical)).size === items.length,
  error: { message: 'must not have the same item twice' },
}

/** ajv's own calls the `valueOf` of a value that has such a member. */
const constant: FuncKeywordDefinition = {
  keyword: 'const',
  validate: (wanted: unknown, value: unknown) => isSame(wanted, value),
  error: { message: 'must be the constant', params: ({ schemaCode }) => _`{allowedValue: ${schemaCode}}` },
}

const enumeration: FuncKeywordDefinition = {
  keyword: 'enum',
  schemaType: 'array',
  validate: (wanted: readonly unknown[], value: unknown) => wanted.some((one) => isSame(one, value)),
  error: { message: 'must be listed', params: ({ schemaCode }) => _`{allowedValues: ${schemaCode}}` },
}

function isSame(wanted: unknown, value: unknown): boolean {
  if (wanted === value) return true
  if (!isNode(wanted) && !Array.isArray(wanted)) return false
  return typeof value === 'object' && value !== null && canonical(wanted) === canonical(value)
}

/** The same text for the same JSON value, in whatever order its members are. */
function canonical(value: unknown): string {
  charge(1)
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isNode(value)) return JSON.stringify(value) ?? 'null'
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join()}}`
}

/**
 * Makes a validator of a document that was read and checked. It changes neither schema nor value. Each has an ajv of its
 * own, since ajv keeps all it ever compiled. Throws `SchemaFault` when its code cannot be made.
 */
export function compileDocument(document: SchemaDocument): (value: unknown) => Outcome {
  const options: Options = {
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    inlineRefs: false,
    ownProperties: true, // `toString` is no member of `{}`
    multipleOfPrecision: 9, // 0.07 is a multiple of 0.01
    logger: false,
    code: { optimize: false, regExp: Object.assign(patternsOf(document), { code: 'patternsOf' }) },
  }
  const ajv = document.dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
  for (const keyword of [uniqueItems, maxLength, minLength, constant, enumeration])
    ajv.removeKeyword(String(keyword.keyword)).addKeyword(keyword)
  ajv.addKeyword(unknownType).addKeyword(cost(COST, (_value, steps) => charge(steps)))
  ajv.addKeyword(cost(COST_OF_MEMBERS, chargeForMembers))
  const isValid = compiled(() => ajv.compile(flatten(document)))
  return (value) => {
    stepsLeft = MAX_STEPS
    try {
      if (isValid(value)) return { outcome: 'valid' }
      return { outcome: 'invalid', errors: isValid.errors ?? [] }
    } catch (error) {
      if (error instanceof TooLong) return { outcome: 'too_long' }
      if (error instanceof RangeError) return { outcome: 'too_deep' } // the stack's end
      throw error
    } finally {
      isValid.errors = null // they hold what was checked
    }
  }
}

function patternsOf({ patterns }: SchemaDocument) {
  return (source: string) => {
    const pattern = patterns.get(source)
    if (pattern === undefined) throw new Error('a pattern was not read')
    return {
      test: (text: string): boolean => {
        charge((text.length * pattern.size) / 2)
        return pattern.test(text)
      },
      toString: () => source, // ajv knows it by this
    }
  }
}

function compiled<Validator>(compile: () => Validator): Validator {
  try {
    return compile()
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new SchemaFault('invalid_schema', 'The schema is too large to be used.')
  }
}
