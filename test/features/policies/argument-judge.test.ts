import { describe, expect, test } from 'vitest'
import { judgeArguments } from '../../../src/features/policies/argument-judge.ts'
import { hasPlace } from '../../../src/features/policies/argument-schema.ts'
import type { ArgumentRule } from '../../../src/features/policies/domain.ts'
import { judgeToolArguments } from '../../../src/features/policies/tool-arguments.ts'

/** Whether the condition holds: for rules that restrict, and for rules that allow. */
async function holds(rule: ArgumentRule, input: unknown) {
  const conditions = (['any', 'all'] as const).map((values) => ({ rules: [rule], values }))
  return judgeToolArguments({ conditions, input }, 'proj_1')
}

const outside: ArgumentRule = { at: '/to', as: 'email', not: { domains: ['acme.com'] } }
const inside: ArgumentRule = { at: '/to', as: 'email', domains: ['acme.com'] }

describe('addresses', () => {
  test.each<[input: unknown, isOutside: boolean, isInside: boolean]>([
    ['a@acme.com', false, true],
    ['a@acme.com, B <b@ACME.COM>', false, true],
    ['a@acme.com, e@evil.com', true, false],
    ['"a@acme.com" <e@evil.com>', true, false],
    ['e@evil.com (a@acme.com)', true, false],
    ['a@acme.com\n@evil', true, false],
    ['user@acme.com@evil.com', true, false],
    ['a@acme.com.evil.com', true, false],
    ['a@mail.acme.com', true, false],
    ['not an address', true, false],
    [['a@acme.com'], true, false],
    [[['e@evil.com']], true, false],
    [{ address: 'a@acme.com' }, true, false],
    [5, true, false],
    [undefined, true, false],
    [null, true, false],
    ['', true, false],
  ])('%j: outside %s, inside %s', async (to, isOutside, isInside) => {
    const input = to === undefined ? {} : { to }
    expect((await holds(outside, input))?.[0]).toBe(isOutside)
    expect((await holds(inside, input))?.[1]).toBe(isInside)
  })

  test('that cannot be read count against the call: a rule that restricts matches, one that allows does not', async () => {
    const evil: ArgumentRule = { at: '/to', as: 'email', domains: ['evil.com'] }
    const notEvil: ArgumentRule = { at: '/to', as: 'email', not: { domains: ['evil.com'] } }
    for (const to of ['<e@evil.com', ['e@evil.com'], 'e@evil.com\n']) {
      expect(await holds(evil, { to })).toEqual([true, false])
      expect(await holds(notEvil, { to })).toEqual([true, false])
    }
  })

  test('are compared as a whole by one_of and matches', async () => {
    const ceo: ArgumentRule = { at: '/to', as: 'email', oneOf: ['CEO <ceo@acme.com>'] }
    expect(await holds(ceo, { to: 'x@acme.com, "CEO"@Acme.com' })).toEqual([true, false])
    expect(await holds(ceo, { to: 'ceo@acme.com' })).toEqual([true, true])
    const pattern: ArgumentRule = { at: '/to', as: 'email', matches: 'a+@acme\\.com' }
    expect(await holds(pattern, { to: 'AA@acme.com, b@acme.com' })).toEqual([true, false])
  })
})

