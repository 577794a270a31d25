import { describe, expect, test } from 'vitest'
import { SchemaFault } from '../../src/tools/json-schema/schema-fault.ts'
import {
  checkSchema,
  validate,
  validateInput,
  validateOutput,
} from '../../src/tools/json-schema/schema-validator.ts'
import { violationSentence } from '../../src/tools/json-schema/violation.ts'

const DRAFT_07 = 'http://json-schema.org/draft-07/schema#'
const bytes = (json: string) => new TextEncoder().encode(json)

/** `valid`, the sentence about the violation, or the kind of the schema's fault. */
function judge(schema: unknown, value: unknown): string {
  try {
    const validity = validate(schema, value)
    return validity.valid ? 'valid' : violationSentence('input', validity)
  } catch (error) {
    if (error instanceof SchemaFault) return error.kind
    throw error
  }
}

function faultOf(schema: unknown): string {
  try {
    checkSchema(schema)
    return 'none'
  } catch (error) {
    if (error instanceof SchemaFault) return error.kind
    throw error
  }
}

describe('values, as the original’s tests of its validator have them', () => {
  const path = {
    type: 'object',
    properties: { path: { type: 'string', description: 'File path' } },
    required: ['path'],
    additionalProperties: false,
  }
  const encoding = {
    type: 'object',
    properties: { encoding: { type: 'string', enum: ['utf8', 'ascii'], default: 'utf8' } },
    additionalProperties: false,
  }
  const item = {
    type: 'object',
    properties: { id: { type: 'string' }, value: { type: 'number' } },
    required: ['id'],
    additionalProperties: false,
  }
  const items = { type: 'object', properties: { items: { type: 'array', items: item } } }
  const mode = {
    oneOf: [
      { type: 'string', enum: ['fast', 'safe'] },
      { type: 'number', minimum: 1, maximum: 10 },
    ],
  }
  const variants = { type: 'object', properties: { mode } }
  const none = { type: 'object', additionalProperties: false }
  const local = {
    $defs: { name: { type: 'string' } },
    properties: { name: { $ref: '#/$defs/name' } },
  }

  test.each<[upstream: string, schema: unknown, value: unknown, verdict: string]>([
    ['BasicTypes', { type: 'string' }, 'a', 'valid'],
    ['BasicTypes', { type: 'string' }, 1, 'input: must be string'],
    ['BasicTypes', { type: 'number' }, 1.5, 'valid'],
    ['BasicTypes', { type: 'number' }, '1.5', 'input: must be number'],
    ['BasicTypes', { type: 'integer' }, JSON.parse('1.0'), 'valid'],
    ['BasicTypes', { type: 'integer' }, 1.5, 'input: must be integer'],
    ['BasicTypes', { type: 'boolean' }, false, 'valid'],
    ['BasicTypes', { type: 'boolean' }, 0, 'input: must be boolean'],
    ['BasicTypes', { type: 'null' }, null, 'valid'],
    ['BasicTypes', { type: 'array' }, {}, 'input: must be array'],
    ['BasicTypes', { type: 'object' }, {}, 'valid'],
    ['BasicTypes', { type: 'object' }, null, 'input: must be object'],
    ['BasicTypes', { type: 'object' }, [], 'input: must be object'],
    ['BasicTypes', { type: ['string', 'null'] }, null, 'valid'],
    ['ObjectProperties', path, { path: '/tmp' }, 'valid'],
    ['ObjectProperties', path, {}, 'input: must have a member "path"'],
    ['ObjectProperties', path, { path: 1 }, 'input.path: must be string'],
    ['ObjectProperties', path, { path: '/', more: 1 }, 'input: must not have a member "more"'],
    ['NoParameters', none, {}, 'valid'],
    ['NoParameters', none, { a: 1 }, 'input: must not have a member "a"'],
    ['NoParameters', { type: 'object' }, { a: 1 }, 'valid'],
    ['LocalRef', local, { name: 'Ada' }, 'valid'],
    ['LocalRef', local, { name: 1 }, 'input.name: must be string'],
    ['RawMessageSchema', bytes('{"type":"string"}'), 1, 'input: must be string'],
    ['RawMessageSchema', bytes('true'), 1, 'valid'],
    ['seed: enum with a default', encoding, {}, 'valid'],
    [
      'seed: enum with a default',
      encoding,
      { encoding: 'x' },
      'input.encoding: must be one of "utf8", "ascii"',
    ],
    [
      'seed: objects in an array',
      items,
      { items: [{ id: 'a' }, { id: 2 }] },
      'input.items[1].id: must be string',
    ],
    ['seed: objects in an array', items, { items: [{ id: 'a', value: 1 }] }, 'valid'],
    ['seed: one of', variants, { mode: 'fast' }, 'valid'],
    ['seed: one of', variants, { mode: 10 }, 'valid'],
    ['seed: one of', variants, { mode: 11 }, 'input.mode: must be <= 10'],
    ['seed: one of', variants, { mode: 'slow' }, 'input.mode: must be one of "fast", "safe"'],
    ['seed: one of', variants, { mode: true }, 'input.mode: must be string or number'],
    ['constants', { const: { a: [1, null], b: {} } }, { b: {}, a: [1, null] }, 'valid'],
    ['constants', { const: { a: 1 } }, { a: 2 }, 'input: must be {"a":1}'],
    ['constants', { const: [1] }, { 0: 1 }, 'input: must be [1]'],
    ['members by any name', { $schema: DRAFT_07, enum: [{}, { valueOf: 1 }] }, { valueOf: 1 }, 'valid'],
    ['members by any name', { enum: [{}] }, { valueOf: 1 }, 'input: must be one of {}'],
    ['members by any name', { enum: [{}] }, { constructor: 1, toString: 1 }, 'input: must be one of {}'],
    ['an enum with a value twice', { $schema: DRAFT_07, enum: ['a', 'a'] }, 'a', 'valid'],
    ['true', true, 1, 'valid'],
    ['false', false, 1, 'input: must not be there'],
    ['lengths in code points', { maxLength: 1, minLength: 1 }, '😀', 'valid'],
    ['lengths in code points', { maxLength: 3, minLength: 3 }, 'a😀b', 'valid'],
    ['lengths in code points', { minLength: 2 }, '😀', 'input: must have at least 2 characters'],
    ['lengths in code points', { minLength: 2 }, 'a', 'input: must have at least 2 characters'],
    ['lengths in code points', { maxLength: 1 }, 'e\u0301', 'input: must have at most 1 characters'],
    ['multiples that binary cannot say', { multipleOf: 0.01 }, 0.07, 'valid'],
    ['multiples that binary cannot say', { multipleOf: 0.01 }, 0.075, 'input: must be multiple of 0.01'],
    [
      'inherited names are no members',
      { required: ['toString'] },
      {},
      'input: must have a member "toString"',
    ],
    ['inherited names are no members', { properties: { constructor: { type: 'string' } } }, {}, 'valid'],
    ['members by any name', none, JSON.parse('{"__proto__":1}'), 'input: must not have a member "__proto__"'],
    [
      'names that need quotes',
      { additionalProperties: false },
      { 'a b': 1 },
      'input: must not have a member "a b"',
    ],
    [
      'names that need quotes',
      { additionalProperties: { properties: { 'a/b': { type: 'null' } } } },
      { '~ x': { 'a/b': 1 } },
      'input["~ x"]["a/b"]: must be null',
    ],
    [
      'the same item',
      { uniqueItems: true },
      [
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ],
      'input: must not have the same item twice',
    ],
    ['the same item', { uniqueItems: true }, [1, '1', true, [1], { a: 1 }, null], 'valid'],
    [
      'one alternative got further',
      { anyOf: [{ type: 'null' }, item] },
      { id: 1 },
      'input.id: must be string',
    ],
    [
      'conditions',
      JSON.parse('{"if":{"required":["a"]},"then":{"required":["b"]}}'),
      { a: 1 },
      'input: must have a member "b"',
    ],
    ['names', { propertyNames: { pattern: '^a' } }, { b: 1 }, 'input: must not have a member named "b"'],
    ['what is contained', { contains: { type: 'integer' }, minContains: 2 }, ['a', 1, 2], 'valid'],
    ['what is contained', { contains: { type: 'integer' }, maxContains: 1 }, ['a', 1], 'valid'],
  ])('%s: %j with %j: %s', (_, schema, value, verdict) => {
    expect(judge(schema, value)).toBe(verdict)
  })
})

