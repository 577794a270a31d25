import { toZod } from '@arcadeai/arcadejs/lib/index'
import { describe, expect, test } from 'vitest'
import type { JsonSchema, Tool } from '../../src/domain/tool.ts'
import { functionName } from '../../src/domain/tool.ts'
import { toDefinition } from '../../src/operations/dialects/arcade-tools.ts'
import { toParameters, toValueSchema, type ValueSchema } from '../../src/sdk/worker/value-schema.ts'
import { readWorkerTool } from '../../src/tools/arcade/read-worker-tool.ts'
import { formatTool } from '../../src/tools/catalogue/tool-formats.ts'

describe('JSON Schema as a value schema', () => {
  test.each<[string, JsonSchema, ValueSchema]>([
    ['anything', {}, { val_type: 'json' }],
    ['any object', { type: 'object' }, { val_type: 'json' }],
    ['a type or null', { type: ['string', 'null'] }, { val_type: 'string', nullable: true }],
    [
      'anyOf with null',
      { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      { val_type: 'integer', nullable: true },
    ],
    [
      'an optional list, as pydantic writes it',
      { anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }], default: null },
      { val_type: 'array', inner_val_type: 'string', nullable: true },
    ],
    ['OpenAPI nullable', { type: 'boolean', nullable: true }, { val_type: 'boolean', nullable: true }],
    ['whole and other numbers', { type: ['integer', 'number'] }, { val_type: 'number' }],
    ['a union', { type: ['string', 'number', 'null'] }, { val_type: 'json', nullable: true }],
    ['oneOf of two kinds', { oneOf: [{ type: 'string' }, { type: 'object' }] }, { val_type: 'json' }],
    [
      'oneOf of constants',
      { oneOf: [{ const: 'a' }, { const: 'b' }] },
      { val_type: 'string', enum: ['a', 'b'] },
    ],
    [
      'an enum without a type',
      { enum: ['a', 'b', null] },
      { val_type: 'string', enum: ['a', 'b'], nullable: true },
    ],
    ['an enum of numbers', { enum: [1, 2] }, { val_type: 'integer', enum: ['1', '2'] }],
    ['a list of anything', { type: 'array' }, { val_type: 'array', inner_val_type: 'json' }],
    ['a tuple', { prefixItems: [{ type: 'string' }] }, { val_type: 'array', inner_val_type: 'json' }],
    [
      'a list of lists',
      { type: 'array', items: { type: 'array', items: { type: 'number' } } },
      { val_type: 'array', inner_val_type: 'json', items: { val_type: 'array', inner_val_type: 'number' } },
    ],
    [
      'a list of objects',
      { type: 'array', items: { properties: { a: { type: 'string' } }, required: ['a'] } },
      {
        val_type: 'array',
        inner_val_type: 'json',
        inner_properties: { a: { val_type: 'string' } },
        inner_required_keys: ['a'],
      },
    ],
    [
      'an object',
      { type: 'object', properties: { a: { type: 'string', description: 'A' }, b: {} }, required: ['a'] },
      {
        val_type: 'json',
        properties: { a: { val_type: 'string', description: 'A' }, b: { val_type: 'json' } },
        required_keys: ['a'],
      },
    ],
    [
      'allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } } },
          { properties: { b: { type: 'number' } } },
        ],
      },
      { val_type: 'json', properties: { a: { val_type: 'string' }, b: { val_type: 'number' } } },
    ],
    [
      'a reference',
      { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'string', enum: ['x'] } }, description: 'mine' },
      { val_type: 'string', enum: ['x'], description: 'mine' },
    ],
    [
      'a tree',
      { $ref: '#/$defs/Node', $defs: { Node: { properties: { next: { $ref: '#/$defs/Node' } } } } },
      { val_type: 'json', properties: { next: { val_type: 'json' } } },
    ],
    ['a reference to nothing', { $ref: '#/$defs/none' }, { val_type: 'json' }],
    ['a malformed reference', { $ref: '#/%ZZ' }, { val_type: 'json' }],
  ])('%s', (_, schema, expected) => {
    expect(toValueSchema(schema)).toEqual(expected)
  })

  test('ends for references that multiply', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `n${i}`,
        { properties: { a: { $ref: `#/$defs/n${i + 1}` }, b: { $ref: `#/$defs/n${i + 1}` } } },
      ]),
    )
    expect(toValueSchema({ $ref: '#/$defs/n0', $defs }).val_type).toBe('json')
  })

  test('parameters say what is required', () => {
    const properties = { q: { type: 'string', description: 'What.' }, secret: { 'x-inferrable': false } }
    expect(toParameters({ type: 'object', properties, required: ['q'] })).toEqual([
      {
        name: 'q',
        value_schema: { val_type: 'string' },
        description: 'What.',
        required: true,
        inferrable: true,
      },
      { name: 'secret', value_schema: { val_type: 'json' }, required: false, inferrable: false },
    ])
  })
})