describe('values', () => {
  test.each<[string, ArgumentRule, unknown, [any: boolean, all: boolean]]>([
    ['one of', { at: '/a', oneOf: ['x', 5, true, null] }, { a: 'x' }, [true, true]],
    ['a number is its text', { at: '/a', oneOf: [5] }, { a: '5' }, [true, true]],
    ['a text is its number', { at: '/a', oneOf: ['5'] }, { a: 5 }, [true, true]],
    ['null where it is named', { at: '/a', oneOf: [null] }, { a: null }, [true, true]],
    ['null is missing', { at: '/a', oneOf: ['x'] }, { a: null }, [false, false]],
    ['another', { at: '/a', oneOf: ['x'] }, { a: 'X' }, [false, false]],
    ['an object is none of texts', { at: '/a', oneOf: ['x'] }, { a: { x: 1 } }, [true, false]],
    ['the whole text matches', { at: '/a', matches: 'a.c' }, { a: 'abc' }, [true, true]],
    ['not a part of it', { at: '/a', matches: 'a.c' }, { a: 'xabc' }, [false, false]],
    ['nor a line of it', { at: '/a', matches: 'a.c' }, { a: 'abc\nx' }, [false, false]],
    ['a number by its text', { at: '/a', matches: '[0-9]+' }, { a: 12 }, [true, true]],
    ['missing', { at: '/a', matches: '.*' }, {}, [false, false]],
    ['missing that matches', { at: '/a', matches: 'x', missing: 'match' }, {}, [true, true]],
    ['missing of not', { at: '/a', not: { matches: 'x' } }, {}, [true, true]],
    [
      'missing of not that does not',
      { at: '/a', not: { matches: 'x' }, missing: 'no_match' },
      {},
      [false, false],
    ],
    ['any item, all items', { at: '/a/*', oneOf: ['x'] }, { a: ['x', 'y'] }, [true, false]],
    ['all items', { at: '/a/*', oneOf: ['x'] }, { a: ['x', 'x'] }, [true, true]],
    ['no items', { at: '/a/*', oneOf: ['x'] }, { a: [] }, [false, false]],
    ['a text in place of a list', { at: '/a/*', oneOf: ['x'] }, { a: 'y' }, [true, false]],
    [
      'members below items',
      { at: '/a/*/b', oneOf: ['x'] },
      { a: [{ b: 'y' }, { b: 'x' }, {}] },
      [true, false],
    ],
    ['members of an object', { at: '/a/*', oneOf: ['x'] }, { a: { b: 'x' } }, [true, true]],
    ['the second item', { at: '/a/1', oneOf: ['x'] }, { a: ['y', 'x'] }, [true, true]],
    ['no name of a list', { at: '/a/length', oneOf: [1] }, { a: ['y'] }, [true, false]],
    ['an escaped name', { at: '/a~1b~0', oneOf: ['x'] }, { 'a/b~': 'x' }, [true, true]],
    ['no inherited member', { at: '/constructor/name', oneOf: ['Object'] }, {}, [false, false]],
    [
      '__proto__ is a name',
      { at: '/__proto__', oneOf: ['x'] },
      JSON.parse('{"__proto__": "x"}'),
      [true, true],
    ],
    [
      'the last of two equal names',
      { at: '/a', oneOf: ['x'] },
      JSON.parse('{"a": "y", "a": "x"}'),
      [true, true],
    ],
    ['a schema', { at: '/a', schema: { type: 'number', minimum: 1000 } }, { a: 1000 }, [true, true]],
    [
      'a schema that does not fit',
      { at: '/a', schema: { type: 'number', minimum: 1000 } },
      { a: '1000' },
      [false, false],
    ],
    ['not a schema', { at: '/a', not: { schema: { type: 'number', maximum: 9 } } }, { a: '5' }, [true, true]],
    [
      'a host',
      { at: '/a', as: 'url', domains: ['acme.com'] },
      { a: 'https://acme.com@evil.com' },
      [false, false],
    ],
    [
      'a host that cannot be read',
      { at: '/a', as: 'url', domains: ['acme.com'] },
      { a: 'https:\\acme.com' },
      [true, false],
    ],
    [
      'a host by one_of',
      { at: '/a', as: 'url', oneOf: ['Acme.com'] },
      { a: 'https://acme.com/x' },
      [true, true],
    ],
  ])('%s', async (_, rule, input, verdicts) => {
    expect(await holds(rule, input)).toEqual(verdicts)
  })

  test('all conditions of a policy hold', async () => {
    const rules: ArgumentRule[] = [
      { at: '/a', oneOf: [1] },
      { at: '/b', oneOf: [2] },
    ]
    const judge = (input: object) =>
      judgeToolArguments({ conditions: [{ rules, values: 'any' }], input }, 'proj_1')
    expect([await judge({ a: 1, b: 2 }), await judge({ a: 1, b: 3 })]).toEqual([[true], [false]])
  })
})

describe('work', () => {
  const slow: ArgumentRule = { at: '/a', matches: '(a|b|ab)*c' }

  test('that is too much for the event loop is done in a thread', async () => {
    const input = { a: 'ab'.repeat(100_000) }
    const conditions = [{ rules: [slow], values: 'any' as const }]
    const steps = { maxSteps: 100_000, validate: () => true }
    expect(judgeArguments({ conditions, input }, steps)).toBeUndefined()
    expect(await judgeToolArguments({ conditions, input }, 'proj_1')).toEqual([false])
  })

  test('that is too much for a thread is not decided', async () => {
    const conditions = Array.from({ length: 200 }, () => ({ rules: [slow], values: 'any' as const }))
    expect(
      await judgeToolArguments({ conditions, input: { a: 'ab'.repeat(100_000) } }, 'proj_1'),
    ).toBeUndefined()
  })

  test('with very many values is bounded', () => {
    const rule: ArgumentRule = { at: '/a/*/*/*', oneOf: ['x'] }
    const list = Array(1_000).fill(Array(1_000).fill(['y']))
    const started = performance.now()
    const steps = { maxSteps: 100_000, validate: () => true }
    expect(
      judgeArguments({ conditions: [{ rules: [rule], values: 'any' }], input: { a: list } }, steps),
    ).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(30_000)
  })
})

describe('a place in a schema', () => {
  const mail = {
    type: 'object',
    properties: {
      to: { type: 'string' },
      cc: { type: 'array', items: { $ref: '#/$defs/person' } },
      free: { type: 'object' },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      either: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'object', properties: { x: true } }] },
    },
    $defs: {
      person: { type: 'object', properties: { mail: { type: 'string' }, boss: { $ref: '#/$defs/person' } } },
    },
  }
  test.each([
    ['/to', true],
    ['/too', false],
    ['/to/x', false],
    ['/cc/*/mail', true],
    ['/cc/*/boss/boss/mail', true],
    ['/cc/0/mail', true],
    ['/cc/*/male', false],
    ['/free/a/b', true],
    ['/map/x', true],
    ['/map/*', true],
    ['/map/x/y', false],
    ['/either/*', true],
    ['/pair/1/x', true],
    ['/pair/1/y', false],
    ['/__proto__', false],
    ['/constructor', false],
  ])('%s: %s', (pointer, isThere) => {
    expect(hasPlace(mail, pointer)).toBe(isThere)
  })
  test('is in one that says nothing, and not in one that says it has none', () => {
    expect(hasPlace({}, '/a')).toBe(true)
    expect(hasPlace({ type: 'object', properties: {}, additionalProperties: true }, '/a')).toBe(true)
    expect(hasPlace({ type: 'object', properties: {} }, '/a')).toBe(false)
    expect(hasPlace({ type: 'object', additionalProperties: false }, '/a')).toBe(false)
    expect(hasPlace({ $ref: '#' }, '/a')).toBe(false)
  })
})
