import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { BrokerError } from '../../src/domain/errors.ts'
import type { CatalogueTool } from '../../src/tools/backend.ts'
import { buildRequest } from '../../src/tools/openapi/build-request.ts'
import { checkOpenapiSettings } from '../../src/tools/openapi/check-openapi-settings.ts'
import type { OpenapiSettings } from '../../src/tools/openapi/openapi-settings.ts'
import { parseDocument } from '../../src/tools/openapi/parse-document.ts'
import { readOpenapi } from '../../src/tools/openapi/read-openapi.ts'
import { readRequestDescription } from '../../src/tools/openapi/read-request-description.ts'
import { readResponse } from '../../src/tools/openapi/read-response.ts'
import { planOf } from '../../src/tools/openapi/request-plan.ts'
import { BadArgument } from '../../src/tools/openapi/write-parameter.ts'
import { anyText } from '../any-text.ts'

const text = { type: 'string' }

/** A document with one operation, by default `GET /things/{id}`. */
function documentOf(operation: object, more: Record<string, unknown> = {}): Record<string, unknown> {
  const { path = '/things', method = 'get', openapi = '3.1.0', ...rest } = more
  return {
    openapi,
    info: { title: 'Things', version: '1.0.0' },
    servers: [{ url: 'https://api.example.com/v1' }],
    paths: { [String(path)]: { [String(method)]: { operationId: 'Do', ...operation } } },
    ...rest,
  }
}

async function read(document: object, settings: OpenapiSettings = {}, documentUrl?: string) {
  return readOpenapi(await parseDocument(JSON.stringify(document)), {
    settings,
    namespace: 'Things',
    ...(documentUrl !== undefined && { documentUrl }),
  })
}

async function only(
  document: object,
  settings: OpenapiSettings = {},
  documentUrl?: string,
): Promise<CatalogueTool> {
  const [item] = await read(document, settings, documentUrl)
  if (item?.outcome !== 'read') throw new Error(JSON.stringify(item))
  return item.tool
}

async function reasonOf(document: object, settings: OpenapiSettings = {}): Promise<string> {
  const [item] = await read(document, settings)
  if (item?.outcome === 'remark') return item.message
  return item?.outcome === 'refused' ? item.reason : 'read'
}

const answering = (schema: object) => ({
  responses: { 200: { description: '', content: { 'application/json': { schema } } } },
})
const taking = (schema: object, type = 'application/json', required = true) => ({
  requestBody: { required, content: { [type]: { schema } } },
})

