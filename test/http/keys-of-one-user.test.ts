import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readExamples } from '../../src/http/reference/example.ts'
import { nameOfReference, type OpenApiDocument, type Operation } from '../sdk/wire-types/openapi.ts'
import { startWorld, type World } from './world.ts'

// A key that was made for one user acts for that user only, at every operation of /openapi.json.

let world: World
let document: OpenApiDocument
/** Acts for ada only. */
let ada: string
/** What belongs to bob: path parameters, by the beginning of the path. */
let bobs: Readonly<Record<string, string>>
let marksOfBob: readonly string[]
let tokenOfBob: string

beforeAll(async () => {
  world = await startWorld()
  const { call, execute } = world
  document = (await call('GET', '/openapi.json', undefined, { key: null })).body
  ada = (await call('POST', '/v1/admin/keys', { role: 'caller', user_id: 'ada' })).body.key
  tokenOfBob = await world.connect('bob')
  const need = { auth_requirement: { id: 'demo' }, user_id: 'bob', account: 'new' }
  const pending = (await call('POST', '/v1/auth/authorize', need)).body.id
  const connection = (await call('GET', '/v1/connections?user_id=bob')).body.items[0].id
  const run = await execute('Demo.WhoAmI', { user_id: 'bob', keep_content: true })
  const later = await execute('Demo.WhoAmI', { user_id: 'bob', run_at: '2099-01-01T00:00:00' })
  bobs = {
    '/v1/auth/': pending,
    '/v1/connections/': connection,
    '/v1/executions/': run.body.execution_id,
    '/v1/scheduled_tools/': later.body.execution_id,
  }
  marksOfBob = ['bob', tokenOfBob, ...Object.values(bobs)]
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const as = (key: string) => ({ key })

/** Operations that have no request body with a user, and answer ada's key with what is not bob's. */
const ANSWERED = ['listOxpTools', 'listScheduledTools']

/** OXP names the user in another place than the other dialects. */
const OXP_CALL = { request: { tool_id: 'Demo.WhoAmI', context: { user_id: 'ada' } } }

describe('a key of one user', () => {
  test('gets nothing of another user, at any operation', async () => {
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    const answers: Record<string, number> = {}
    const examples = readExamples()
    for (const { path, method, operation } of operations) {
      if (!operation.security?.some((scheme) => 'apiKey' in scheme)) continue // public, or by another token
      const { operationId, parameters = [] } = operation
      const prefix = Object.keys(bobs).find((one) => path.startsWith(one)) ?? ''
      const id = bobs[prefix] ?? 'demo'
      const target = new URL(
        path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'name' ? 'Demo.WhoAmI' : id)),
        world.gatepass.url,
      )
      for (const { name, in: place, required } of parameters)
        if (place === 'query' && (required === true || name === 'user_id'))
          target.searchParams.set(name, name === 'user_id' ? 'bob' : (bobs['/v1/auth/'] ?? ''))
      const example = operationId === 'callOxpTool' ? OXP_CALL : examples[operationId]?.body
      const body =
        example === undefined ? undefined : JSON.parse(JSON.stringify(example).replaceAll('"ada"', '"bob"'))
      const withUser =
        body?.user_id === undefined && namesUser(operation) ? { ...body, user_id: 'bob' } : body
      const header = parameters.some(({ name }) => name === 'x-gatepass-user')
      const answer = await world.call(method.toUpperCase(), `${target.pathname}${target.search}`, withUser, {
        key: ada,
        ...(header && { headers: { 'x-gatepass-user': 'bob' } }),
      })
      answers[operationId] = answer.status
      const text = JSON.stringify(answer.body)
      const { status } = answer
      if (ANSWERED.includes(operationId)) expect([operationId, status]).toEqual([operationId, 200])
      else expect([operationId, [403, 404].includes(status), text]).toEqual([operationId, true, text])
      if (status === 403) expect(['insufficient_role', 'user_not_allowed']).toContain(answer.body.name)
      for (const mark of marksOfBob) if (status !== 404) expect(text, operationId).not.toContain(mark)
    }
    expect(Object.keys(answers).length).toBeGreaterThan(70)
    // what names a user is refused for the user, and not for another fault
    const refused = (...ids: string[]) => Object.fromEntries(ids.map((id) => [id, 403]))
    expect(answers).toMatchObject(
      refused(
        'authorize',
        'executeTool',
        'runTool',
        'streamTool',
        'runChain',
        'executeCode',
        'authorizeTool',
      ),
    )
    expect(answers).toMatchObject(
      refused('callOxpTool', 'proxyGet', 'proxyPost', 'listConnections', 'listExecutions', 'listTools'),
    )
    expect(answers).toMatchObject(
      refused('confirmUser', 'createApiKey', 'listAuditEntries', 'getMetrics', 'listWorkers'),
    )
    expect(answers).toMatchObject({ getConnectionToken: 404, getAuthorizationStatus: 404, getExecution: 404 })
  })

  test('gets nothing of another user by the ids of records that are not authorizations', async () => {
    const { body: bob } = await world.call('GET', '/v1/connections?user_id=bob')
    const [{ id }] = bob.items
    for (const path of [`/v1/auth/status?id=${id}`, `/v1/auth/${id}/events`])
      expect(await world.call('GET', path, undefined, as(ada))).toMatchObject({ status: 404 })
    const account = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, account: id }
    const begun = await world.call('POST', '/v1/auth/authorize', account, as(ada))
    expect(JSON.stringify(begun.body)).not.toContain(tokenOfBob)
    const called = await world.call(
      'POST',
      '/v1/tools/execute',
      { tool_name: 'Demo.WhoAmI', account: id },
      as(ada),
    )
    expect(JSON.stringify(called.body)).not.toContain('bob')
  })

  test('cannot resume the chain of another user, nor by organization paths or in Arcade’s dialect', async () => {
    const chain = { user_id: 'carol', steps: [{ toolId: 'Demo.WhoAmI' }] }
    const { body } = await world.call('POST', '/v1/tools/run_chain', chain)
    expect(body.resume).toBeTypeOf('string')
    const resumed = await world.call('POST', '/v1/tools/run_chain', { resume: body.resume }, as(ada))
    expect(resumed.status).toBe(404)
    const arcade = { key: ada, headers: { 'x-stainless-lang': 'js' } }
    for (const path of ['/v1/tools/execute', '/v1/orgs/any/projects/default/tools/execute'])
      expect(
        await world.call('POST', path, { tool_name: 'Demo.WhoAmI', user_id: 'bob' }, arcade),
      ).toMatchObject({ status: 403, body: { name: 'user_not_allowed' } })
  })

  test('acts for its user where no user is named', async () => {
    const token = await world.connect('ada')
    const { call } = world
    const run = await call('POST', '/v1/tools/execute', { tool_name: 'Demo.WhoAmI' }, as(ada))
    expect(run.body).toMatchObject({ success: true })
    expect((await call('GET', '/v1/connections', undefined, as(ada))).body.items).toMatchObject([
      { user_id: 'ada' },
    ])
    const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } } }
    expect((await call('POST', '/v1/auth/authorize', need, as(ada))).body).toMatchObject({
      status: 'completed',
      context: { token },
    })
    const oxp = await call('POST', '/oxp/tools/call', { request: { tool_id: 'Demo.WhoAmI' } }, as(ada))
    expect(oxp).toMatchObject({ status: 200, body: { result: { success: true } } })
    const history = (await call('GET', '/v1/executions', undefined, as(ada))).body.items
    expect(new Set(history.map((one: { user_id: string }) => one.user_id))).toEqual(new Set(['ada']))
    expect((await call('GET', '/v1/scheduled_tools', undefined, as(ada))).body.items).toEqual([])
    const named = { tool_name: 'Demo.WhoAmI', user_id: 'ada' }
    expect((await call('POST', '/v1/tools/execute', named, as(ada))).body).toMatchObject({ success: true })
  })

  test('is shown with its user, keeps it when it is rotated, and never administers', async () => {
    const { call } = world
    const made = await call('POST', '/v1/admin/keys', { role: 'readonly', user_id: 'Ada Lovelace ☕' })
    expect(made).toMatchObject({ status: 201, body: { user_id: 'Ada Lovelace ☕', role: 'readonly' } })
    const { id } = made.body
    expect((await call('GET', `/v1/admin/keys/${id}`)).body.user_id).toBe('Ada Lovelace ☕')
    const rotated = await call('POST', `/v1/admin/keys/${id}/rotate`, {})
    expect(rotated.body.user_id).toBe('Ada Lovelace ☕')
    expect(await call('GET', '/v1/connections?user_id=ada', undefined, as(rotated.body.key))).toMatchObject({
      status: 403,
      body: { name: 'user_not_allowed' },
    })
    const trail = (await call('GET', '/v1/admin/audit?action=key.created&limit=100')).body.items
    expect(trail).toContainEqual(expect.objectContaining({ subject: id, user_id: 'Ada Lovelace ☕' }))
    expect(await call('POST', '/v1/admin/keys', { role: 'admin', user_id: 'ada' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'user_id', code: 'conflict' }] },
    })
  })
})

/** Whether the body of the operation has a member `user_id`. */
function namesUser({ requestBody }: Operation): boolean {
  const schema = requestBody?.content['application/json']?.schema
  const resolved =
    schema?.$ref === undefined ? schema : document.components.schemas[nameOfReference(schema.$ref)]
  return resolved?.properties?.user_id !== undefined
}
