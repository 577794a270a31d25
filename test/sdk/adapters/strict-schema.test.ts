import { describe, expect, test } from 'vitest'
import type { ObjectSchema } from '../../../src/sdk/adapters/list-tools.ts'
import { toStrictSchema, withoutAddedNulls } from '../../../src/sdk/adapters/strict-schema.ts'

function schema(properties: Record<string, unknown>, more: Record<string, unknown> = {}): ObjectSchema {
  return { type: 'object', properties, ...more }
}

const PERSON = {
  type: 'object',
  properties: { name: { type: 'string' }, nick: { type: 'string', minLength: 1 } },
  required: ['name'],
}

describe('toStrictSchema', () => {
  test('requires every property, lets optional ones be null, and closes every object', () => {
    expect(
      toStrictSchema(schema({ people: { type: 'array', items: PERSON } }, { required: ['people'] })),
    ).toEqual({
      type: 'object',
      required: ['people'],
      additionalProperties: false,
      properties: {
        people: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name', 'nick'],
            additionalProperties: false,
            properties: { name: { type: 'string' }, nick: { type: ['string', 'null'] } },
          },
        },
      },
    })
  })

  test('an optional enum or reference gets null as an alternative', () => {
    const strict = toStrictSchema(
      schema(
        { size: { type: 'string', enum: ['s', 'l'] }, boss: { $ref: '#/$defs/p' } },
        { $defs: { p: PERSON } },
      ),
    )
    expect(strict?.properties).toEqual({
      size: { anyOf: [{ type: 'string', enum: ['s', 'l'] }, { type: 'null' }] },
      boss: { anyOf: [{ $ref: '#/$defs/p' }, { type: 'null' }] },
    })
  })

  test.each([
    ['names no property', schema({})],
    ['has a free-form object', schema({ any: { type: 'object' } })],
    ['takes further properties', schema({ a: { type: 'string' } }, { additionalProperties: true })],
    ['has a value of any type', schema({ any: {} })],
    ['has patterns of names', schema({ a: { type: 'string' } }, { patternProperties: { x: {} } })],
    ['chooses between objects', schema({ a: { anyOf: [PERSON, { type: 'object', properties: {} }] } })],
    ['excludes values', schema({ a: { type: 'string', not: { const: 'x' } } })],
  ])('undefined for a schema that %s', (_, one) => {
    expect(toStrictSchema(one)).toBeUndefined()
  })
})

describe('withoutAddedNulls', () => {
  test('takes out null where the property is optional and does not take it, at every depth', () => {
    const of = schema(
      {
        people: { type: 'array', items: { $ref: '#/$defs/p' } },
        boss: { anyOf: [PERSON, { type: 'null' }] },
        size: { type: 'string' },
        note: { type: ['string', 'null'] },
        must: { type: 'string' },
      },
      { required: ['must'], $defs: { p: PERSON } },
    )
    const sent = {
      people: [{ name: 'Ada', nick: null }],
      boss: { name: 'Bob', nick: null },
      size: null,
      note: null,
      must: null,
    }
    expect(withoutAddedNulls(of, sent)).toEqual({
      people: [{ name: 'Ada' }],
      boss: { name: 'Bob' },
      note: null,
      must: null,
    })
  })

  test('null is kept where a reference leads to a schema that takes it', () => {
    const $defs = { note: { anyOf: [{ type: 'string' }, { type: 'null' }] } }
    const of = schema({ note: { $ref: '#/$defs/note' } }, { $defs })
    expect(withoutAddedNulls(of, { note: null })).toEqual({ note: null })
  })

  test.each([
    ['itself', { a: { $ref: '#/$defs/a' } }],
    ['another one that leads back', { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }],
    ['itself in a choice', { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'string' }, { type: 'number' }] } }],
  ])('ends for a definition that is %s', (_, $defs) => {
    const of = schema({ one: { $ref: '#/$defs/a' }, other: { $ref: '#/$defs/a' } }, { $defs })
    expect(withoutAddedNulls(of, { one: 'x', other: null })).toEqual({ one: 'x' })
  })
})