describe('an OpenAPI document', () => {
  test('is the same in JSON and in YAML', async () => {
    const document = documentOf(answering({ type: 'object' }))
    expect(await parseDocument(stringify(document))).toEqual(await parseDocument(JSON.stringify(document)))
    expect((await parseDocument(`\uFEFF${JSON.stringify(document)}`)).version).toBe('3.1')
  })

  test.each([
    [
      'a bomb of aliases',
      `a: &a [${'x,'.repeat(50)}]\n${Array.from({ length: 9 }, (_, i) => `${'bcdefghij'[i]}: &${'bcdefghij'[i]} [${`*${'abcdefghi'[i]},`.repeat(9)}]`).join('\n')}`,
      'neither JSON nor YAML',
    ],
    ['a circle', 'openapi: 3.1.0\npaths: &p\n  self: *p\n', 'neither JSON nor YAML'],
    ['a list', '[]', 'it must be an object'],
    ['nothing', '', 'it must be an object'],
    ['Swagger 1.2', '{"swagger": "1.2", "paths": {}}', 'convert it to OpenAPI 3.1'],
    ['Swagger without paths', '{"swagger": "2.0"}', 'has no paths'],
    [
      'Swagger that cannot be converted',
      '{"swagger": "2.0", "paths": {"/a": {"get": {"parameters": [1, null]}}}}',
      'could not be converted',
    ],
    [
      'Swagger, too deep',
      `{"swagger": "2.0", "paths": ${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
      'nests deeper',
    ],
    ['a later version', '{"openapi": "4.0.0", "paths": {}}', 'OpenAPI 3.1 and 3.0 are read'],
    [
      'another dialect',
      '{"openapi": "3.1.0", "paths": {}, "jsonSchemaDialect": "http://json-schema.org/draft-07/schema#"}',
      'only JSON Schema 2020-12',
    ],
    [
      'a dialect that is no text',
      '{"openapi": "3.1.0", "paths": {}, "jsonSchemaDialect": {"toString": 1}}',
      'only JSON Schema 2020-12',
    ],
    ['no paths', '{"openapi": "3.1.0"}', 'has no paths'],
    ['too deep', `{"openapi": "3.1.0", "paths": ${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`, 'nests deeper'],
  ])('that is none is refused with its reason: %s', async (_, document, why) => {
    await expect(parseDocument(document)).rejects.toThrow(why)
  })

  test('of YAML is not searched for names that come twice, which would take the square of their number', async () => {
    const { root } = await parseDocument('openapi: 3.1.0\npaths: {a: 1}\npaths: {}\n')
    expect(root.paths).toEqual({}) // the last of equal keys wins, as in JSON
  })

  test('of YAML has as many parts as are read in a moment', async () => {
    const withLines = (lines: number) => `openapi: 3.1.0\npaths: {}\nx-list:\n${'- 1\n'.repeat(lines)}`
    expect((await parseDocument(withLines(1_000))).root['x-list']).toHaveLength(1_000)
    await expect(parseDocument(withLines(1_000_000))).rejects.toThrow('too many lines')
    const list = `[${'1,'.repeat(1_000_000)}1]`
    await expect(parseDocument(`openapi: 3.1.0\npaths: {}\nx-list: ${list}\n`)).rejects.toThrow(
      'too many lines',
    )
    expect(
      (await parseDocument(`{"openapi":"3.1.0","paths":{},"x-list":${list}}`)).root['x-list'],
    ).toHaveLength(1_000_001)
  })

  test('with many references into a large map looks none of them up by reading the map', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, i) => [`s${i}`, { type: 'string' }]),
    )
    const paths = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => {
        const parameters = Array.from({ length: 20 }, (_, j) => ({
          name: `p${j}`,
          in: 'query',
          schema: { $ref: `#/components/schemas/s${i * 900 + j}` },
        }))
        return [`/p${i}`, { get: { operationId: `Do${i}`, parameters } }]
      }),
    )
    const servers = [{ url: 'https://api.example.com' }]
    const items = await read({ openapi: '3.1.0', servers, paths, components: { schemas } })
    expect(items.filter(({ outcome }) => outcome === 'read')).toHaveLength(100)
  })

  test('whose schemas lead from one to the next takes no stack for it', async () => {
    const chain = (length: number) => ({
      ...documentOf(taking({ $ref: '#/components/schemas/s0' })),
      components: {
        schemas: Object.fromEntries(
          Array.from({ length }, (_, i) => [
            `s${i}`,
            { type: 'object', properties: { next: { $ref: `#/components/schemas/s${(i + 1) % length}` } } },
          ]),
        ),
      },
    })
    expect(await reasonOf(chain(1_000))).toBe('read')
    expect(await reasonOf(chain(50_000))).toContain('It has more than')
  })

  test('names its tools by operationId, or by method and path; a name that comes twice is left out', async () => {
    const paths = {
      '/a/{id}': {
        parameters: [{ in: 'path', name: 'id', schema: text }],
        get: {},
        delete: { operationId: 'rm it!' },
        head: {},
        options: {},
      },
      '/b': { get: { operationId: 'Rm_it_' } },
    }
    const items = await read({ ...documentOf({}), paths })
    expect(
      items.map((one) => {
        if (one.outcome === 'remark') return one.message
        return one.outcome === 'read' ? one.tool.name : `${one.name}: ${one.reason}`
      }),
    ).toEqual(['get_a_id', 'rm_it_', 'Rm_it_: Another operation has the same name.'])
  })

  test('is taken in part by operationId and tag', async () => {
    const paths = {
      '/a': { get: { operationId: 'A', tags: ['x'] }, post: { operationId: 'B', tags: ['x', 'y'] } },
      '/c': { get: { operationId: 'C' } },
    }
    const names = async (operations: NonNullable<OpenapiSettings['operations']>) =>
      (await read({ ...documentOf({}), paths }, { operations })).map((one) =>
        one.outcome === 'read' ? one.tool.name : '',
      )
    expect(await names({})).toEqual(['A', 'B', 'C'])
    expect(await names({ include: ['x', 'C'] })).toEqual(['A', 'B', 'C'])
    expect(await names({ include: ['x'], exclude: ['y'] })).toEqual(['A'])
    expect(await names({ exclude: ['A'] })).toEqual(['B', 'C'])
  })

  test('with more operations than are taken says what to do', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 2001 }, (_, i) => [`/${i}`, { get: { tags: [i % 3 ? 'often' : 'seldom'] } }]),
    )
    await expect(read({ ...documentOf({}), paths })).rejects.toThrow(
      'choose them in operations.include, for instance by tag: "often" (1334), "seldom" (667)',
    )
    expect(await read({ ...documentOf({}), paths }, { operations: { include: [] } })).toEqual([])
  })

  test('that repeats a large schema in every tool is read as far as that is of use', async () => {
    const properties = Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`p${i}`, text]))
    const body = taking({ $ref: '#/components/schemas/Large' })
    const paths = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`/${i}`, { post: body }]))
    const items = await read({ ...documentOf({}), paths, components: { schemas: { Large: { properties } } } })
    const refused = items.filter((one) => one.outcome === 'refused')
    expect(refused.length).toBeGreaterThan(10)
    expect(refused.length).toBeLessThan(50)
    expect(refused[0]).toMatchObject({
      reason: expect.stringContaining('choose fewer in operations.include'),
    })
    const larger = {
      type: 'object',
      properties: { ...properties, more: { type: 'array', items: { properties } } },
    }
    expect((await only(documentOf(answering(larger)))).outputSchema).toBeUndefined()
    expect(await reasonOf(documentOf(taking(larger), { method: 'post' }))).toContain('more than 3000 schemas')
  })

  test.each([
    ['its own', { servers: [{ url: 'https://a.example/x/' }] }, {}, undefined, 'https://a.example/x/things'],
    ['the document’s', {}, {}, undefined, 'https://api.example.com/v1/things'],
    [
      'relative to the document',
      { servers: [{ url: '../api' }] },
      {},
      'https://d.example/docs/v1/o.json',
      'https://d.example/docs/api/things',
    ],
    [
      'none: where the document is',
      { servers: [] },
      { servers: [] },
      'https://d.example/docs/o.json',
      'https://d.example/things',
    ],
    [
      'with variables',
      {
        servers: [{ url: 'https://{r}.a.example', variables: { r: { default: 'eu', enum: ['eu', 'us'] } } }],
      },
      {},
      undefined,
      'https://eu.a.example/things',
    ],
  ])('says where requests go: %s', async (_, operation, more, documentUrl, url) => {
    expect(planOf((await only(documentOf(operation, more), {}, documentUrl)).document).url).toBe(url)
  })

  test('is sent to the operator’s server alone where one is said', async () => {
    const tool = await only(documentOf({ servers: [{ url: 'https://evil.example' }] }), {
      serverUrl: 'https://b.example/',
    })
    expect(planOf(tool.document).url).toBe('https://b.example/things')
  })
})

