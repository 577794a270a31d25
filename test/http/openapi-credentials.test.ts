import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../digest.ts'
import { type FakeOpenApiService, startFakeOpenApiService } from '../fake-openapi-service.ts'
import { startWorld, type World } from './world.ts'

// Which credential is sent where a document lists several alternatives, or requires none.

let world: World
let api: FakeOpenApiService
let token: string
beforeAll(async () => {
  api = await startFakeOpenApiService()
  world = await startWorld()
  await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts: [api.host] } } })
  token = await world.connect('ada')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await api.close()
})

/** A document with one operation for each entry, by its name. */
function documentOf(operations: Readonly<Record<string, unknown>>) {
  const named = Object.entries(operations).map(([operationId, security], index) => [
    `/optional/${index}`,
    { get: { operationId, security, responses: {} } },
  ])
  return {
    openapi: '3.1.0',
    info: { title: 'Notes', version: '1.0.0' },
    servers: [{ url: api.url }],
    paths: Object.fromEntries(named),
    components: {
      securitySchemes: {
        demo: { type: 'oauth2', flows: {} },
        key: { type: 'apiKey', in: 'header', name: 'X-Other-Token' },
        login: { type: 'http', scheme: 'basic' },
      },
    },
  }
}

async function register(id: string, operations: Readonly<Record<string, unknown>>, authorization: object) {
  const openapi = { document: documentOf(operations), authorization }
  const { status, body } = await world.call('POST', '/v1/workers', { id, openapi })
  expect(status).toBe(201)
  return body
}
const setKey = (key: string, value: string) => world.call('POST', `/v1/admin/secrets/${key}`, { value })
const run = async (tool: string, user_id?: string) =>
  (await world.execute(tool, { input: {}, ...(user_id !== undefined && { user_id }) }, 'arcade')).body.output

/** What a user who has granted nothing is asked for. */
const askedOf = async (tool: string) =>
  (await world.execute(tool, { input: {}, user_id: 'ben' })).body.output.requires_authorization

const BY_TOKEN = () => ({ token_digest: digest(token), is_anonymous: false })
const byKey = (value: string) => ({ other_digest: digest(value), is_anonymous: true })

describe('where an operation lists several alternatives', () => {
  const operations = {
    KeyFirst: [{ key: [] }, { demo: ['read'] }],
    TokenFirst: [{ demo: ['read'] }, { key: [] }],
    BothOrToken: [{ key: [], demo: ['read'] }, { demo: ['read'] }],
    KeyOrNothing: [{ key: [] }, {}],
    AnyOrNothing: [{ key: [] }, { demo: ['read'] }, {}],
    Keys: [{ key: [] }, { login: [] }],
  }
  const authorization = { key: { secret: 'KEY' }, demo: { id: 'demo' }, login: { secret: 'LOGIN' } }
  beforeAll(async () => {
    const registered = await register('either', operations, authorization)
    expect(registered.sync_error).toBeUndefined()
  })
  afterEach(async () => {
    await world.call('DELETE', '/v1/admin/secrets/KEY')
    await world.call('DELETE', '/v1/admin/secrets/LOGIN')
  })

  test('a secret that is not set blocks no other that the user has granted', async () => {
    expect((await run('either.KeyFirst', 'ada')).value).toEqual(BY_TOKEN())
    expect(await askedOf('either.KeyFirst')).toMatchObject({ scopes: ['read'] })
    expect((await run('either.BothOrToken', 'ada')).value).toEqual(BY_TOKEN())
    const { requirements } = (await world.call('GET', '/v1/tools/either:KeyFirst?user_id=ada')).body
    expect(requirements).toMatchObject({ met: true, secrets: [], authorization: { id: 'demo' } })
    const together = await world.call('POST', '/v1/tools/requirements', {
      tool_names: ['either.KeyFirst'],
      user_id: 'ada',
    })
    expect(together.body).toMatchObject({ met: true, secrets: { met: true } })
    expect(together.body.secrets).not.toHaveProperty('items.KEY')
  })

  test('a secret that is set later is used without acceptance, for every user', async () => {
    await setKey('KEY', 'key of the notes')
    for (const user of ['ada', 'ben', undefined])
      expect((await run('either.KeyFirst', user)).value).toEqual(byKey('key of the notes'))
    const both = { ...BY_TOKEN(), other_digest: digest('key of the notes') }
    expect((await run('either.BothOrToken', 'ada')).value).toEqual(both)
    const { requirements } = (await world.call('GET', '/v1/tools/either:KeyFirst?user_id=ben')).body
    expect(requirements).toEqual({
      met: true,
      secrets: [{ key: 'KEY', met: true }],
      worker: expect.anything(),
    })
    await world.call('DELETE', '/v1/admin/secrets/KEY')
    expect((await run('either.KeyFirst', 'ada')).value).toEqual(BY_TOKEN())
  })

  test('a secret after a token is used in place of no user’s consent', async () => {
    await setKey('KEY', 'key of the notes')
    expect((await run('either.TokenFirst', 'ada')).value).toEqual(BY_TOKEN())
    expect(await askedOf('either.TokenFirst')).toMatchObject({ scopes: ['read'] })
  })

  test('a secret that the operator names for a key must be set, also where the key is optional', async () => {
    expect((await run('either.KeyOrNothing')).error.message).toContain('POST /v1/admin/secrets')
    await setKey('KEY', 'key of the notes')
    expect((await run('either.KeyOrNothing')).value).toEqual(byKey('key of the notes'))
  })

  test('users who have granted none call it so, where it may be called so', async () => {
    expect((await run('either.AnyOrNothing', 'ada')).value).toEqual(BY_TOKEN())
    expect((await run('either.AnyOrNothing', 'ben')).value).toEqual({ is_anonymous: true })
  })

  test('the first of several secrets that is set is sent, and the first is named where none is', async () => {
    expect((await run('either.Keys')).error.message).toContain('the secret KEY.')
    await setKey('LOGIN', 'ada:password')
    await run('either.Keys')
    const login = `Basic ${Buffer.from('ada:password').toString('base64')}`
    expect(api.calls.at(-1)?.headers.authorization).toBe(login)
    await setKey('KEY', 'key of the notes')
    expect((await run('either.Keys')).value).toEqual(byKey('key of the notes'))
  })

  test('the secret is named where nothing else can be met', async () => {
    const { KeyFirst } = operations
    await register('lonely', { KeyFirst }, { key: { secret: 'KEY' }, demo: { id: 'unknown' } })
    expect((await run('lonely.KeyFirst', 'ada')).error.message).toContain('the secret KEY.')
  })
})

