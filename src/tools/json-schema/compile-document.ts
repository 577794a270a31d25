import { _, Ajv, type CodeKeywordDefinition, type ErrorObject, type Options } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { COST, COST_OF_MEMBERS, flatten } from './flatten.ts'
import { isNode, type SchemaDocument } from './read-document.ts'
import { replaceKeywords } from './replaced-keywords.ts'
import { SchemaFault } from './schema-fault.ts'
import { chargeSteps, type UncheckedReason, withStepLimit } from './step-limit.ts'

export type CheckOutcome =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'invalid'; readonly errors: readonly ErrorObject[] }
  /** The value could not be checked: it nests too deeply, the check takes too many steps, or ajv fails. */
  | { readonly outcome: UncheckedReason }

function chargeForMembers(value: unknown, steps: number): void {
  if (isNode(value)) chargeSteps(steps * Object.keys(value).length)
}

/** A keyword that calls `charge` with the value and the keyword's number before other keywords are applied. */
const costKeyword = (keyword: string, charge: typeof chargeForMembers): CodeKeywordDefinition => ({
  keyword,
  schemaType: 'number',
  before: '$ref',
  code({ gen, data, schema }) {
    gen.code(_`${gen.scopeValue('func', { ref: charge })}(${data}, ${schema})`)
  },
})

/**
 * Compiles a document that was read and checked into a validator, which changes neither schema nor value. Each
 * validator has its own ajv instance, because ajv keeps everything it compiles. Throws `SchemaFault` when the code
 * cannot be generated.
 */
export function compileDocument(
  document: SchemaDocument,
): (value: unknown, maxSteps?: number) => CheckOutcome {
  const options: Options = {
    strict: false,
    meta: false,
    validateSchema: false,
    validateFormats: false,
    inlineRefs: false,
    loopRequired: 20, // ajv’s code for shorter lists has a test for each name
    ownProperties: true, // inherited members such as `toString` do not count
    multipleOfPrecision: 9, // 0.07 is a multiple of 0.01
    logger: false,
    code: { optimize: false, regExp: Object.assign(patternsOf(document), { code: 'patternsOf' }) },
  }
  const ajv = document.dialect === '2020-12' ? new Ajv2020(options) : new Ajv(options)
  // set only for schemas with these keywords, because ajv's tracking for them has bugs that affect other schemas
  ajv.opts.unevaluated = document.nodes.some(
    (node) => 'unevaluatedProperties' in node || 'unevaluatedItems' in node,
  )
  replaceKeywords(ajv)
  ajv.addKeyword(costKeyword(COST, (_value, steps) => chargeSteps(steps)))
  ajv.addKeyword(costKeyword(COST_OF_MEMBERS, chargeForMembers))
  const isValid = compiled(() => ajv.compile(flatten(document)))
  return (value, maxSteps) => {
    const result = withStepLimit(() => isValid(value), maxSteps)
    const errors = isValid.errors ?? []
    isValid.errors = null // errors hold parts of the checked value
    if (result === true) return { outcome: 'valid' }
    return result === false ? { outcome: 'invalid', errors } : { outcome: result }
  }
}

function patternsOf({ patterns }: SchemaDocument) {
  return (source: string) => {
    const pattern = patterns.get(source)
    if (pattern === undefined) throw new Error('a pattern was not read')
    return {
      test: (text: string): boolean => {
        chargeSteps((text.length * pattern.size) / 2)
        return pattern.test(text)
      },
      toString: () => source, // ajv identifies the pattern by its source
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