describe('what of an operation cannot be a tool is left out with its reason', () => {
  const parameter = (more: object) => ({ parameters: [{ in: 'query', name: 'p', schema: text, ...more }] })
  test.each([
    [taking({ type: 'object' }, 'multipart/form-data'), 'multipart/form-data'],
    [taking({ type: 'string' }, 'application/octet-stream'), 'application/octet-stream'],
    [taking({ type: 'object', properties: { a: text } }, 'application/jsonl'), 'a body of application/jsonl'],
    [taking({}, 'application/x-www-form-urlencoded'), 'whose members are not described'],
    [parameter({ in: 'cookie', required: true }), 'in "cookie"'],
    [parameter({ in: 'header', name: 'Host', required: true }), 'not one that a tool may set'],
    [parameter({ in: 'header', name: 'a b' }), 'not a valid header name'],
    [parameter({ style: 'matrix' }), 'style "matrix"'],
    [
      {
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { a: text } },
              encoding: { a: { style: 'label' } },
            },
          },
        },
      },
      'style "label"',
    ],
    [parameter({ content: { 'application/xml': {} }, schema: undefined }), 'application/xml'],
    [parameter({ schema: { $ref: 'https://evil.example/schema.json' } }), 'which are not fetched'],
    [parameter({ schema: { $ref: './other.yaml#/a' } }), 'which are not fetched'],
    [parameter({ schema: { $ref: '#anchor' } }), 'which is not in the document'],
    [parameter({ schema: { $ref: '#/components/schemas/Gone' } }), 'not in the document'],
    [parameter({ schema: { $dynamicRef: '#x' } }), '$dynamicRef'],
    [
      { parameters: [{ $ref: 'other.yaml#/p' }] },
      'One operation refers to other documents ("other.yaml#/p")',
    ],
    [{ security: [{ unknown: [] }] }, '"unknown"'],
    [{ security: [{ cookie: [] }] }, 'in "cookie"'],
    [{ parameters: [{ in: 'query', name: { toString: 1 } }] }, 'a parameter without a name'],
    [{ security: [{ digest: [] }] }, '"digest"'],
    [{ security: [{ odd: [{ toString: 1 }] }] }, 'a kind that is not supported'],
    [{ security: [{ mtls: [] }] }, '"mutualTLS"'],
    [{ security: [{ tokenInQuery: [] }] }, 'never put into a URL'],
    [{ security: [{ oauth: [], bearer: [] }] }, 'two credentials in one place'],
  ])('%j', async (operation, why) => {
    const securitySchemes = {
      cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
      digest: { type: 'http', scheme: 'digest' },
      odd: { type: 'http', scheme: { toString: 1 } },
      mtls: { type: 'mutualTLS' },
      oauth: { type: 'oauth2' },
      bearer: { type: 'http', scheme: 'bearer' },
      tokenInQuery: { type: 'apiKey', in: 'query', name: 'token', 'x-gatepass-provider': 'demo' },
    }
    expect(await reasonOf(documentOf(operation, { components: { securitySchemes } }))).toContain(why)
  })

  test.each([
    ['/a?x={id}', 'has a query'],
    ['/a/{id}', '{id}, which is not declared as a parameter'],
    ['/a\ud83d', 'half of a surrogate pair'],
  ])('the path %s', async (path, why) => {
    expect(await reasonOf(documentOf({}, { path }))).toContain(why)
  })
})