const VALUE_SCHEMAS: ValueSchema[] = [
  { val_type: 'string' },
  { val_type: 'string', enum: ['a', 'b'] },
  { val_type: 'string', enum: ['a', 'b'], nullable: true },
  { val_type: 'integer', enum: ['1', '2'] },
  { val_type: 'number', nullable: true },
  { val_type: 'boolean' },
  { val_type: 'json' },
  { val_type: 'json', nullable: true },
  { val_type: 'json', properties: {} },
  { val_type: 'array', inner_val_type: 'string', enum: ['a'], nullable: true },
  { val_type: 'array', inner_val_type: 'json', items: { val_type: 'array', inner_val_type: 'integer' } },
  {
    val_type: 'array',
    inner_val_type: 'json',
    inner_properties: { a: { val_type: 'integer', description: 'A', nullable: true } },
    inner_required_keys: ['a'],
  },
  {
    val_type: 'json',
    properties: {
      deep: { val_type: 'json', properties: { x: { val_type: 'boolean' } }, required_keys: ['x'] },
    },
    required_keys: [],
  },
]

function workerTool(): Tool {
  const reading = readWorkerTool(definition())
  if (reading.outcome !== 'read') throw new Error(reading.reason)
  const { tool } = reading
  return {
    uid: 'tool_1',
    projectId: 'proj_1',
    name: tool.name,
    namespace: tool.namespace,
    version: '1.0.0',
    title: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
    tags: [],
    annotations: { readOnlyHint: false, idempotentHint: true },
    requirements: tool.requirements,
    source: { kind: 'worker', workerUid: 'work_1', document: tool.document },
    digest: 'd',
    createdAt: 1,
    updatedAt: 1,
  }
}

function definition() {
  return {
    name: 'CreateTicket',
    fully_qualified_name: 'Hub.CreateTicket',
    description: 'Creates a ticket.',
    toolkit: { name: 'Hub', version: '1.0.0', description: 'A hub.' },
    input: {
      parameters: VALUE_SCHEMAS.map((value_schema, i) => ({
        name: `p${i}`,
        required: i % 2 === 0,
        description: `Parameter ${i}`,
        inferrable: i !== 3,
        value_schema,
      })),
    },
    output: {
      description: 'The ticket.',
      available_modes: ['value', 'error'],
      value_schema: { val_type: 'array', inner_val_type: 'string' },
    },
    requirements: {
      authorization: { id: 'acme-hub', provider_type: 'oauth2', oauth2: { scopes: ['tickets:write'] } },
      secrets: [{ key: 'HUB_HOST' }],
      metadata: null,
    },
    metadata: { behavior: { read_only: false, idempotent: true } },
  }
}