describe('dialects, each by its own rules', () => {
  test.each<[upstream: string, $schema: unknown, fault: string]>([
    ['SchemaDialect: none', undefined, 'none'],
    ['SchemaDialect', null, 'none'],
    ['SchemaDialect: 2020-12', 'https://json-schema.org/draft/2020-12/schema', 'none'],
    ['SchemaDialect: draft-07', DRAFT_07, 'none'],
    ['SchemaDialect: draft-07 without #', 'http://json-schema.org/draft-07/schema', 'none'],
    ['SchemaDialect: draft-04', 'http://json-schema.org/draft-04/schema#', 'unsupported_schema'],
    ['SchemaDialect: draft-06', 'http://json-schema.org/draft-06/schema#', 'unsupported_schema'],
    ['SchemaDialect: 2019-09', 'https://json-schema.org/draft/2019-09/schema', 'unsupported_schema'],
    ['draft-07 by https', 'https://json-schema.org/draft-07/schema#', 'unsupported_schema'],
    ['2020-12 with #', 'https://json-schema.org/draft/2020-12/schema#', 'unsupported_schema'],
    ['a part of 2020-12', 'https://json-schema.org/draft/2020-12/meta/core', 'unsupported_schema'],
    ['one nobody knows', 'https://example.com/dialect', 'unsupported_schema'],
    ['no URI', 7, 'invalid_schema'],
  ])('%s: %j: %s', (_, $schema, fault) => {
    expect(faultOf({ $schema, type: 'string' })).toBe(fault)
  })

  test.each(['http://json-schema.org/draft-04/schema#', DRAFT_07, 'https://example.com/dialect', 7])(
    'a nested $schema of any dialect (%s) is ignored: the whole is of one',
    ($schema) => {
      const tuple = { $schema, items: [{ type: 'string' }] }
      expect(judge({ $schema: DRAFT_07, properties: { a: tuple } }, { a: [1] })).toBe(
        'input.a[0]: must be string',
      )
      expect(faultOf({ properties: { a: tuple } })).toBe('invalid_schema')
      expect(judge({ properties: { a: { $schema, type: 'string' } } }, { a: 'x' })).toBe('valid')
    },
  )

  test('one that is refused is named', () => {
    expect(() => checkSchema({ $schema: 'http://json-schema.org/draft-04/schema#' })).toThrow(
      '"http://json-schema.org/draft-04/schema#" is not a supported dialect',
    )
  })

  test.each<[situation: string, schema: unknown, value: unknown, verdict: string]>([
    [
      'what is said further within is ignored',
      { properties: { a: { $schema: 'x', type: 'null' } } },
      { a: 1 },
      'input.a: must be null',
    ],
    [
      'draft-07: definitions',
      { $schema: DRAFT_07, $ref: '#/definitions/a', definitions: { a: { type: 'string' } } },
      1,
      'input: must be string',
    ],
    [
      'draft-07: a tuple',
      { $schema: DRAFT_07, items: [{ type: 'string' }, { type: 'number' }] },
      ['a', 'b'],
      'input[1]: must be number',
    ],
    [
      'draft-07: more than a tuple',
      { $schema: DRAFT_07, items: [{}], additionalItems: { type: 'null' } },
      [1, 2],
      'input[1]: must be null',
    ],
    [
      'draft-07: names that depend',
      { $schema: DRAFT_07, dependencies: { a: ['b'] } },
      { a: 1 },
      'input: must have a member "b"',
    ],
    [
      'draft-07: schemas that depend',
      { $schema: DRAFT_07, dependencies: { a: { required: ['b'] } } },
      { a: 1 },
      'input: must have a member "b"',
    ],
    [
      'draft-07: what stands beside a reference is ignored',
      {
        $schema: DRAFT_07,
        definitions: { a: {} },
        properties: { x: { $ref: '#/definitions/a', type: 'null' } },
      },
      { x: 1 },
      'valid',
    ],
    [
      'draft-07 does not know prefixItems',
      { $schema: DRAFT_07, prefixItems: [{ type: 'null' }] },
      [1],
      'valid',
    ],
    [
      'draft-07 does not know dependentRequired',
      { $schema: DRAFT_07, dependentRequired: { a: ['b'] } },
      { a: 1 },
      'valid',
    ],
    [
      'draft-07 does not know unevaluatedProperties',
      { $schema: DRAFT_07, unevaluatedProperties: false },
      { a: 1 },
      'valid',
    ],
    [
      'draft-07: a name by $id',
      { $schema: DRAFT_07, definitions: { a: { $id: '#a', type: 'null' } }, items: { $ref: '#a' } },
      [1],
      'input[0]: must be null',
    ],
    [
      '2020-12: what stands beside a reference counts',
      { $defs: { a: {} }, properties: { x: { $ref: '#/$defs/a', type: 'null' } } },
      { x: 1 },
      'input.x: must be null',
    ],
    [
      '2020-12: prefixItems',
      { prefixItems: [{ type: 'null' }], items: false },
      [null, 1],
      'input: must NOT have more than 1 items',
    ],
    ['2020-12 does not know dependencies', { dependencies: { a: ['b'] } }, { a: 1 }, 'valid'],
    ['2020-12 does not know additionalItems', { prefixItems: [{}], additionalItems: false }, [1, 2], 'valid'],
    ['2020-12: a list as items', { items: [{ type: 'string' }] }, ['a'], 'invalid_schema'],
    [
      '2020-12: dependentSchemas',
      { dependentSchemas: { a: { required: ['b'] } } },
      { a: 1 },
      'input: must have a member "b"',
    ],
    [
      '2020-12: unevaluatedProperties',
      {
        allOf: [{ properties: { a: {} } }],
        $ref: '#/$defs/b',
        $defs: { b: { properties: { b: {} } } },
        unevaluatedProperties: false,
      },
      { a: 1, b: 2, c: 3 },
      'input: must not have a member "c"',
    ],
    [
      '2020-12: unevaluatedProperties',
      {
        allOf: [{ properties: { a: {} } }],
        $ref: '#/$defs/b',
        $defs: { b: { properties: { b: {} } } },
        unevaluatedProperties: false,
      },
      { a: 1, b: 2 },
      'valid',
    ],
    [
      '2020-12: definitions are a place as any',
      { definitions: { a: { type: 'null' } }, items: { $ref: '#/definitions/a' } },
      [1],
      'input[0]: must be null',
    ],
  ])('%s (%j)', (_, schema, value, verdict) => {
    expect(judge(schema, value)).toBe(verdict)
  })
})

