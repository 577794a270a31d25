import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SchemaFault } from '../../src/tools/json-schema/schema-fault.ts'
import { validate } from '../../src/tools/json-schema/schema-validator.ts'

// What is done to a schema before ajv has it, against ajv on the unchanged schema.

const names = fc.constantFrom('a', 'b', 'c')
const value = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, 1, 1.5, 12, '', 'a', 'bb', '😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value

const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'array', 'object', 'null')
const small = fc.nat({ max: 3 })

function schemas(
  places: readonly string[],
  more: (schema: fc.Arbitrary<unknown>) => Record<string, fc.Arbitrary<unknown>>,
  { isReferenceAlone }: { readonly isReferenceAlone: boolean },
) {
  return fc.letrec((tie) => {
    const schema = tie('schema')
    const list = fc.array(schema, { minLength: 1, maxLength: 2 })
    const map = fc.dictionary(names, schema, { maxKeys: 2 })
    const keywords: Record<string, fc.Arbitrary<unknown>> = {
      ...{ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })), const: value },
      ...{
        enum: fc.array(value, { minLength: 1, maxLength: 3 }),
        minimum: small,
        multipleOf: fc.constant(0.5),
      },
      ...{ minLength: small, maxLength: small, pattern: fc.constantFrom('^a', 'b$', '.') },
      ...{
        minItems: small,
        uniqueItems: fc.boolean(),
        contains: schema,
        required: fc.uniqueArray(names, { maxLength: 2 }),
      },
      ...{
        properties: map,
        additionalProperties: schema,
        patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), schema),
      },
      ...{ propertyNames: schema, maxProperties: small, allOf: list, anyOf: list, oneOf: list, not: schema },
      ...Object.fromEntries(['if', 'then', 'else'].map((keyword) => [keyword, schema])),
      ...{ $ref: fc.constantFrom(...places), ...more(schema) },
    }
    // few keywords at a time: otherwise nothing is ever valid
    const some = fc.subarray(Object.keys(keywords), {
      minLength: 1,
      maxLength: 3,
    })
    const object = some.chain((chosen) =>
      fc.record(
        Object.fromEntries(chosen.map((keyword) => [keyword, keywords[keyword] ?? fc.constant(null)])),
      ),
    )
    // ajv looks at a `type` beside a reference in draft-07 too, which ignores it
    const read = ({ $ref, ...more }: Record<string, unknown>) =>
      $ref !== undefined && isReferenceAlone ? { $ref } : { ...more, ...($ref !== undefined && { $ref }) }
    return { schema: fc.oneof({ maxDepth: 4, withCrossShrink: true }, fc.boolean(), object.map(read)) }
  }).schema
}

const options = {
  strict: false,
  ownProperties: true,
  logger: false,
  validateSchema: false,
  inlineRefs: false,
} as const

/** Holds each verdict on random values against ajv's; schemas that are refused because they never end are passed over. */
function holdAgainst(
  ajv: () => Ajv | Ajv2020,
  schema: fc.Arbitrary<unknown>,
  where: '$defs' | 'definitions',
  $schema: string,
) {
  let judged = 0
  const verdicts = new Set<boolean>()
  fc.assert(
    fc.property(
      schema,
      schema,
      schema,
      fc.array(value, { minLength: 3, maxLength: 6 }),
      (root, one, two, values) => {
        const document = { $schema, [where]: { one, two }, allOf: [root] }
        let isValid: ReturnType<Ajv['compile']> | undefined
        for (const each of values) {
          try {
            const { valid } = validate(document, each)
            isValid ??= ajv().compile(document)
            expect(valid).toBe(isValid(each))
            verdicts.add(valid)
            judged++
          } catch (error) {
            if (!(error instanceof SchemaFault && error.message.includes('refers to itself'))) throw error
          }
        }
      },
    ),
  )
  expect(judged).toBeGreaterThan(100)
  expect(verdicts.size).toBe(2)
}

describe('the validator judges as ajv does', () => {
  test('2020-12', () => {
    const schema = schemas(
      ['#/$defs/one', '#/$defs/two'],
      (inner) => ({
        ...{ items: inner, prefixItems: fc.array(inner, { minLength: 1, maxLength: 2 }) },
        ...{ minContains: small, dependentSchemas: fc.dictionary(names, inner, { maxKeys: 1 }) },
      }),
      { isReferenceAlone: false },
    )
    const ajv = () => {
      const made = new Ajv2020(options)
      made.opts.unevaluated = false // its code for what is not asked here trips at times
      return made
    }
    holdAgainst(ajv, schema, '$defs', 'https://json-schema.org/draft/2020-12/schema')
  })

  test('draft-07', () => {
    const schema = schemas(
      ['#/definitions/one', '#/definitions/two'],
      (inner) => ({
        ...{
          items: fc.oneof(inner, fc.array(inner, { minLength: 1, maxLength: 2 })),
          additionalItems: inner,
        },
        dependencies: fc.dictionary(names, fc.oneof(inner, fc.uniqueArray(names)), { maxKeys: 1 }),
      }),
      { isReferenceAlone: true },
    )
    holdAgainst(() => new Ajv(options), schema, 'definitions', 'http://json-schema.org/draft-07/schema#')
  })
})