test('a path with characters outside of the Basic Multilingual Plane is encoded', async () => {
  const { document } = await only(documentOf({}, { path: '/things/ü/😀' }))
  expect(planOf(document).url).toBe('https://api.example.com/v1/things/%C3%BC/%F0%9F%98%80')
})

describe('the input of a tool', () => {
  test('is made of parameters and the members of the body, each by its own name', async () => {
    const tool = await only(
      documentOf(
        {
          parameters: [
            { in: 'path', name: 'id', description: 'Which', schema: text },
            { in: 'query', name: 'id', schema: { type: 'integer' } },
          ],
          ...taking({
            type: 'object',
            properties: { note: text, no: { type: 'string', readOnly: true } },
            required: ['note', 'no'],
          }),
        },
        { path: '/things/{id}', method: 'post' },
      ),
    )
    expect(tool.inputSchema).toEqual({
      type: 'object',
      properties: { id: { ...text, description: 'Which' }, query_id: { type: 'integer' }, note: text },
      required: ['id', 'note'],
      additionalProperties: false,
    })
    const { url, body } = await buildRequest(planOf(tool.document), { id: 'a', query_id: 1, note: 'n' })
    expect([url.href, body]).toEqual(['https://api.example.com/v1/things/a?id=1', '{"note":"n"}'])
  })

  test('has a property for each parameter, also when another one has the name of its property', async () => {
    const parameters = [
      { in: 'query', name: 'query_id', schema: text },
      { in: 'path', name: 'id', schema: text },
      { in: 'query', name: 'id', schema: text },
    ]
    const tool = await only(documentOf({ parameters }, { path: '/things/{id}' }))
    const input = { query_id: 'a', id: 'b', query_query_id: 'c' }
    expect(Object.keys(tool.inputSchema.properties as object)).toEqual(Object.keys(input))
    const { url } = await buildRequest(planOf(tool.document), input)
    expect(url.href).toBe('https://api.example.com/v1/things/b?query_id=a&id=c')
  })

  test.each([
    ['a member called like a parameter', { type: 'object', properties: { q: text } }, true],
    ['an open object', { type: 'object', properties: { a: text }, additionalProperties: true }, true],
    ['alternatives', { oneOf: [{ type: 'object', properties: { a: text } }] }, true],
    ['a list', { type: 'array', items: text }, true],
    [
      'an optional one with required members',
      { type: 'object', properties: { a: text }, required: ['a'] },
      false,
    ],
  ])('takes a body as a whole that is no plain object beside the rest: %s', async (_, schema, required) => {
    const operation = {
      parameters: [{ in: 'query', name: 'q', schema: text }],
      ...taking(schema, 'application/json', required),
    }
    const tool = await only(documentOf(operation, { method: 'post' }))
    expect(Object.keys(tool.inputSchema.properties as object)).toEqual(['q', 'body'])
    expect((await buildRequest(planOf(tool.document), { body: { a: 1 } })).body).toBe('{"a":1}')
    if (!required) expect((await buildRequest(planOf(tool.document), {})).body).toBeUndefined()
  })

  test('has the members of the body of plain JSON, where there are several kinds of JSON', async () => {
    const content = {
      'application/json-patch+json': { schema: { type: 'array' } },
      'application/json; charset=utf-8': { schema: { type: 'object', properties: { a: text } } },
    }
    const tool = await only(documentOf({ requestBody: { content } }, { method: 'post' }))
    const { headers, body } = await buildRequest(planOf(tool.document), { a: 'x' })
    expect([headers['content-type'], body]).toEqual(['application/json; charset=utf-8', '{"a":"x"}'])
  })

  test('stands by itself: what it refers to comes with it, circles too', async () => {
    const schemas = {
      Node: {
        type: 'object',
        properties: {
          next: { $ref: '#/components/schemas/Node' },
          kind: { $ref: '#/components/schemas/a~1b' },
        },
      },
      'a/b': { enum: ['x'], example: 'x', 'x-internal': true, discriminator: { propertyName: 'kind' } },
    }
    const tool = await only(
      documentOf(taking({ type: 'array', items: { $ref: '#/components/schemas/Node' } }), {
        method: 'post',
        components: { schemas },
      }),
    )
    expect(tool.inputSchema).toMatchObject({
      properties: { body: { type: 'array', items: { $ref: '#/$defs/Node' } } },
      $defs: {
        Node: { properties: { next: { $ref: '#/$defs/Node' }, kind: { $ref: '#/$defs/a_1b' } } },
        a_1b: { enum: ['x'], examples: ['x'] },
      },
    })
    expect(JSON.stringify(tool.inputSchema)).not.toMatch(/x-internal|discriminator|components/)
  })

  test('of OpenAPI 3.0 is said in the words of 2020-12', async () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string', nullable: true, enum: ['x'] },
        b: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
        c: { nullable: true, allOf: [{ $ref: '#/components/schemas/C' }] },
        d: { $ref: '#/components/schemas/C', description: 'says nothing here' },
      },
    }
    const tool = await only(
      documentOf(taking(schema), {
        method: 'post',
        openapi: '3.0.3',
        components: { schemas: { C: { type: 'integer', example: 3 } } },
      }),
    )
    expect(tool.inputSchema.properties).toEqual({
      a: { type: ['string', 'null'], enum: ['x', null] },
      b: { type: 'number', exclusiveMinimum: 1, maximum: 9 },
      c: { anyOf: [{ allOf: [{ $ref: '#/$defs/C' }] }, { type: 'null' }] },
      d: { type: 'integer', examples: [3] },
    })
    expect(tool.inputSchema.$defs).toEqual({ C: { type: 'integer', examples: [3] } })
  })

  test('leaves what the broker cannot check to the API', async () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string', pattern: '^(?!x)' },
        b: { type: 'string', pattern: '^x+$' },
        c: { type: 'string', pattern: { toString: 1 } },
      },
      patternProperties: { '^(?=y)': text, '^z': text },
      additionalProperties: false,
    }
    const { body } = (await only(documentOf(taking(schema), { method: 'post' }))).inputSchema.properties as {
      body: object
    }
    expect(body).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string', $comment: 'pattern: ^(?!x)' },
        b: { type: 'string', pattern: '^x+$' },
        c: { type: 'string', $comment: 'pattern: {"toString":1}' },
      },
      patternProperties: { '^z': text },
    })
  })

  test('of a document whose version is no text has none', async () => {
    const info = { title: 'Things', version: { toString: 1 } }
    expect((await only(documentOf({}, { info }))).version).toBeUndefined()
  })

  test('does not ask for what is set otherwise', async () => {
    const parameters = ['Authorization', 'Accept', 'X-Version', 'X-Key', 'x-ok'].map((name) => ({
      in: 'header',
      name,
      schema: text,
      required: true,
    }))
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-KEY' } } }
    const tool = await only(documentOf({ parameters, security: [{ key: [] }] }, { components }), {
      headers: { 'x-version': '1' },
    })
    expect(tool.inputSchema.required).toEqual(['x-ok'])
  })
})