describe("a worker's tool", () => {
  test('is shown as its worker describes it', () => {
    const { input, output, toolkit, description } = definition()
    expect(toDefinition(workerTool(), undefined)).toEqual({
      fully_qualified_name: 'Hub.CreateTicket@1.0.0',
      qualified_name: 'Hub.CreateTicket',
      name: 'CreateTicket',
      tool_id: 'Hub:CreateTicket:1.0.0',
      ...{ description, toolkit, input, output },
      requirements: {
        authorization: { id: 'acme-hub', provider_type: 'oauth2', oauth2: { scopes: ['tickets:write'] } },
        secrets: [{ key: 'HUB_HOST' }],
      },
      metadata: { behavior: { read_only: false, idempotent: true } },
    })
  })

  test('is shown with what is met', () => {
    const secret = { key: 'HUB_HOST', met: false }
    const status = { met: false, authorizations: [], secrets: [{ ...secret, statusReason: 'Set it.' }] }
    expect(toDefinition(workerTool(), status).requirements).toEqual({
      met: false,
      secrets: [{ ...secret, status_reason: 'Set it.' }],
    })
  })

  test("passes Arcade's zod helper", () => {
    const tools = toZod({
      tools: [JSON.parse(JSON.stringify(toDefinition(workerTool(), undefined)))],
      client: {} as Parameters<typeof toZod>[0]['client'],
      userId: 'u-1',
    })
    expect(tools[0]).toMatchObject({ name: 'Hub_CreateTicket' })
  })
})

describe('formats', () => {
  test('of models and MCP', () => {
    const tool = workerTool()
    const inputSchema = { ...tool.inputSchema, properties: expect.any(Object), additionalProperties: false }
    const [name, description] = ['Hub_CreateTicket', 'Creates a ticket.']
    expect(formatTool(tool, 'openai')).toEqual({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    })
    expect(formatTool(tool, 'anthropic')).toEqual({ name, description, input_schema: inputSchema })
    const { additionalProperties: _, ...said } = inputSchema
    expect(formatTool(tool, 'mcp')).toEqual({
      name,
      title: 'CreateTicket',
      description,
      inputSchema: said,
      annotations: { readOnlyHint: false, idempotentHint: true },
    })
    expect(formatTool(tool, 'jsonschema')).toMatchObject({
      title: name,
      type: 'object',
      required: expect.any(Array),
    })
    expect(JSON.stringify(formatTool(tool, 'openai'))).not.toContain('x-inferrable')
  })

  test('of JSON Schema has the name and description of the tool, also where its schema has others', () => {
    const inputSchema = { title: 'createTicketArguments', description: 'Arguments.', type: 'object' }
    expect(formatTool({ ...workerTool(), inputSchema }, 'jsonschema')).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'Hub_CreateTicket',
      description: 'Creates a ticket.',
      type: 'object',
      properties: {},
    })
  })

  test('take nothing from a model that the schema leaves open', () => {
    const open = { ...workerTool(), inputSchema: { type: 'object', properties: {} } }
    expect(formatTool(open, 'anthropic').input_schema).toEqual({ type: 'object', properties: {} })
    const anyOf = [{ required: ['a'] }, { required: ['b'] }]
    const $defs = { Paged: { properties: { page: {} } } }
    const paged = { type: 'object', properties: { a: {} }, $ref: '#/$defs/Paged', $defs }
    expect(formatTool({ ...open, inputSchema: paged }, 'anthropic').input_schema).toEqual(paged)
    const union = { ...open, inputSchema: { type: 'object', properties: { a: {}, b: {} }, anyOf } }
    expect(formatTool(union, 'anthropic').input_schema).toEqual({
      type: 'object',
      properties: { a: {}, b: {} },
    })
  })

  test.each([
    ['local', 'a.b c', 'local_a_b_c'],
    ['', 'plain', 'plain'],
    ['n'.repeat(60), 'tool', /^n{55}_[0-9a-f]{8}$/],
  ])('name %s:%s', (namespace, name, expected) => {
    expect(functionName({ namespace, name })).toMatch(expected)
    expect(functionName({ namespace, name })).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })
})
