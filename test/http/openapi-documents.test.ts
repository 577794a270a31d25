import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { syncWorkers } from '../../src/tools/worker.ts'
import {
  answer,
  answerJson,
  bearerOf,
  type Loopback,
  listen,
  type RecordedRequest,
  record,
} from '../loopback.ts'
import { defined } from '../store/fixtures.ts'
import { approve, providerBody, startWorld, type World } from './world.ts'

// Documents as others write them: without a word on security, in several files, large, and unchanged for weeks.

let world: World
let api: Loopback
let served: { readonly body: string; readonly etag?: string; readonly modified?: string } = { body: '' }
const asked: RecordedRequest[] = []
const calls: RecordedRequest[] = []

beforeAll(async () => {
  // the server's own job, which reads all documents every 30 seconds, would be counted too
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  world = await startWorld()
  vi.useRealTimers()
  api = await listen(async (req, res) => {
    const request = await record(req)
    if (request.path !== '/openapi') {
      calls.push(request)
      return answerJson(res, 200, { ok: true })
    }
    asked.push(request)
    const { body, etag, modified } = served
    const isSame = etag !== undefined && request.headers['if-none-match'] === etag
    const validators = { ...(etag && { etag }), ...(modified && { 'last-modified': modified }) }
    if (isSame || (modified !== undefined && request.headers['if-modified-since'] === modified))
      return void res.writeHead(304, validators).end()
    answer(res, 200, 'text/plain', body, validators)
  })
  const body = providerBody('hub', world.as)
  const hub = { ...body, oauth2: { ...body.oauth2, api: { hosts: [new URL(api.url).host] } } }
  await world.call('POST', '/v1/admin/auth_providers', hub)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await api.close()
})

const text = { type: 'string' }
const documentOf = (paths: object, more: object = {}) => ({
  openapi: '3.0.3',
  info: { title: 'Files', version: '1.0.0' },
  servers: [{ url: api.url }],
  paths,
  ...more,
})

let workers = 0
async function register(openapi: object) {
  const id = `api${++workers}`
  const { status, body } = await world.call('POST', '/v1/workers', { id, pinning: 'record', openapi })
  expect([status, body.message]).toEqual([201, undefined])
  const tools = await world.call('GET', `/v1/workers/${id}/tools?limit=100`)
  return { id, fault: body.sync_error as string | undefined, tools: tools.body.items as { name: string }[] }
}

describe('a document in several files', () => {
  test('has no tools of what stands in the others, and says so in one sentence', async () => {
    const { tools, fault } = await register({
      document: documentOf(
        {
          '/droplets': {
            get: { $ref: 'resources/droplets_list.yml' },
            delete: { $ref: 'resources/droplets_delete.yml' },
          },
          '/volumes': { $ref: 'resources/volumes.yml' },
          '/images': { get: { operationId: 'images' } },
          '/actions': {
            get: { operationId: 'actions', responses: { 200: { $ref: '#/components/responses/a' } } },
          },
          '/moved': { get: { $ref: '#/paths/~1images/get' } },
        },
        { components: { responses: { a: { description: '' } } } },
      ),
    })
    expect(tools.map(({ name }) => name)).toEqual(['images', 'actions'])
    expect(fault).toBe(
      'The tool "images" was left out: Another operation has the same name. 3 operations refer to other documents ("resources/droplets_list.yml"), which are not fetched: bundle the document into one file first, for instance with `npx @redocly/cli bundle`.',
    )
  })
})