describe('the output of a tool', () => {
  const schemas = {
    Thing: {
      type: 'object',
      properties: { a: text, pw: { type: 'string', writeOnly: true } },
      required: ['a', 'pw'],
      additionalProperties: false,
    },
  }
  test('is what the one good answer surely is, and may hold more', async () => {
    const tool = await only(
      documentOf(answering({ $ref: '#/components/schemas/Thing' }), { components: { schemas } }),
    )
    expect(tool.outputSchema).toEqual({ type: 'object', properties: { a: text }, required: ['a'] })
    expect(
      (await only(documentOf(answering({ type: 'object' })), { checkOutput: false })).outputSchema,
    ).toBeUndefined()
  })

  const content = (schema: object, type = 'application/json') => ({ content: { [type]: { schema } } })
  test.each([
    ['two good answers', { 200: content({ type: 'object' }), 201: content({ type: 'object' }) }],
    ['one that may be empty', { 200: content({ type: 'object' }), 204: {} }],
    [
      'several kinds of content',
      { 200: { content: { ...content({ type: 'object' }).content, 'text/csv': {} } } },
    ],
    ['no schema', { 200: { content: { 'application/json': {} } } }],
    ['anything', { 200: content({}) }],
    ['a text', { 200: content(text, 'text/plain') }],
    ['an object or a text', { 200: content({ type: ['object', 'string'] }) }],
    ['only a default', { default: content({ type: 'object' }) }],
  ])('is not said where there is more than one, or it is not clear: %s', async (_, responses) => {
    expect((await only(documentOf({ responses }))).outputSchema).toBeUndefined()
  })
})

