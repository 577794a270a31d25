import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { currentWireFiles } from './current.ts'
import { generateWireTypes } from './generate.ts'
import { generateMethods } from './generate-methods.ts'
import type { OpenApiDocument, Schema } from './openapi.ts'
import { createPythonTypes } from './python-types.ts'
import { comment, typeOf } from './type-of.ts'

let gatepass: Gatepass
let document: OpenApiDocument

beforeAll(async () => {
  gatepass = await startGatepass()
  document = (await gatepass.call('GET', '/openapi.json', undefined, { key: null })).body
})
afterAll(() => gatepass.close())

test('the files of src/sdk/generated are what `npm run wire-types` writes', async () => {
  for (const [file, text] of await currentWireFiles(gatepass)) expect(text).toBe(await readFile(file, 'utf8'))
})

test('a change of the document changes the types', () => {
  const { Project, ...others } = document.components.schemas
  const renamed = { ...document, components: { schemas: { ...others, Tenant: Project as Schema } } }
  expect(generateWireTypes(renamed)).not.toBe(generateWireTypes(document))
})

describe('an operation becomes a method', () => {
  test.each<[string, string, string, string]>([
    ['of a list', 'listWorkers', 'workers.list()', 'list(): List<Wire.Worker>'],
    ['of a list with a filter', 'listMcpClients', 'keys.of()', 'of(filter?: {'],
    [
      'whose answer has no body',
      'deleteWorker',
      'workers.delete(id)',
      'options?: RequestOptions): Promise<void>',
    ],
    [
      'with a whole body',
      'replayWebhook',
      'keys.again(id, what?)',
      "again(id: string,what?: Body<'replayWebhook'>,",
    ],
    [
      'with a member of the body',
      'createProject',
      'keys.add(body.name)',
      'add(name: string,options?: RequestOptions)',
    ],
    [
      'with the rest of the body as options',
      'setSecret',
      'keys.set(key, body.value)',
      "RequestOptions & Omit<Body<'setSecret'>, 'value'>",
    ],
    ['that is not repeated', 'createApiKey', 'keys.create(key)', 'Not repeated after a lost answer.'],
  ])('%s', (_, id, method, text) => {
    const repetition = id === 'createApiKey' ? 'unsafe' : 'safe'
    const made = generateMethods(document, [{ id, sdk: `admin.${method}`, repetition }])
    expect(made).toContain(text)
  })

  test('but not of an object that is not described', () => {
    expect(() => generateMethods(document, [{ id: 'listWorkers', sdk: 'admin.unknown.list()' }])).toThrow(
      /admin\.unknown/,
    )
  })
})

describe('a schema becomes a type', () => {
  test.each<[string, Schema, string]>([
    ['a text', { type: 'string' }, 'string'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['one that may be null', { type: ['string', 'null'] }, 'string | null'],
    ['an enum', { type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
    ['an enum with null', { type: ['string', 'null'], enum: ['a', null] }, '"a" | null'],
    ['a constant', { const: 3 }, '3'],
    ['a reference', { $ref: '#/components/schemas/Tool' }, 'Tool'],
    ['a list', { type: 'array', items: { type: ['number', 'null'] } }, 'readonly (number | null)[]'],
    ['a union', { oneOf: [{ type: 'null' }, { $ref: '#/components/schemas/Tool' }] }, 'null | Tool'],
    ['parts', { allOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }] }, 'A & B'],
    ['nothing in it', { type: 'object', properties: {} }, 'Record<string, never>'],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'number' } },
      '{ readonly [name: string]: number }',
    ],
    [
      'members and others',
      { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: { type: 'string' } },
      '{ readonly "a"?: number\nreadonly [name: string]: unknown }',
    ],
    [
      'what must be there',
      { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      '{ readonly "a": number }',
    ],
  ])('%s', (_, schema, type) => {
    expect(typeOf(schema, { takesUndefined: false })).toBe(type)
  })

  test('whose optional members may be undefined in a request', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } }
    expect(typeOf(schema, { takesUndefined: true })).toBe('{ readonly "a"?: number | undefined }')
  })

  test('but not without saying what it is', () => {
    expect(() => typeOf({ description: 'Anything' }, { takesUndefined: false })).toThrow(/without a type/)
  })
})

describe('a schema becomes a type of Python', () => {
  test.each<[string, Schema, string]>([
    ['a text that may be null', { type: ['string', 'null'] }, 'Optional[str]'],
    ['an enum', { type: 'string', enum: ['a', 'b'] }, 'Literal["a", "b"]'],
    ['any JSON', { type: ['null', 'string', 'array', 'object'] }, 'Any'],
    ['a list', { type: 'array', items: { $ref: '#/components/schemas/Tool' } }, 'list[Tool]'],
    ['a map', { type: 'object', additionalProperties: { type: 'integer' } }, 'dict[str, int]'],
    [
      'a union',
      { oneOf: [{ type: 'null' }, { type: 'boolean' }, { type: 'number' }] },
      'Optional[Union[bool, float]]',
    ],
  ])('%s', (_, schema, type) => {
    expect(createPythonTypes({}).typeOf(schema, 'Name')).toBe(type)
  })

  test('with members that may be left out, and one whose name Python keeps', () => {
    const types = createPythonTypes({})
    const properties = { id: { type: 'string' }, from: { type: 'integer' } }
    expect(types.typeOf({ type: 'object', properties, required: ['id'] }, 'Step')).toBe('Step')
    expect(types.text().trimEnd()).toBe(`class _StepRequired(TypedDict):
    id: str


_StepMayBeNamed = TypedDict("_StepMayBeNamed", {"from": "int"}, total=False)


class Step(_StepRequired, _StepMayBeNamed, total=False):
    pass`)
  })
})

test('a description becomes a comment that it cannot end', () => {
  expect(comment({ description: 'For */ `x`', default: 25 })).toBe(
    '/**\n * For *\\/ `x`\n * Default: `25`\n */\n',
  )
})