describe('what is a remark', () => {
  test.each<[remark: string, schema: unknown, value: unknown]>([
    ['format', { format: 'email' }, 'no address'],
    ['contentEncoding', { contentEncoding: 'base64', contentMediaType: 'application/json' }, '{'],
    ['contentSchema', { contentSchema: { type: 'null' } }, '1'],
    ['unknown keywords', { 'x-order': 1, discriminator: { propertyName: 'a' }, id: 'x', example: [] }, 1],
    ['a default of another type', { type: 'string', default: 5 }, 'a'],
    ['title and description of any kind', { title: 5, description: null, deprecated: 'yes' }, 1],
    ['required: null', { required: null, properties: null, minLength: null }, {}],
    [
      'references in data',
      { const: { $ref: 'https://example.com' }, default: { $ref: 'x' } },
      { $ref: 'https://example.com' },
    ],
    ['references in unknown keywords', { 'x-see': { $ref: 'https://example.com' } }, 1],
  ])('%s', (_, schema, value) => {
    expect(judge(schema, value)).toBe('valid')
  })

  test('nullable does not make null valid', () => {
    expect(judge({ type: 'string', nullable: true }, null)).toBe('input: must be string')
  })

  test('defaults are never put in', () => {
    const value = {}
    expect(judge({ properties: { a: { default: 1 } } }, value)).toBe('valid')
    expect(value).toEqual({})
  })

  test.each(['any', 'bigint'])('a type "%s" is taken, and no value is of it', (type) => {
    expect(faultOf({ type })).toBe('none')
    for (const value of [1, 'a', null, {}])
      expect(judge({ type }, value)).toBe(
        'input: cannot be valid, because its schema has a type that JSON Schema does not know',
      )
    expect(judge({ type: [type, 'string'] }, 'a')).toBe('valid')
    expect(judge({ type: [type, 'string'] }, 1)).toBe('input: must be string')
  })
})