describe('what a tool needs', () => {
  const securitySchemes = {
    oauth: { type: 'oauth2' },
    oidc: { type: 'openIdConnect' },
    bearer: { type: 'http', scheme: 'Bearer' },
    named: { type: 'oauth2', 'x-gatepass-provider': 'github' },
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  }
  const needs = async (
    security: unknown,
    authorization: NonNullable<OpenapiSettings['authorization']> = {},
  ) => {
    const document = documentOf({ security }, { components: { securitySchemes } })
    const { requirements, document: kept } = await only(document, { authorization })
    return { ...requirements, credentials: planOf(kept).credentials.length }
  }

  test.each([
    ['nothing', [], {}, { authorization: [], secrets: [], credentials: 0 }],
    [
      'the provider of the scheme’s name',
      [{ oauth: ['a', 'b'] }],
      {},
      { authorization: [{ providerId: 'oauth', scopes: ['a', 'b'] }] },
    ],
    [
      'the provider that the document names',
      [{ named: ['a'] }],
      {},
      { authorization: [{ providerId: 'github', scopes: ['a'] }] },
    ],
    [
      'the provider that the operator names',
      [{ named: ['a'] }],
      { named: { id: 'gh-2', scopes: ['b'] } },
      { authorization: [{ id: 'gh-2', scopes: ['a', 'b'] }] },
    ],
    [
      'no scopes out of roles',
      [{ bearer: ['admin'] }],
      { bearer: { providerId: 'demo' } },
      { authorization: [{ providerId: 'demo', scopes: [] }] },
    ],
    ['a secret', [{ key: [] }], {}, { authorization: [], secrets: ['key'], credentials: 1 }],
    [
      'a secret in place of a token',
      [{ bearer: [] }],
      { bearer: { secret: 'TOKEN' } },
      { authorization: [], secrets: ['TOKEN'] },
    ],
    [
      'both at once',
      [{ oauth: [], key: [] }],
      {},
      { authorization: [{ providerId: 'oauth', scopes: [] }], secrets: ['key'] },
    ],
    [
      'the alternative that the operator names',
      [{ oauth: [] }, { key: [] }],
      { key: { secret: 'K' } },
      { authorization: [], secrets: ['K'], credentials: 1 },
    ],
    [
      'the one that can be met',
      [{ gone: [] }, { oidc: ['openid'] }],
      {},
      { authorization: [{ providerId: 'oidc', scopes: ['openid'] }] },
    ],
    [
      'any of several tokens',
      [{ oauth: ['a'] }, { oidc: [] }],
      {},
      {
        authorization: [],
        alternatives: [[{ providerId: 'oauth', scopes: ['a'] }], [{ providerId: 'oidc', scopes: [] }]],
        credentials: 2,
      },
    ],
    [
      'a token or nothing',
      [{}, { oauth: ['a'] }],
      {},
      { authorization: [], alternatives: [[{ providerId: 'oauth', scopes: ['a'] }], []], credentials: 2 },
    ],
  ])('%s', async (_, security, authorization, expected) => {
    expect(await needs(security, authorization)).toMatchObject(expected)
  })
})

