import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import {
  nameOfReference,
  type OpenApiDocument,
  type Operation,
  type Schema,
} from '../sdk/wire-types/openapi.ts'

// What clients that are generated from /openapi.json rely on: a stable name of every operation, and the form of every
// answer.

let gatepass: Gatepass
let document: OpenApiDocument
let operations: readonly (readonly [route: string, operation: Operation & { readonly tags?: string[] }])[]

beforeAll(async () => {
  gatepass = await startGatepass()
  document = (await gatepass.call('GET', '/openapi.json', undefined, { key: null })).body
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  )
})
afterAll(() => gatepass.close())

describe('every operation', () => {
  test('has an id of its own, a summary and a tag', () => {
    const ids = operations.map(([, { operationId }]) => operationId)
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
    expect(operations.filter(([, { summary, tags = [] }]) => !summary || tags.length !== 1)).toEqual([])
  })

  test('refuses with the one error schema, whose codes are a closed list', () => {
    const refusals = operations
      .filter(([, operation]) => !isPublic(operation))
      .map(([, { responses }]) => responses.default?.content?.['application/json']?.schema?.$ref)
    expect(new Set(refusals)).toEqual(new Set(['#/components/schemas/ErrorBody']))
    expect(document.components.schemas.ErrorBody?.properties?.name).toEqual({
      $ref: '#/components/schemas/ErrorCode',
    })
    expect(document.components.schemas.ErrorCode?.enum).toContain('invalid_request')
  })

  /** No key is checked, so nothing is refused; what is not found there has no body either. */
  function isPublic({ responses }: Operation): boolean {
    return responses.default === undefined
  }

  test('says what it answers', () => {
    const silent = operations.flatMap(([route, { responses }]) =>
      Object.entries(responses)
        .filter(([, { content }]) => Object.values(content ?? {})[0]?.schema === undefined)
        .map(([status]) => `${route} ${status}`),
    )
    const withoutBody = silent.filter((answer) => answer.endsWith(' 204'))
    expect(silent.filter((answer) => !withoutBody.includes(answer))).toEqual([
      // OXP defines no body
      'get /oxp/health 200',
      'get /oxp/health 503',
      // the answer of the provider's API
      ...['get', 'post', 'put', 'patch', 'delete'].map((method) => `${method} /proxy/{provider}/{path} 200`),
    ])
  })
})

test('every schema has a type', () => {
  const untyped: string[] = []
  const visit = (schema: Schema, place: string): void => {
    const { $ref, type, const: constant, properties, items, additionalProperties: others } = schema
    const alternatives = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])]
    // one that only says which members are required has no type of its own
    const choices = alternatives.filter((one) => Object.keys(one).some((keyword) => keyword !== 'required'))
    if (($ref ?? type ?? constant) === undefined && choices.length === 0) untyped.push(place)
    if (type === 'object' && properties === undefined && others === undefined) untyped.push(place)
    for (const [name, member] of Object.entries(properties ?? {})) visit(member, `${place}.${name}`)
    if (items !== undefined) visit(items, `${place}[]`)
    if (typeof others === 'object') visit(others, `${place}{}`)
    for (const choice of choices) visit(choice, place)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name)
  for (const [route, { parameters = [], requestBody, responses }] of operations) {
    for (const { name, schema } of parameters) visit(schema, `${route} ?${name}`)
    for (const { content } of [...Object.values(responses), ...(requestBody ? [requestBody] : [])])
      for (const { schema } of Object.values(content ?? {})) if (schema) visit(schema, route)
  }
  expect(untyped).toEqual([])
})

test('what is any JSON or any object is named, with the reason', () => {
  const { JsonValue, JsonObject, JsonSchema } = document.components.schemas
  for (const schema of [JsonValue, JsonObject, JsonSchema]) expect(schema?.description).toBeTruthy()
  const open = Object.entries(document.components.schemas)
    .filter(([, { properties, additionalProperties: others }]) => !properties && typeof others === 'object')
    .map(([name]) => name)
  expect(open.toSorted()).toEqual(['JsonObject', 'JsonSchema', 'JsonValue'])
})