describe('schemas that are none', () => {
  const cyclic: Record<string, unknown> = {}
  cyclic.properties = { cyclic }
  test.each<[upstream: string, schema: unknown]>([
    ['InvalidSchemaType: string', 'object'],
    ['InvalidSchemaType: number', 5],
    ['InvalidSchemaType: list', []],
    ['InvalidSchemaType: nil', null],
    ['InvalidSchemaType: nothing', undefined],
    ['bad JSON', bytes('{')],
    ['empty JSON', bytes('')],
    ['JSON that is no schema', bytes('"object"')],
    ['one that is its own part', cyclic],
    ['a keyword of the wrong type', { properties: { a: { minLength: '3' } } }],
    ['a keyword of the wrong type in an unused definition', { $defs: { a: { required: true } } }],
    ['an enum of nothing', { enum: [] }],
    ['a reference to nowhere', { $ref: '#/$defs/a' }],
    ['a reference to nowhere in an unused definition', { $defs: { a: { $ref: '#a' } } }],
    ['a reference to what is no schema', { $ref: '#/title', title: 'a' }],
    ['a reference to itself', { $ref: '#' }],
    [
      'references in a circle',
      {
        $defs: { a: { anyOf: [{ type: 'null' }, { $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
      },
    ],
    ['a dynamic reference to itself', { $dynamicAnchor: 'a', allOf: [{ $dynamicRef: '#a' }] }],
    [
      'two of one $id',
      { $defs: { a: { $id: 'https://example.com/a' }, b: { $id: 'https://example.com/a' } } },
    ],
    ['two of one anchor', { $defs: { a: { $anchor: 'a' }, b: { $anchor: 'a' } } }],
    ['a pattern with lookahead', { pattern: '(?=a)b' }],
    ['a pattern with a back-reference', { properties: { a: { pattern: '(a)\\1' } } }],
    ['a pattern with lookahead for names', { patternProperties: { '^(?!a)': {} } }],
    ['a pattern that is none', { pattern: '(' }],
    ['a pattern that repeats too much', { pattern: '[ab]{1000}'.repeat(50) }],
    [
      'too many patterns',
      { allOf: Array.from({ length: 50 }, (_, at) => ({ pattern: `a{9}[ab]{${at + 900}}` })) },
    ],
    [
      'too many members',
      { required: ['a'], properties: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [at, {}])) },
    ],
    [
      'too many schemas',
      { items: Array.from({ length: 4 }).reduce((inner) => ({ allOf: Array(9).fill(inner) }), {}) },
    ],
    ['too long', { description: 'a'.repeat(600_000) }],
  ])('%s', (_, schema) => {
    expect(faultOf(schema)).toBe('invalid_schema')
  })

  test('the fault says where it is', () => {
    expect(() => checkSchema({ properties: { 'a/b': { minLength: '3' } } })).toThrow(
      'The schema at "/properties/a~1b/minLength" must be integer.',
    )
  })

  test('one that nests too deeply', () => {
    let schema: unknown = { type: 'string' }
    for (let depth = 0; depth < 101; depth++) schema = { properties: { a: schema } }
    expect(faultOf(schema)).toBe('invalid_schema')
    for (let depth = 0; depth < 100_000; depth++) schema = { properties: { a: schema } }
    expect(faultOf(schema)).toBe('invalid_schema')
  })
})

describe('references lead nowhere but into the schema itself (ExternalRefBlocked)', () => {
  const outside = 'https://127.0.0.1:1/schema.json'
  test.each<[where: string, schema: unknown]>([
    ['at the root', { $ref: outside }],
    ['in a property', { properties: { a: { $ref: outside } } }],
    ['deep within', { items: { anyOf: [{ not: { if: { propertyNames: { $ref: outside } } } }] } }],
    ['in an unused definition', { $defs: { a: { $ref: outside } } }],
    ['in an unused definition of draft-07', { $schema: DRAFT_07, definitions: { a: { $ref: outside } } }],
    [
      'beside a reference, where draft-07 ignores it',
      { $schema: DRAFT_07, $ref: '#/definitions/a', definitions: { a: {} }, items: { $ref: outside } },
    ],
    ['in what a reference leads to', { $ref: '#/x-parts/a', 'x-parts': { a: { $ref: outside } } }],
    ['dynamic', { $dynamicRef: outside }],
    ['relative', { $ref: 'other.json' }],
    ['relative with a path', { $ref: '/other.json#/a' }],
    ['a file', { $ref: 'file:///etc/passwd' }],
    ['the dialect itself, which ajv would know', { $ref: 'https://json-schema.org/draft/2020-12/schema' }],
    ['the dialect itself in draft-07', { $schema: DRAFT_07, items: { $ref: DRAFT_07 } }],
    ['relative to an $id', { $id: outside, items: { $ref: 'more.json' } }],
    ['relative to an inner $id', { $defs: { a: { $id: 'https://example.com/a/', items: { $ref: 'b' } } } }],
    ['a name that another schema gave itself', { $ref: 'https://example.com/named' }],
  ])('%s', (_, schema) => {
    checkSchema({ $id: 'https://example.com/named', type: 'string' })
    expect(faultOf(schema)).toBe('external_ref')
  })

  test.each<[how: string, schema: unknown, wrong: unknown, verdict: string]>([
    [
      'the whole',
      { properties: { child: { $ref: '#' } }, additionalProperties: false },
      { child: { x: 1 } },
      'input.child: must not have a member "x"',
    ],
    [
      'an empty reference',
      { type: 'object', properties: { child: { $ref: '' } } },
      { child: 1 },
      'input.child: must be object',
    ],
    [
      'an anchor',
      { $defs: { a: { $anchor: 'a', type: 'null' } }, items: { $ref: '#a' } },
      [1],
      'input[0]: must be null',
    ],
    [
      'an embedded resource',
      {
        $id: 'https://example.com/',
        $defs: { a: { $id: 'a.json', type: 'null' } },
        items: { $ref: 'a.json' },
      },
      [1],
      'input[0]: must be null',
    ],
    [
      'a place within an embedded resource',
      {
        $defs: { a: { $id: 'urn:example:a', $defs: { b: { type: 'null' } }, $ref: '#/$defs/b' } },
        items: { $ref: 'urn:example:a' },
      },
      [1],
      'input[0]: must be null',
    ],
    [
      'what calls itself the dialect',
      {
        $id: 'https://json-schema.org/draft/2020-12/schema',
        type: 'array',
        items: { $ref: 'https://json-schema.org/draft/2020-12/schema' },
      },
      [1],
      'input[0]: must be array',
    ],
    [
      'a dynamic anchor',
      { $dynamicAnchor: 'node', type: 'array', items: { $dynamicRef: '#node' } },
      [[1]],
      'input[0][0]: must be array',
    ],
    [
      'a property',
      { properties: { a: { type: 'null' }, b: { $ref: '#/properties/a' } } },
      { b: 1 },
      'input.b: must be null',
    ],
    [
      'a place of no keyword',
      { components: { schemas: { A: { type: 'null' } } }, items: { $ref: '#/components/schemas/A' } },
      [1],
      'input[0]: must be null',
    ],
    [
      'a name with escapes',
      { $defs: { 'a/b ~%': { type: 'null' } }, items: { $ref: '#/$defs/a~1b%20~0%25' } },
      [1],
      'input[0]: must be null',
    ],
    [
      'names that look like keywords',
      {
        $defs: { $id: { type: 'null' } },
        properties: { $id: { $ref: '#/$defs/$id' }, $ref: { type: 'string' } },
      },
      { $ref: 'x', $id: 1 },
      'input.$id: must be null',
    ],
  ])('%s is within', (_, schema, wrong, verdict) => {
    expect(judge(schema, wrong)).toBe(verdict)
  })
})

describe('patterns, as ECMA-262 has them', () => {
  test.each<[pattern: string, matches: readonly string[], others: readonly string[]]>([
    ['^[a-z]+$', ['abc'], ['', 'aBc', 'abc\n']],
    ['b', ['abc'], ['a']],
    ['^\\d{4}-\\d\\d$', ['2026-01'], ['2026-1', '٢٠٢٦-٠١']],
    ['^[\\w.+-]+@[\\w-]+\\.[a-z]+$', ['ada@example.org'], ['ada']],
    ['^.$', ['😀', 'a'], ['\r', '\n', '\u2028', 'ab']],
    ['^\\s$', [' ', '\u00a0', '\v', '\ufeff', '\u3000'], ['a']],
    ['^\\S+$', ['abc'], ['a\u00a0b', 'a b']],
    ['^[\\s\\d]+$', ['1\u00a02'], ['a']],
    ['^[\\S]$', ['a', '\u{1f600}'], ['\u00a0', '\u2028', ' ']],
    ['^[^\\S]$', ['\u00a0', '\ufeff'], ['a']],
    ['^[\\b]$', ['\b'], ['b']],
    ['^[^.]$', ['a'], ['.']],
    ['^[.]$', ['.'], ['a']],
    ['^\\u0041\\u{1F600}$', ['A😀'], ['a😀']],
    ['^\\uD83D\\uDE00$', ['😀'], ['x']],
    ['^\\p{Letter}+$', ['é'], ['1']],
    ['^\\p{Script=Greek}$', ['α'], ['a']],
    ['^\\P{L}$', ['1'], ['a']],
    ['^(?<year>\\d+)$', ['1'], ['a']],
    ['^\\/api\\-v1$', ['/api-v1'], ['api-v1']],
    ['^\\.$', ['.'], ['a']],
    ['^\\\\s$', ['\\s'], [' ']],
  ])('%s', (pattern, matches, others) => {
    for (const text of matches) expect(judge({ pattern }, text), text).toBe('valid')
    for (const text of others) expect(judge({ pattern }, text), text).toContain('must match the pattern')
  })

  test('of names', () => {
    const schema = { patternProperties: { '^x-': { type: 'null' } }, additionalProperties: false }
    expect(judge(schema, { 'x-a': 1 })).toBe('input.x-a: must be null')
    expect(judge(schema, { y: null })).toBe('input: must not have a member "y"')
  })
})

describe('threat 41: hostile schemas and values come to an end', () => {
  test.each(['properties', 'patternProperties', 'dependentSchemas', '$defs'])(
    'a name in %s that is half a character is a fault of the schema',
    (keyword) => {
      const schema = { [keyword]: { 'a\ud800': { type: 'string' } } }
      expect([faultOf(schema), judge(schema, { 'a\ud800': 1 })]).toEqual(['invalid_schema', 'invalid_schema'])
      expect(judge({ [keyword]: { 'a😀': { type: 'string' } } }, {})).toBe('valid')
    },
  )

  test.each(['^(a+)+$', '(x+x+)+y', '^(([a-z])+.)+[A-Z]([a-z])+$', '^(a|aa)+$', '(a*)*b', '^(\\w+\\s?)*$'])(
    'the pattern %s',
    (pattern) => {
      expect(judge({ pattern }, `${'a'.repeat(50_000)}!`)).toContain('must match the pattern')
    },
  )

  const TOO_MUCH = 'input: is too much to be checked against its schema'

  test('a pattern whose every character is dear', () => {
    const text = Array.from({ length: 200_000 }, (_, at) => 'ab'[(at * at * 7919) & 1]).join('')
    expect(judge({ pattern: '(a|b)*a(a|b){900}[cd]$' }, text)).toBe(TOO_MUCH)
  })

  test('references that fan out', () => {
    const twice = (at: number) => Array(2).fill({ $ref: `#/$defs/a${at}` })
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`a${at + 1}`, { anyOf: twice(at) }]),
    )
    expect(judge({ $defs: { ...$defs, a0: { type: 'null' } }, $ref: '#/$defs/a60' }, 1)).toBe(TOO_MUCH)
    const all = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`a${at + 1}`, { allOf: twice(at) }]),
    )
    expect(judge({ $defs: { ...all, a0: { type: 'null' } }, $ref: '#/$defs/a60' }, null)).toBe(TOO_MUCH)
  })

  test('long texts that are counted again and again', () => {
    const anyOf = Array.from({ length: 900 }, (_, at) => ({ maxLength: 700_000 + at }))
    expect(judge({ anyOf }, 'a'.repeat(1_000_000))).toBe(TOO_MUCH)
  })

  test('many items looked through again and again', () => {
    const allOf = Array.from({ length: 900 }, () => ({ items: { type: 'integer' } }))
    expect(judge({ allOf }, Array(100_000).fill(1))).toBe(TOO_MUCH)
  })

  test('values that nest without an end', () => {
    let value: unknown = {}
    for (let depth = 0; depth < 200_000; depth++) value = { child: value }
    const schema = { type: 'object', properties: { child: { $ref: '#' } } }
    expect(judge(schema, value)).toBe('input: nests too deeply to be checked')
    expect(judge({ uniqueItems: true }, [value, value])).toBe('input: nests too deeply to be checked')
    expect(judge(schema, { child: {} })).toBe('valid')
  })

  test('what is large and honest is checked', () => {
    const item = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        note: { anyOf: [{ type: 'string', maxLength: 50 }, { type: 'null' }] },
      },
      required: ['id'],
    }
    const many = Array.from({ length: 20_000 }, (_, id) => ({ id, note: id % 2 ? null : `Number ${id}` }))
    expect(judge({ type: 'array', items: item, uniqueItems: true }, many)).toBe('valid')
    expect(judge({ type: 'array', items: item }, [...many, { id: 'x' }])).toBe(
      'input[20000].id: must be integer',
    )
    expect(judge({ pattern: '^[A-Za-z0-9+/=]*$' }, 'QUJD'.repeat(250_000))).toBe('valid')
    expect(judge({ contains: { const: 'x' } }, Array(100_000).fill('y'))).toMatch(/^input: must contain/)
  })

  test('wide schemas are made into validators', () => {
    const wide = (make: (at: number) => unknown) => Array.from({ length: 900 }, (_, at) => make(at))
    const properties = Object.fromEntries(
      wide((at) => [`p${at}`, { type: 'string', minLength: 1 }]) as [string, unknown][],
    )
    expect(judge({ properties }, { p899: '' })).toMatch(/^input.p899: must have at least 1 /)
    expect(judge({ anyOf: wide((at) => ({ required: [`a${at}`] })) }, { a899: 1 })).toBe('valid')
    expect(judge({ allOf: wide((at) => ({ required: [`a${at}`] })) }, {})).toBe(
      'input: must have a member "a0"',
    )
  })

  test('code of ajv that trips is an answer, and asked for only by unevaluatedProperties', () => {
    const schema = {
      patternProperties: { b: true },
      oneOf: [{ additionalProperties: false, patternProperties: {} }, true],
    }
    expect(judge(schema, { b: null })).toBe('valid')
    const dynamic = { ...schema, unevaluatedProperties: false }
    expect(['valid', 'input: cannot be checked against its schema']).toContain(judge(dynamic, { b: null }))
  })

  test('no message holds the value', () => {
    const secret = 'a-secret-value'
    for (const schema of [
      { type: 'null' },
      { const: 1 },
      { enum: [1] },
      { pattern: '^b' },
      { maxLength: 1 },
      { format: 'x', not: {} },
    ])
      expect(judge(schema, secret)).not.toContain(secret)
  })
})

