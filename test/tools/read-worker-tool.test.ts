import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { withoutOptionalNulls, withoutUndeclaredNulls } from '../../src/tools/arcade/optional-nulls.ts'
import { readWorkerTool } from '../../src/tools/arcade/read-worker-tool.ts'
import { countSteps } from '../count-steps.ts'

function definition(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'CreateTicket',
    fully_qualified_name: 'Hub.CreateTicket',
    description: 'Creates a ticket.',
    toolkit: { name: 'Hub', version: '1.0.0', description: null },
    input: { parameters: [] },
    output: { description: null, available_modes: ['value'], value_schema: null },
    requirements: { authorization: null, secrets: null, metadata: null },
    deprecation_message: null,
    ...change,
  }
}

function read(change: Record<string, unknown> = {}) {
  const reading = readWorkerTool(definition(change))
  if (reading.outcome === 'refused') throw new Error(reading.reason)
  return reading.tool
}

const parameter = (value_schema: unknown, change: object = {}) => ({
  parameters: [{ name: 'p', required: false, description: null, inferrable: true, value_schema, ...change }],
})

describe('a definition', () => {
  test('may have nulls everywhere', () => {
    expect(read()).toEqual({
      name: 'CreateTicket',
      namespace: 'Hub',
      version: '1.0.0',
      description: 'Creates a ticket.',
      inputSchema: { type: 'object', properties: {} },
      requirements: { authorization: [], secrets: [], metadata: [] },
      document: definition(),
    })
  })

  test.each([
    [['value', 'error'], { val_type: 'string' }, { type: 'string' }],
    [['value', 'error', 'null'], { val_type: 'string' }, { type: ['string', 'null'] }],
    [['value', 'null'], { val_type: 'string', enum: ['a'] }, { type: ['string', 'null'], enum: ['a', null] }],
    [['value'], { val_type: 'array', nullable: true }, { type: ['array', 'null'] }],
  ])('says by its modes %j whether it may answer null', (available_modes, value_schema, outputSchema) => {
    expect(read({ output: { available_modes, value_schema } }).outputSchema).toEqual(outputSchema)
  })

  test('may say next to nothing', () => {
    const reading = readWorkerTool({ name: 'T', toolkit: { name: 'K' } })
    expect(reading).toMatchObject({ outcome: 'read', tool: { name: 'T', namespace: 'K', description: '' } })
  })

  test('says what the tool requires', () => {
    const { requirements } = read({
      requirements: {
        authorization: {
          id: null,
          provider_id: 'github',
          provider_type: 'oauth2',
          oauth2: { scopes: ['repo', 'user'] },
        },
        secrets: [{ key: 'A' }, { key: 'B' }, { key: 'A' }],
        metadata: [{ key: 'client_id' }],
      },
    })
    expect(requirements).toEqual({
      authorization: [{ providerId: 'github', scopes: ['repo', 'user'] }],
      secrets: ['A', 'B'],
      metadata: ['client_id'],
    })
  })

  test.each<[string, unknown]>([
    ['a text', 'x'],
    ['no name', definition({ name: null })],
    ['a name with a space', definition({ name: 'a b' })],
    ['a name with a slash', definition({ name: '../x' })],
    ['too long a name', definition({ name: 'x'.repeat(129) })],
    ['no toolkit', definition({ toolkit: null })],
    ['a toolkit with a colon', definition({ toolkit: { name: 'a:b' } })],
    ['an odd version', definition({ toolkit: { name: 'Hub', version: '1 0' } })],
    ['a description that is a number', definition({ description: 7 })],
    ['parameters that are no list', definition({ input: { parameters: {} } })],
    ['a parameter without a name', definition({ input: parameter({ val_type: 'string' }, { name: null }) })],
    ['a value schema that is a text', definition({ input: parameter('string') })],
    ['two parameters of a name', definition({ input: { parameters: [{ name: 'p' }, { name: 'p' }] } })],
    [
      'an unknown kind of authorization',
      definition({ requirements: { authorization: { id: 'x', provider_type: 'saml' } } }),
    ],
    [
      'an authorization without a provider',
      definition({ requirements: { authorization: { oauth2: { scopes: [] } } } }),
    ],
    [
      'scopes that are a text',
      definition({ requirements: { authorization: { id: 'x', oauth2: { scopes: 'repo' } } } }),
    ],
    ['a secret without a key', definition({ requirements: { secrets: [{ key_id: 'A' }] } })],
    ['no end', JSON.parse(`${'{"name":'.repeat(3000)}1${'}'.repeat(3000)}`)],
  ])('is refused: %s', (_, refused) => {
    expect(readWorkerTool(refused)).toEqual({
      outcome: 'refused',
      name: expect.stringMatching(/./),
      reason: expect.stringMatching(/\.$|-$/),
    })
  })

  test('that is refused is called by its name', () => {
    expect(readWorkerTool(definition({ name: 'a b' }))).toMatchObject({ name: 'Hub.a b' })
    expect(readWorkerTool(null)).toMatchObject({ name: '(no name)' })
  })
})