describe('an operation for which the document requires no credential', () => {
  const operations = {
    Closed: [{ demo: ['read'] }],
    Open: [],
    Empty: [{}],
    Optional: [{}, { demo: ['read'] }],
  }

  test('is called without one, and a remark says so', async () => {
    const { sync_error } = await register('silent', operations, { demo: { id: 'demo' } })
    expect(sync_error).toBe(
      '2 operations need no credential by the document and are called without one: "Open", "Empty". Set "always": true for a name in authorization to send its credential with them too, or false to leave this remark out.',
    )
    expect((await run('silent.Open', 'ada')).value).toEqual({ is_anonymous: true })
    expect((await register('unmapped', operations, {})).sync_error).toBeUndefined()
  })

  test('is called with one that is always sent', async () => {
    const { sync_error, openapi } = await register('always', operations, {
      demo: { id: 'demo', always: true },
    })
    expect([sync_error, openapi.authorization]).toEqual([undefined, { demo: { id: 'demo', always: true } }])
    for (const name of Object.keys(operations)) {
      expect((await run(`always.${name}`, 'ada')).value).toEqual(BY_TOKEN())
      expect(await askedOf(`always.${name}`)).toMatchObject({ status: 'pending' })
    }
  })

  test('is called with the secret that is always sent, in its own place', async () => {
    await setKey('ALWAYS', 'key of all')
    const authorization = { key: { secret: 'ALWAYS', always: true }, demo: { id: 'demo' } }
    await register('keyed', operations, authorization)
    expect((await run('keyed.Open')).value).toEqual(byKey('key of all'))
    expect((await run('keyed.Closed', 'ada')).value).toEqual(BY_TOKEN())
  })

  test('is not mentioned where the operator says that it is meant', async () => {
    const { sync_error } = await register('meant', operations, { demo: { id: 'demo', always: false } })
    expect(sync_error).toBeUndefined()
    expect((await run('meant.Open', 'ada')).value).toEqual({ is_anonymous: true })
  })

  test.each([
    [{ id: 'demo', always: 'yes' }, 'always'],
    [{ secret: 'KEY', allways: true }, 'allways'],
  ])('is refused a mapping that cannot be read: %j', async (mapping, named) => {
    const openapi = { document: documentOf(operations), authorization: { demo: mapping } }
    const { status, body } = await world.call('POST', '/v1/workers', { id: 'bad', openapi })
    expect([status, body.name]).toEqual([400, 'invalid_request'])
    expect(JSON.stringify(body)).toContain(named)
  })
})
