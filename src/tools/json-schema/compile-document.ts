import { _, Ajv, type CodeKeywordDefinition, type ErrorObject, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { COST, COST_OF_MEMBERS, flatten } from './flatten.ts'
import { useOwnKeywords } from './own-keywords.ts'
import { isNode, type SchemaDocument } from './read-document.ts'
import { SchemaFault } from './schema-fault.ts'
import { charge, type Unknown, withinSteps } from './steps.ts'

export type Outcome =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'invalid'; readonly errors: readonly ErrorObject[] }
  /** Nothing is known: the value nests too deeply, its check takes too many steps, or ajv fails at it. */
  | { readonly outcome: Unknown }

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
  // what it does for these keywords alone has faults of its own
  ajv.opts.unevaluated = document.nodes.some(
    (node) => 'unevaluatedProperties' in node || 'unevaluatedItems' in node,
  )
  useOwnKeywords(ajv)
  ajv.addKeyword(cost(COST, (_value, steps) => charge(steps)))
  ajv.addKeyword(cost(COST_OF_MEMBERS, chargeForMembers))
  const isValid = compiled(() => ajv.compile(flatten(document)))
  return (value) => {
    const isSo = withinSteps(() => isValid(value))
    const errors = isValid.errors ?? []
    isValid.errors = null // they hold what was checked
    if (isSo === true) return { outcome: 'valid' }
    return isSo === false ? { outcome: 'invalid', errors } : { outcome: isSo }
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