describe('the contract of the validator', () => {
  test('DoesNotMutateSchema: neither schema nor value is changed', () => {
    const schema = {
      $schema: DRAFT_07,
      properties: { a: { $ref: '#/definitions/a' } },
      definitions: { a: { type: 'string', nullable: true, default: 'x' } },
    }
    const frozen = deepFreeze(structuredClone(schema))
    expect(judge(frozen, deepFreeze({ a: 1 }))).toBe('input.a: must be string')
    expect(frozen).toEqual(schema)
  })

  test('the same verdict each time, for the same schema and for its equal', () => {
    const make = () => ({ type: 'object', properties: { a: { type: 'integer' } } })
    const schema = make()
    for (let time = 0; time < 3; time++) {
      expect(judge(schema, { a: 'x' })).toBe('input.a: must be integer')
      expect(judge(make(), { a: 1 })).toBe('valid')
    }
  })

  test('a schema that was changed is another one', () => {
    const schema: Record<string, unknown> = { type: 'string' }
    expect(judge(schema, 1)).toBe('input: must be string')
    schema.type = 'integer'
    expect(judge(schema, 1)).toBe('valid')
  })

  test('more schemas than are kept', () => {
    const schema = (at: number) => ({ properties: { [`p${at}`]: { type: 'integer' } } })
    expect(judge(schema(0), { p0: 'x' })).toBe('input.p0: must be integer')
    for (let at = 1; at <= 1500; at++) checkSchema(schema(at))
    expect(judge(schema(0), { p0: 'x' })).toBe('input.p0: must be integer')
  })

  test('ValidateInput_NilTool, ValidateInput_NilSchema: invalid_schema', () => {
    for (const tool of [undefined, {}])
      expect(() => validateInput(tool, {})).toThrow(expect.objectContaining({ kind: 'invalid_schema' }))
  })

  test('no arguments at all are an empty object, and null is none', () => {
    const tool = { inputSchema: { type: 'object' } }
    expect(validateInput(tool)).toEqual({ valid: true })
    expect(validateInput(tool, {})).toEqual({ valid: true })
    expect(validateInput(tool, null)).toEqual({ valid: false, path: '', message: 'must be object' })
  })

  test('output: no tool is a fault, no schema takes anything', () => {
    expect(() => validateOutput(undefined, 1)).toThrow(expect.objectContaining({ kind: 'invalid_schema' }))
    expect(validateOutput({}, 1)).toEqual({ valid: true })
    const tool = { outputSchema: { properties: { n: { type: 'integer' } } } }
    expect(validateOutput(tool, { n: 1 })).toEqual({ valid: true })
    expect(validateOutput(tool, { n: '1' })).toEqual({ valid: false, path: '/n', message: 'must be integer' })
  })
})

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}