describe('a document of Swagger 2.0', () => {
  const swagger = (host: string) => ({
    swagger: '2.0',
    info: { title: 'Notes', version: '1.0.0' },
    host,
    basePath: '/v2',
    schemes: ['http'],
    consumes: [],
    parameters: { page: { in: 'query', name: 'page', type: 'integer' } },
    definitions: { Note: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
    paths: {
      '/notes/{id}': {
        post: {
          operationId: 'addNote',
          parameters: [
            { in: 'path', name: 'id', type: 'string', required: true },
            { in: 'query', name: 'tags', type: 'array', items: { type: 'string' }, collectionFormat: 'csv' },
            { $ref: '#/parameters/page' },
            { in: 'body', name: 'note', required: true, schema: { $ref: '#/definitions/Note' } },
          ],
          responses: { 200: { description: '', schema: { $ref: '#/definitions/Note' } } },
        },
      },
      '/forms': {
        post: {
          operationId: 'sendForm',
          consumes: ['application/x-www-form-urlencoded'],
          parameters: [{ in: 'formData', name: 'text', type: 'string', required: true }],
          responses: { 200: { description: '' } },
        },
      },
    },
  })

  test.each(['an object', 'JSON', 'YAML', 'a URL'])('is converted, given as %s', async (form) => {
    const seen: RecordedRequest[] = []
    await using api = await listen(async (req, res) => {
      if (req.url === '/swagger.json') return answerJson(res, 200, swagger(new URL(api.url).host))
      seen.push(await record(req))
      return answerJson(res, 200, { text: 'kept' })
    })
    const document = swagger(new URL(api.url).host)
    const given = {
      'an object': { document },
      JSON: { document: JSON.stringify(document) },
      YAML: { document: stringify(document) },
      'a URL': { url: `${api.url}/swagger.json` },
    }[form]
    const { id, fault, tools } = await register(given ?? {})
    expect([fault, tools.map(({ name }) => name)]).toEqual([undefined, ['addNote', 'sendForm']])
    const run = async (name: string, input: object) =>
      (await world.execute(`${id}.${name}`, { input }, 'arcade')).body
    const added = await run('addNote', { id: 'a/b', tags: ['x', 'y'], page: 2, text: 'Hello' })
    expect(added.output.value).toEqual({ text: 'kept' })
    expect((await run('sendForm', { text: 'Hello' })).success).toBe(true)
    expect(seen.map(({ method, path, search, body }) => [method, path + search, body])).toEqual([
      ['POST', '/v2/notes/a%2Fb?tags=x,y&page=2', '{"text":"Hello"}'],
      ['POST', '/v2/forms', 'text=Hello'],
    ])
  })
})

describe('a document without a word on security', () => {
  const document = () =>
    documentOf({
      '/user': { get: { operationId: 'me' } },
      '/open': { get: { operationId: 'open', security: undefined } },
    })

  test('is opened by the operator’s authorization', async () => {
    const { id, fault } = await register({
      document: document(),
      authorization: {
        hub: { id: 'hub', scopes: ['read'] },
        key: { secret: 'API_KEY', header: 'X-Api-Key' },
      },
    })
    expect(fault).toBeUndefined()
    await world.call('POST', '/v1/admin/secrets/API_KEY', { value: 'the-key-of-the-api' })
    const need = { tool_name: `${id}.me`, user_id: 'ada' }
    const missing = await world.execute(`${id}.me`, { user_id: 'ada' })
    expect(missing.body.output.requires_authorization).toMatchObject({ scopes: ['read'] })
    await approve((await world.call('POST', '/v1/tools/authorize', need)).body.url)
    const { body } = await world.execute(`${id}.me`, { user_id: 'ada' })
    expect(body.output).toEqual({ value: { ok: true } })
    const seen = calls.at(-1)?.headers ?? {}
    expect(bearerOf(seen)).toMatch(/^at_/)
    expect(seen['x-api-key']).toBe('the-key-of-the-api')
    const worker = (await world.call('GET', `/v1/workers/${id}`)).body.openapi
    expect(worker.authorization).toMatchObject({ key: { secret: 'API_KEY', header: 'X-Api-Key' } })
  })

  test('with two tokens for one place becomes no tools, and says so', async () => {
    const authorization = { hub: { id: 'hub' }, demo: { id: 'demo' } }
    const { fault, tools } = await register({ document: document(), authorization })
    expect(tools).toEqual([])
    expect(fault).toContain('two credentials in one place')
  })

  test('that has schemes takes no name that is none of them in silence, nor an operation that it has not', async () => {
    const { fault, tools } = await register({
      document: documentOf(
        { '/user': { get: { operationId: 'me', tags: ['users'], security: [{ oauth: [] }] } } },
        { components: { securitySchemes: { oauth: { type: 'oauth2', flows: {} } } } },
      ),
      authorization: { oauth: { id: 'hub' }, outh: { id: 'hub' } },
      operations: { include: ['users', 'usres'] },
    })
    expect(tools).toHaveLength(1)
    expect(fault).toContain(
      'authorization names "outh", but no security scheme of the document has that name',
    )
    expect(fault).toContain('operations.include names "usres"')
  })
})

test('a body that does not say whether it is required stands among the parameters', async () => {
  const schema = { type: 'object', properties: { title: text, note: text }, required: ['title'] }
  const requestBody = { content: { 'application/json': { schema } } }
  const { id } = await register({
    document: documentOf({ '/notes': { post: { operationId: 'add', requestBody } } }),
  })
  const run = await world.execute(`${id}.add`, { input: { title: 'a', note: 'b' } })
  expect(run.body.output).toEqual({ value: { ok: true } })
  expect(calls.at(-1)?.json).toEqual({ title: 'a', note: 'b' })
  const without = await world.execute(`${id}.add`, { input: { note: 'b' } }, 'arcade')
  expect(without.body.output.error.kind).toBe('TOOL_RUNTIME_BAD_INPUT_VALUE')
})

describe('a large document', () => {
  /** Of as many operations, with schemas that each answer repeats. */
  function large(operations: number, fields: number, padding: number) {
    const properties = Object.fromEntries(Array.from({ length: fields }, (_, i) => [`field_${i}`, text]))
    const paths = Object.fromEntries(
      Array.from({ length: operations }, (_, i) => {
        const answer = {
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Repository' } } },
        }
        const parameters = [{ name: 'q', in: 'query', schema: text }]
        const get = {
          operationId: `op${i}`,
          tags: [`tag${i % 7}`],
          description: 'x'.repeat(padding),
          parameters,
          responses: { 200: { description: 'ok', ...answer } },
        }
        return [`/things/${i}`, { get }]
      }),
    )
    return documentOf(paths, { components: { schemas: { Repository: { type: 'object', properties } } } })
  }

  /** Milliseconds of processor time of the event loop's own thread, and of all threads: other programs do not change it. */
  async function cost(
    work: () => Promise<unknown>,
  ): Promise<{ readonly loop: number; readonly all: number }> {
    const [loop, all] = [process.threadCpuUsage(), process.cpuUsage()]
    await work()
    const [spent, total] = [process.threadCpuUsage(loop), process.cpuUsage(all)]
    return { loop: (spent.user + spent.system) / 1000, all: (total.user + total.system) / 1000 }
  }

  test('of 12 MB of JSON with 1,100 operations, and of 3 MB of YAML, becomes tools', async () => {
    served = { body: JSON.stringify(large(1100, 60, 11_500)) }
    expect(served.body.length).toBeGreaterThan(12 * 1024 * 1024)
    const github = await register({ url: `${api.url}/openapi` })
    expect(github.fault).toBeUndefined()
    expect((await world.call('GET', `/v1/workers/${github.id}/tools?limit=1`)).body.total_count).toBe(1100)
    expect((await world.execute(`${github.id}.op1099`, { input: { q: 'a' } })).body.output).toEqual({
      value: { ok: true },
    })
    served = { body: stringify(large(400, 60, 8_000), { aliasDuplicateObjects: false }) }
    expect(served.body.length).toBeGreaterThan(3 * 1024 * 1024)
    const plaid = await register({ url: `${api.url}/openapi` })
    expect(plaid.fault).toBeUndefined()
    expect((await world.call('GET', `/v1/workers/${plaid.id}/tools?limit=1`)).body.total_count).toBe(400)
    for (const { id } of [github, plaid]) await world.call('DELETE', `/v1/workers/${id}`)
  })

  test('is asked for by its validators, and costs nothing while it is as it was', async () => {
    const { broker } = world.gatepass
    const body = JSON.stringify(large(600, 60, 2_000))
    served = { body, etag: '"v1"', modified: 'Sat, 21 Nov 2026 00:00:00 GMT' }
    let id = ''
    const whole = await cost(async () => {
      id = (await register({ url: `${api.url}/openapi` })).id
    })
    await syncWorkers(broker) // what the first one wrote is looked at once more
    asked.length = 0
    const list = vi.spyOn(broker.store.tools, 'list')
    const loops: number[] = []
    // the shortest of three: a collection of garbage counts too
    for (let turn = 0; turn < 3; turn++) loops.push((await cost(() => syncWorkers(broker))).loop)
    expect(Math.min(...loops)).toBeLessThan(whole.loop / 10)
    expect(list.mock.calls.length).toBeLessThanOrEqual(3) // of the other worker, whose list is read again
    list.mockRestore()
    expect(asked).toHaveLength(3)
    expect(asked[0]?.headers).toMatchObject({ 'if-none-match': '"v1"' })
    // a server without validators sends it all: its digest is the same
    served = { body }
    await syncWorkers(broker)
    await syncWorkers(broker)
    expect(asked.at(-1)?.headers).not.toHaveProperty('if-none-match')
    expect((await world.call('GET', `/v1/workers/${id}/tools?limit=1`)).body.total_count).toBe(600)
    served = { body: JSON.stringify(large(601, 60, 10)), etag: '"v2"' }
    await syncWorkers(broker)
    expect((await world.call('GET', `/v1/workers/${id}/tools?limit=1`)).body.total_count).toBe(601)
    // what is taken away elsewhere comes back although the document is the same
    const registered = defined((await broker.store.workers.all()).find((one) => one.id === id))
    const taken = (await broker.store.tools.list(registered.projectId)).filter(
      ({ binding }) => binding?.workerUid === registered.uid,
    )
    await broker.store.tools.change(registered.projectId, { put: [], removed: taken.map(({ uid }) => uid) })
    await syncWorkers(broker)
    expect((await world.call('GET', `/v1/workers/${id}/tools?limit=1`)).body.total_count).toBe(601)
    await world.call('DELETE', `/v1/workers/${id}`)
  })

  test('of YAML keeps nobody waiting while it is read', async () => {
    const bulk = Array.from({ length: 40_000 }, (_, i) => ({ name: `n${i}`, text: 'some more text' }))
    served = { body: stringify({ ...large(5, 10, 10), 'x-bulk': bulk }, { aliasDuplicateObjects: false }) }
    const { loop, all } = await cost(() => register({ url: `${api.url}/openapi` }))
    expect(loop).toBeLessThan(all / 4)
  })
})