describe('an argument', () => {
  let tool: CatalogueTool
  beforeAll(async () => {
    tool = await only(
      documentOf(
        {
          parameters: [
            { in: 'path', name: 'id', schema: text },
            { in: 'path', name: 'list', schema: {} },
            { in: 'query', name: 'q', schema: text },
          ],
        },
        { path: '/things/{id}/parts/{list}.json' },
      ),
    )
  })
  const build = (input: object) => buildRequest(planOf(tool.document), { ...input })

  test('never changes where a request goes, whatever stands in it', async () => {
    const nasty = fc.oneof(
      fc.string(),
      anyText(),
      fc
        .array(
          fc.constantFrom(
            '.',
            '/',
            '\\',
            '%',
            '2',
            'e',
            'f',
            '?',
            '#',
            '@',
            ':',
            '{',
            '}',
            ' ',
            '\t',
            'ü',
            '5',
            'c',
          ),
        )
        .map((all) => all.join('')),
    )
    await fc.assert(
      fc.asyncProperty(nasty, nasty, nasty, async (id, part, q) => {
        let url: URL
        try {
          url = (await build({ id, list: [part, 'x'], q })).url
        } catch (error) {
          expect(error).toBeInstanceOf(BadArgument)
          return
        }
        expect(url.origin).toBe('https://api.example.com')
        const [, version, things, written = '', parts, last = '', ...more] = url.pathname.split('/')
        expect([version, things, parts, more]).toEqual(['v1', 'things', 'parts', []])
        expect(decodeURIComponent(written)).toBe(id)
        expect(decodeURIComponent(last)).toBe(`${part},x.json`)
        expect([...url.searchParams]).toEqual([['q', q]])
        expect(url.hash).toBe('')
      }),
    )
  })

  test('that is null is left out of the query and the headers', async () => {
    const schema = { type: ['string', 'null'] }
    const parameters = [
      { in: 'query', name: 'q', schema },
      { in: 'header', name: 'X-Trace', schema },
    ]
    const { document } = await only(documentOf({ parameters }))
    const { url, headers } = await buildRequest(planOf(document), { q: null, 'X-Trace': null })
    expect([url.search, headers]).toEqual(['', expect.not.objectContaining({ 'x-trace': expect.anything() })])
  })

  test('that is not there is an error, not a hole in the path', async () => {
    await expect(build({ list: 'a' })).rejects.toThrow(BadArgument)
    await expect(build({ id: null, list: 'a' })).rejects.toThrow(BadArgument)
    await expect(build({ id: [], list: 'a' })).rejects.toThrow('is empty')
    await expect(build({ id: { a: {} }, list: 'a' })).rejects.toThrow('nests deeper')
  })
})