test('a reference that may be null is a choice of the two', () => {
  expect(document.components.schemas.OxpTool?.properties?.output_schema?.anyOf).toEqual([
    { $ref: '#/components/schemas/JsonSchema' },
    { type: 'null' },
  ])
  const choice = document.components.schemas.AuthorizeRequest?.properties?.auth_requirement
  expect(choice?.properties?.provider_type?.enum).toEqual(['oauth2', null])
})

/** The schema itself, or the component that it refers to. */
function resolved(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined ? schema : document.components.schemas[nameOfReference(schema.$ref)]
}

describe('the tool of a request', () => {
  const OWN = [
    ['post /v1/tools/authorize', 'tool_name', undefined],
    ['post /v1/tools/execute', 'tool_name', 'input'],
    ['post /v1/tools/run', 'toolId', 'args'],
    ['post /v1/tools/run_stream', 'toolId', 'args'],
    ['post /v1/tools/run_chain', 'toolId', 'args'],
  ] as const

  test.each(OWN)('%s has one name, and says which others mean the same', (route, tool, input) => {
    const { requestBody } = Object.fromEntries(operations)[route] ?? {}
    const body = resolved(requestBody?.content['application/json']?.schema)
    const schema = resolved(body?.properties?.steps?.items ?? body)
    const others = ['toolId', 'tool_id', 'tool_name'].filter((name) => name !== tool)
    expect(schema?.anyOf).toEqual([tool, ...others].map((name) => ({ required: [name] })))
    expect(schema?.properties?.[tool]).toMatchObject({ type: 'string', description: expect.any(String) })
    const inputs = input === undefined ? [] : ['args', 'input'].filter((name) => name !== input)
    for (const [name, own] of [...others.map((one) => [one, tool]), ...inputs.map((one) => [one, input])])
      expect(schema?.properties?.[name ?? '']).toMatchObject({
        deprecated: true,
        description: `Means the same as \`${own}\``,
      })
    const current = Object.entries(schema?.properties ?? {}).filter(
      ([, { deprecated }]) => deprecated !== true,
    )
    const named = current
      .map(([name]) => name)
      .filter((name) => /^tool(?:Id|_id|_name)$|^args$|^input$/.test(name))
    expect(named).toEqual(input === undefined ? [tool] : [tool, input])
  })

  test('may be given by any of the names, with null for the others', async () => {
    const names = ['toolId', 'tool_name', 'tool_id']
    for (const name of names) {
      const nulls = Object.fromEntries(names.map((one) => [one, null]))
      const body = { ...nulls, [name]: 'nowhere:Nothing', args: null, input: null }
      for (const path of ['/v1/tools/execute', '/v1/tools/run'])
        expect((await gatepass.call('POST', path, body)).body.name, name).toBe('not_found')
    }
    const { body } = await gatepass.call('POST', '/v1/tools/run', { toolId: null })
    expect(body.errors).toMatchObject([{ path: 'toolId', code: 'missing' }])
  })

  test('is one required member on the page of the reference, and the other names are marked', async () => {
    const { body } = await gatepass.call('GET', '/docs/running-tools', undefined, { key: null })
    const text = String(body)
      .replace(/<[^>]+>/g, '')
      .replace(/\s+/g, ' ')
    expect(text).toContain('toolId string · required')
    expect(text).toContain('tool_name string · deprecated')
    expect(text).not.toContain('tool_id string or null')
  })
})

test('an object of more than three members is described once: others refer to it by name', () => {
  const places = new Map<string, string[]>()
  for (const [place, schema] of objectsIn(document, '')) {
    const { properties = {} } = schema
    if (Object.keys(properties).length <= 3 || 'page_count' in properties) continue // pages differ by their items alone
    const form = JSON.stringify(schema, (key, value) => (key === 'description' ? undefined : value))
    places.set(form, [...(places.get(form) ?? []), place])
  }
  const repeated = [...places.values()].filter((all) => all.length > 1)
  // a part of the schema of definition files, which has no names
  expect(repeated.flat().filter((place) => !place.endsWith('/kept_values/additionalProperties'))).toEqual([])
})

function* objectsIn(value: unknown, at: string): Generator<[place: string, schema: Schema]> {
  if (typeof value !== 'object' || value === null) return
  if ('properties' in value && 'type' in value && value.type === 'object') yield [at, value as Schema]
  for (const [name, inner] of Object.entries(value)) yield* objectsIn(inner, `${at}/${name}`)
}