describe('a value schema', () => {
  test.each<[string, unknown, unknown]>([
    ['none', null, {}],
    ['string', { val_type: 'string', inner_val_type: null, enum: null }, { type: 'string' }],
    ['string of an enum', { val_type: 'string', enum: ['a'] }, { type: 'string', enum: ['a'] }],
    [
      'nullable enum',
      { val_type: 'string', enum: ['a'], nullable: true },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    ['integer of an enum', { val_type: 'integer', enum: ['1', '2'] }, { type: 'integer', enum: [1, 2] }],
    ['number of an odd enum', { val_type: 'number', enum: ['one'] }, { type: 'number' }],
    ['number of an enum of objects', { val_type: 'number', enum: [{ toString: 1 }] }, { type: 'number' }],
    ['boolean', { val_type: 'boolean', nullable: false }, { type: 'boolean' }],
    ['json', { val_type: 'json' }, {}],
    ['a type to come', { val_type: 'file' }, {}],
    [
      'json with properties',
      {
        val_type: 'json',
        properties: { a: { val_type: 'string', description: 'A' } },
        required_keys: ['a', 'a'],
      },
      { type: 'object', properties: { a: { type: 'string', description: 'A' } }, required: ['a'] },
    ],
    ['array', { val_type: 'array', inner_val_type: null }, { type: 'array' }],
    [
      'array of an enum',
      { val_type: 'array', inner_val_type: 'string', enum: ['a'] },
      { type: 'array', items: { type: 'string', enum: ['a'] } },
    ],
    [
      'array of objects',
      {
        val_type: 'array',
        inner_val_type: 'json',
        inner_properties: { a: { val_type: 'integer' } },
        inner_required_keys: ['a'],
      },
      { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] } },
    ],
    [
      'array with items',
      { val_type: 'array', inner_val_type: 'json', items: { val_type: 'array', inner_val_type: 'number' } },
      { type: 'array', items: { type: 'array', items: { type: 'number' } } },
    ],
    [
      '__proto__',
      JSON.parse('{"val_type": "json", "properties": {"__proto__": {"val_type": "string"}}}'),
      {
        type: 'object',
        properties: JSON.parse('{"__proto__": {"type": "string"}}'),
      },
    ],
  ])('of %s', (_, value_schema, expected) => {
    const { inputSchema } = read({ input: parameter(value_schema) })
    expect(JSON.stringify(inputSchema.properties)).toBe(JSON.stringify({ p: expected }))
    expect(() => new Ajv2020({ allowUnionTypes: true }).compile(inputSchema)).not.toThrow()
  })

  test('belongs to a parameter', () => {
    const { inputSchema } = read({
      input: parameter({ val_type: 'string' }, { required: true, description: 'P', inferrable: false }),
    })
    expect(inputSchema).toEqual({
      type: 'object',
      properties: { p: { type: 'string', description: 'P', 'x-inferrable': false } },
      required: ['p'],
    })
  })

  test('of the output has its description', () => {
    const output = { description: 'A list.', value_schema: { val_type: 'array', inner_val_type: 'string' } }
    expect(read({ output }).outputSchema).toEqual({
      type: 'array',
      items: { type: 'string' },
      description: 'A list.',
    })
  })
})

test('members that a schema requires are looked up once each, however many there are', () => {
  const count = 2_000
  const required = Array.from({ length: count }, (_, i) => `r${i}`)
  const value = Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, null]))
  const schema = { type: 'object', properties: { a: {} }, required }
  for (const remove of [withoutOptionalNulls, withoutUndeclaredNulls])
    expect(countSteps(() => remove(schema, value))).toBeLessThan(10 * count)
})

test('a null is removed for an optional member, and kept where it is required and in free JSON', () => {
  const text = { type: 'string' }
  const list = { type: 'array', items: { properties: { a: text } } }
  const properties = { a: text, b: text, free: { description: 'Anything.' }, list }
  const value = { a: null, b: null, free: { a: null, b: [null] }, list: [{ a: null }] }
  expect(withoutOptionalNulls({ type: 'object', properties, required: ['b'] }, value)).toEqual({
    b: null,
    free: { a: null, b: [null] },
    list: [{}],
  })
})