test.each([
  [{ style: 'pipeDelimited' }, 'ids=1%7C2&at=x%7C1'],
  [{ style: 'spaceDelimited' }, 'ids=1%202&at=x%201'],
  [{ explode: false }, 'ids=1,2&at=x,1'],
  [{ style: 'form' }, 'ids=1&ids=2&x=1'],
])(
  'members of a form and parameters of a query have the style of the document: %j',
  async (style, written) => {
    const schema = { type: 'object', properties: { ids: {}, at: {} } }
    const content = { 'application/x-www-form-urlencoded': { schema, encoding: { ids: style, at: style } } }
    const parameters = ['ids', 'at'].map((name) => ({ in: 'query', name, schema: {}, ...style }))
    const form = await only(documentOf({ requestBody: { content } }, { method: 'post' }))
    const query = await only(documentOf({ parameters }))
    const input = { ids: [1, 2], at: { x: 1 } }
    expect((await buildRequest(planOf(form.document), input)).body).toBe(written)
    expect((await buildRequest(planOf(query.document), input)).url.search).toBe(`?${written}`)
  },
)

test('the query of a single request may have question marks', async () => {
  const tool = readRequestDescription(
    {
      name: 'Find',
      description: '',
      method: 'GET',
      url: 'https://api.example.com/find?q=why?&a=b',
      inputSchema: { type: 'object' },
    },
    {},
  )
  expect((await buildRequest(planOf(tool.document), {})).url.search).toBe('?q=why%3F&a=b')
})

test.each([
  ['is cut off', [0x5b]],
  ['is not UTF-8', [0x22, 0xff, 0x22]],
])('an answer that %s, although its content type says JSON, is an error that says so', (_, bytes) => {
  const headers = { 'content-type': 'application/json' }
  const answer = readResponse({ status: 200, headers, body: Uint8Array.from(bytes) }, true)
  expect(answer).toMatchObject({
    outcome: 'error',
    error: { developerMessage: expect.stringContaining('a body that is not JSON') },
  })
})

test('a null stands for a parameter that is absent, but not for an item of a list', async () => {
  const nullable = { type: ['string', 'null'] }
  const parameters = [
    { in: 'header', name: 'X-Trace', schema: nullable },
    { in: 'query', name: 'q', schema: nullable },
    { in: 'query', name: 'ids', schema: { type: 'array', items: nullable } },
  ]
  const plan = planOf((await only(documentOf({ parameters }))).document)
  const { url, headers } = await buildRequest(plan, { 'X-Trace': null, q: null, ids: [] })
  expect(url.href).toBe('https://api.example.com/v1/things')
  expect(headers).not.toHaveProperty('x-trace')
  await expect(buildRequest(plan, { ids: ['a', null] })).rejects.toThrow('has a null in it')
})

test('settings are refused as invalid requests', () => {
  expect(() => checkOpenapiSettings({ document: { openapi: '2' } })).toThrow(BrokerError)
})
