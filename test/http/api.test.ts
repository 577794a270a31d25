import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sha256 } from '../../src/domain/ids.ts'
import { featureParts } from '../feature-parts.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import type { ApiPart, FaultOfBody, RouteRole } from './api-part.ts'

// What holds for every endpoint alike: who may call it, how it refuses, and that it is described.

let gatepass: Gatepass
let document: OpenApi

interface OpenApi {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> }
}
interface Operation {
  summary?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: { name: string; in: string }[]
  responses: Record<string, { description?: string }>
}

beforeAll(async () => {
  gatepass = await startGatepass()
  document = (await gatepass.call('GET', '/openapi.json', undefined, { key: null })).body
})

afterAll(async () => {
  await gatepass.close()
})

/** What the library that checks bodies would say itself. */
const LIBRARY_WORDS = /Invalid input|expected|received|NaN|undefined|unrecognized/i

const apiParts = await featureParts<ApiPart>('api-part')

/** Every route and the least role it takes. */
const ROLES: Readonly<Record<string, RouteRole>> = {
  'GET /health': 'public',
  'GET /ready': 'public',
  'GET /metrics': 'readonly',
  'GET /v1/health': 'public',
  'GET /v1/connections': 'readonly',
  'GET /v1/connections/{id}': 'readonly',
  'GET /v1/tools': 'readonly',
  'GET /v1/tools/{name}': 'readonly',
  'GET /v1/formatted_tools': 'readonly',
  'GET /v1/formatted_tools/{name}': 'readonly',
  'GET /v1/executions': 'readonly',
  'GET /v1/workers': 'readonly',
  'GET /v1/workers/{id}': 'readonly',
  'GET /v1/workers/{id}/health': 'readonly',
  'GET /v1/workers/{id}/authorize': 'admin',
  'POST /v1/workers/{id}/authorize': 'admin',
  'GET /v1/workers/{id}/tools': 'readonly',
  'GET /v1/admin/auth_providers': 'readonly',
  'GET /v1/admin/auth_providers/{id}': 'readonly',
  'GET /v1/admin/provider_catalogue': 'readonly',
  'GET /v1/admin/provider_catalogue/{id}': 'readonly',
  'GET /v1/admin/connections': 'readonly',
  'GET /v1/admin/connections/{id}': 'readonly',
  'GET /v1/admin/secrets': 'readonly',
  'GET /v1/admin/secrets/{key}': 'readonly',
  'GET /v1/secrets': 'readonly',
  'GET /v1/secrets/{key}': 'readonly',
  'GET /v1/admin/settings/session_verification': 'readonly',
  'POST /v1/auth/validate_custom_verifier': 'caller',
  'GET /v1/admin/audit': 'readonly',
  'GET /v1/admin/audit/export': 'readonly',
  'GET /v1/admin/diagnosis': 'admin',
  'POST /v1/auth/authorize': 'caller',
  'GET /v1/auth/status': 'caller',
  'GET /v1/auth/{id}/events': 'caller',
  'POST /v1/auth/confirm_user': 'caller',
  'POST /v1/connections': 'admin',
  'PATCH /v1/connections/{id}': 'caller',
  'DELETE /v1/connections/{id}': 'caller',
  'POST /v1/connections/{id}/token': 'caller',
  'POST /v1/tools/authorize': 'caller',
  'POST /v1/tools/execute': 'caller',
  'POST /v1/tools/run': 'caller',
  'POST /v1/tools/run_stream': 'caller',
  'POST /v1/tools/requirements': 'caller',
  'GET /v1/executions/{id}': 'caller',
  'GET /v1/files/{id}': 'caller',
  'GET /proxy/{provider}/{path}': 'caller',
  'POST /proxy/{provider}/{path}': 'caller',
  'PUT /proxy/{provider}/{path}': 'caller',
  'PATCH /proxy/{provider}/{path}': 'caller',
  'DELETE /proxy/{provider}/{path}': 'caller',
  'POST /v1/tools/import': 'admin',
  'POST /v1/tools/{name}/binding': 'admin',
  'DELETE /v1/tools/{name}': 'admin',
  'POST /v1/workers': 'admin',
  'POST /v1/workers/{id}/accept': 'admin',
  'PATCH /v1/workers/{id}': 'admin',
  'DELETE /v1/workers/{id}': 'admin',
  'POST /v1/admin/auth_providers': 'admin',
  'PATCH /v1/admin/auth_providers/{id}': 'admin',
  'DELETE /v1/admin/auth_providers/{id}': 'admin',
  'GET /v1/admin/user_connections': 'admin',
  'DELETE /v1/admin/user_connections/{id}': 'admin',
  'GET /v1/admin/mcp_clients': 'admin',
  'DELETE /v1/admin/mcp_clients/{id}': 'admin',
  'POST /v1/admin/connections': 'admin',
  'PATCH /v1/admin/connections/{id}': 'admin',
  'POST /v1/admin/connections/{id}/test': 'admin',
  'DELETE /v1/admin/connections/{id}': 'admin',
  'POST /v1/admin/secrets/{key}': 'admin',
  'DELETE /v1/admin/secrets/{key}': 'admin',
  'PUT /v1/admin/secrets/{key}': 'admin',
  'PUT /v1/secrets/{key}': 'admin',
  'DELETE /v1/secrets/{key}': 'admin',
  'PUT /v1/admin/settings/session_verification': 'admin',
  'POST /v1/workers/test': 'admin',
  'GET /v1/admin/keys': 'admin',
  'GET /v1/admin/keys/{id}': 'admin',
  'POST /v1/admin/keys': 'admin',
  'POST /v1/admin/keys/{id}/rotate': 'admin',
  'DELETE /v1/admin/keys/{id}': 'admin',
  'GET /v1/admin/projects': 'admin',
  'POST /v1/admin/projects': 'admin',
  ...Object.assign({}, ...apiParts.map(({ roles }) => roles)),
}
const RANKS = ['readonly', 'caller', 'admin'] as const

/** The route as a request that comes past the key check and no further. */
function touch(route: string, key: string | null) {
  const [method = '', path = ''] = route.split(' ')
  return gatepass.call(method, path.replaceAll(/\{\w+\}/g, 'nobody'), undefined, { key })
}

describe('keys and roles', () => {
  test('the table has every route of the document', () => {
    const routes = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(routes.toSorted()).toEqual(Object.keys(ROLES).toSorted())
  })

  test.each(Object.entries(ROLES))('%s takes %s', async (route, role) => {
    const without = await touch(route, null)
    if (role === 'public') return expect(without.status).toBe(200)
    expect(without).toMatchObject({ status: 401, body: { name: 'invalid_authorization' } })
    expect(without.headers.get('www-authenticate')).toMatch(/^Bearer/)
    for (const each of [...RANKS, 'approver'] as const) {
      const { status, body } = await touch(route, await gatepass.makeKey(each))
      // who decides about calls makes none, and the other way round
      const ranks: readonly string[] = RANKS
      const isTaken =
        role === 'approver' || each === 'approver'
          ? role === each
          : ranks.indexOf(each) >= ranks.indexOf(role)
      if (role === 'session') expect(status, each).toBe(401)
      else if (!isTaken)
        expect([status, body.name, body.message], each).toEqual([
          403,
          'insufficient_role',
          expect.stringContaining(role),
        ])
      else expect([401, 403, 500], `${each}: ${JSON.stringify(body)}`).not.toContain(status)
    }
    return undefined
  })

  test.each([
    ['Bearer', (key: string) => `Bearer ${key}`, 200],
    ['bearer', (key: string) => `bearer ${key}`, 200],
    ['bare', (key: string) => key, 200],
    ['Basic', (key: string) => `Basic ${Buffer.from(`:${key}`).toString('base64')}`, 401],
    ['nothing after Bearer', () => 'Bearer ', 401],
    ['a wrong key', () => 'Bearer gp_wrong', 401],
    ['a prefix of the key', (key: string) => `Bearer ${key.slice(0, -1)}`, 401],
  ])('authorization with %s', async (_, authorization, status) => {
    const headers = { authorization: authorization(gatepass.apiKey) }
    const answer = await gatepass.call('GET', '/v1/tools', undefined, { key: null, headers })
    expect(answer.status).toBe(status)
  })

  test('a key in the query is not accepted', async () => {
    const path = `/v1/tools?api_key=${gatepass.apiKey}&access_token=${gatepass.apiKey}`
    expect(await gatepass.call('GET', path, undefined, { key: null })).toMatchObject({ status: 401 })
  })

  test('a revoked key is refused from then on', async () => {
    const { store } = gatepass.broker
    const key = await gatepass.makeKey('caller')
    expect(await gatepass.call('GET', '/v1/tools', undefined, { key })).toMatchObject({ status: 200 })
    const { id = '', projectId = '' } = (await store.apiKeys.findByHash(sha256(key))) ?? {}
    await store.apiKeys.revoke(projectId, id, gatepass.broker.now())
    expect(await gatepass.call('GET', '/v1/tools', undefined, { key })).toMatchObject({
      status: 401,
      body: { name: 'invalid_authorization' },
    })
  })
})

describe('refusals', () => {
  const send = (headers: Record<string, string>, body: string, path = '/v1/auth/authorize') =>
    fetch(new URL(path, gatepass.url), {
      method: 'POST',
      headers: { authorization: gatepass.apiKey, ...headers },
      body,
    })

  test.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data', 415],
    ['application/jsonp', 415],
    ['', 415],
    ['application/json', 400],
    ['application/json; charset=utf-8', 400],
    ['Application/JSON', 400],
    ['application/vnd.api+json', 400],
  ])('content type %s is answered %d', async (type, status) => {
    const response = await send({ 'content-type': type }, '{}')
    expect(response.status).toBe(status)
    const body = (await response.json()) as { name: string }
    expect(body.name).toBe(status === 415 ? 'unsupported_media_type' : 'invalid_request')
  })

  test.each([
    ['half of JSON', '{"user_id": '],
    ['no JSON', 'user_id=ada'],
    ['nothing', ''],
    ['a BOM alone', '\ufeff'],
    ['very deep JSON', '['.repeat(200_000)],
  ])('%s is no valid body', async (_, body) => {
    const response = await send({ 'content-type': 'application/json' }, body)
    expect([response.status, ((await response.json()) as { name: string }).name]).toEqual([
      400,
      'invalid_request',
    ])
  })

  test.each([
    ['POST', '/v1/auth/authorize', {}, ['auth_requirement', 'user_id']],
    ['POST', '/v1/auth/authorize', { auth_requirement: {}, user_id: 'u' }, ['provider_id', 'id']],
    [
      'POST',
      '/v1/auth/authorize',
      { auth_requirement: { id: 1 }, user_id: 2 },
      ['auth_requirement.id', 'user_id'],
    ],
    ['POST', '/v1/auth/confirm_user', {}, ['flow_id', 'user_id']],
    ['POST', '/v1/connections', { fields: { a: 1 } }, ['user_id', 'provider_id', 'fields.a']],
    ['GET', '/v1/auth/status', undefined, ['id']],
    ['GET', '/v1/auth/status?id=x&wait=60', undefined, ['wait']],
    ['POST', '/v1/tools/execute', {}, ['tool_name']],
    ['POST', '/v1/tools/execute', { tool_name: 'x', input: [] }, ['input']],
    ['POST', '/v1/tools/authorize', {}, ['tool_name']],
    ['POST', '/v1/tools/run', { args: [] }, ['toolId', 'args']],
    ['POST', '/v1/tools/run_stream', { toolId: 'x', metadata: { a: 1 } }, ['metadata.a']],
    ['POST', '/v1/tools/requirements', {}, ['tool_names', 'tools']],
    ['GET', '/v1/executions?type=odd', undefined, ['type']],
    ['POST', '/v1/tools/x/binding', {}, ['worker_id', 'tool']],
    ['POST', '/v1/workers', {}, ['id']],
    ['POST', '/v1/workers', { id: 'w', http: {} }, ['http.uri', 'http.secret']],
    // a path with these segments leads elsewhere
    ['POST', '/v1/workers', { id: '..', http: { uri: 'http://127.0.0.1:1', secret: 's' } }, ['id: letters']],
    [
      'POST',
      '/v1/workers/test',
      { id: '.', http: { uri: 'http://127.0.0.1:1', secret: 's' } },
      ['id: letters'],
    ],
    ['POST', '/v1/admin/auth_providers', {}, ['id']],
    ['POST', '/v1/admin/auth_providers', { id: 'p', oauth2: {} }, ['oauth2.client_id']],
    ['POST', '/v1/admin/secrets/KEY', {}, ['value']],
    ['POST', '/v1/admin/secrets/KEY', { value: 'x'.repeat(5001) }, ['value']],
    ['GET', '/v1/tools?limit=0', undefined, ['limit']],
    ['GET', '/v1/tools?offset=-1', undefined, ['offset']],
    ['GET', '/v1/formatted_tools?format=xml', undefined, ['format']],
    ...apiParts.flatMap(({ faults = [] }) => faults),
  ] satisfies readonly FaultOfBody[])(
    '%s %s with %j names what is wrong',
    async (method, path, body, members) => {
      const answer = await gatepass.call(method, path, body)
      expect([answer.status, answer.body.name]).toEqual([400, 'invalid_request'])
      for (const member of members) expect(answer.body.message).toContain(member)
      expect(Object.keys(answer.body).toSorted()).toEqual(['errors', 'message', 'name'])
      for (const fault of answer.body.errors)
        expect(fault).toEqual({
          path: expect.any(String),
          code: expect.any(String),
          message: expect.stringMatching(/[.?]$/),
        })
      expect(answer.body.message).not.toMatch(LIBRARY_WORDS)
    },
  )

  test('a body that is too large, whether it states its length or comes in chunks', async () => {
    const body = JSON.stringify({ filler: 'x'.repeat(9 * 1024 * 1024) })
    const stated = await send({ 'content-type': 'application/json' }, body)
    expect([stated.status, await stated.json()]).toEqual([
      413,
      { name: 'request_too_large', message: expect.any(String) },
    ])
    expect((await chunked(body)).status).toBe(413)
  })

  test.each([
    ['', {}],
    [' with an Idempotency-Key', { 'idempotency-key': 'in chunks' }],
  ])('a body in chunks%s is read as any other', async (_, headers) => {
    const answer = await chunked(JSON.stringify({ tool_name: 'Nothing here' }), headers)
    expect([answer.status, JSON.parse(answer.body).name]).toEqual([404, 'not_found'])
  })

  test.each([
    ['GET', '/v1/nothing'],
    ['GET', '/'.padEnd(300, 'x')],
    ['POST', '/'.padEnd(300, 'x')],
    ['GET', '/dashboard/../../etc/passwd'],
    ['GET', '/sandbox/authorize'],
  ])('%s %s is a 404 in JSON', async (method, path) => {
    const answer = await gatepass.call(method, path)
    expect(answer).toMatchObject({ status: 404, body: { name: 'not_found', message: expect.any(String) } })
    expect(answer.body.message.length).toBeLessThan(400)
  })

  test.each([
    '/v1/auth/status?id=%00',
    '/v1/tools/%ZZ',
    '/v1/tools/%2e%2e%2fsecrets',
    '/connect/%ff',
    '/callback/x?state=%ff&state=2',
    '/v1/connections/__proto__',
  ])('%s is no failure of ours', async (path) => {
    expect((await gatepass.call('GET', path)).status).toBeLessThan(500)
  })

  test.each([
    ['/v1/workers', { id: 'twice', http: { uri: 'http://127.0.0.1:1', secret: 's' } }],
    ['/v1/admin/auth_providers', { id: 'twice', provider_id: 'github', oauth2: { client_id: 'c' } }],
  ])('POST %s again with its Idempotency-Key is answered as before', async (path, body) => {
    const headers = { 'idempotency-key': `twice ${path}` }
    const [first, again] = [
      await gatepass.call('POST', path, body, { headers }),
      await gatepass.call('POST', path, body, { headers }),
    ]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
    expect(await gatepass.call('POST', path, body)).toMatchObject({ status: 409 })
  })

  test('the same Idempotency-Key in two projects are two requests', async () => {
    const headers = { 'idempotency-key': 'the-same' }
    const other = await gatepass.makeKey('caller', 'elsewhere')
    const ask = (tool_name: string, key: string) =>
      gatepass.call('POST', '/v1/tools/execute', { tool_name }, { key, headers })
    expect((await ask('Mine', gatepass.apiKey)).body.message).toContain('Mine')
    expect((await ask('Theirs', other)).body.message).toContain('Theirs')
    expect((await ask('Another', gatepass.apiKey)).body.message).toContain('Idempotency-Key')
  })

  test('an answer kept for an Idempotency-Key is not for a key of a lesser role', async () => {
    const headers = { 'idempotency-key': 'an administrator asks' }
    const body = { id: 'of-an-admin', http: { uri: 'http://127.0.0.1:1', secret: 's' } }
    expect((await gatepass.call('POST', '/v1/workers', body, { headers })).status).toBe(201)
    const key = await gatepass.makeKey('readonly')
    expect((await gatepass.call('POST', '/v1/workers', body, { key, headers })).status).toBe(403)
  })

  test('a request that is refused before it is executed uses up no Idempotency-Key', async () => {
    const claim = vi.spyOn(gatepass.broker.store.idempotencyKeys, 'claim')
    try {
      const headers = { 'idempotency-key': 'kept for later' }
      const body = { id: 'later', http: { uri: 'http://127.0.0.1:1', secret: 's' } }
      const key = await gatepass.makeKey('readonly')
      expect((await gatepass.call('POST', '/v1/workers', body, { key, headers })).status).toBe(403)
      expect(
        (await gatepass.call('POST', '/v1/workers', { id: 'later', http: {} }, { headers })).status,
      ).toBe(400)
      expect(claim).not.toHaveBeenCalled()
      expect((await gatepass.call('POST', '/v1/workers', body, { headers })).status).toBe(201)
      expect(claim).toHaveBeenCalledTimes(1)
    } finally {
      claim.mockRestore()
    }
  })

  /** fetch states the length of what it knows whole. */
  function chunked(body: string, more: object = {}): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: gatepass.apiKey,
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
        ...more,
      }
      const outgoing = request(
        new URL('/v1/tools/execute', gatepass.url),
        { method: 'POST', headers },
        (res) => {
          let text = ''
          res.on('data', (chunk) => {
            text += chunk
          })
          res.on('end', () => resolve({ status: res.statusCode ?? 0, body: text }))
          res.on('error', reject)
        },
      )
      outgoing.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE' && error.code !== 'ECONNRESET') reject(error) // it hung up on what was too much
      })
      outgoing.end(body)
    })
  }
})

describe('the description', () => {
  test('has patterns that a client generator can read', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)]
    expect(patterns.length).toBeGreaterThan(0)
    for (const [, pattern = ''] of patterns) expect(JSON.parse(pattern)).not.toMatch(/\/[a-z]+$/)
  })

  test('is OpenAPI 3.1 and has every route with a summary, a tag and its answers', () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\./),
      info: { title: 'Gatepass', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      servers: [{ url: gatepass.url }],
      components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
    })
    for (const [path, item] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(item)) {
        const route = `${method} ${path}`
        expect(operation.summary, route).toBeTruthy()
        expect(operation.tags, route).toHaveLength(1)
        expect(
          Object.keys(operation.responses).some((status) => /^2\d\d$/.test(status)),
          route,
        ).toBe(true)
        for (const { description } of Object.values(operation.responses))
          expect(description, route).toBeTruthy()
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
        const declared = (operation.parameters ?? [])
          .filter((one) => one.in === 'path')
          .map(({ name }) => name)
        expect(declared, route).toEqual(inPath)
        const role = ROLES[`${method.toUpperCase()} ${path}` as keyof typeof ROLES] // the table has them all
        const scheme = role === 'session' ? 'connectSession' : 'apiKey'
        expect(operation.security, route).toEqual(role === 'public' ? undefined : [{ [scheme]: [] }])
      }
  })

  test('every $ref in it leads somewhere', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)]
    expect(refs.length).toBeGreaterThan(0)
    for (const [, name = ''] of refs) expect(document.components.schemas).toHaveProperty([name])
  })

  test('as pages has every route, once, and every link leads somewhere', async () => {
    const page = async (path: string) =>
      (await gatepass.call('GET', path, undefined, { key: null })).body as string
    const overview = await page('/docs')
    const paths = new Set([...overview.matchAll(/href="(\/docs[^"#]*)/g)].map(([, path = '']) => path))
    const pages = new Map(
      await Promise.all([...paths].map(async (path) => [path, await page(path)] as const)),
    )
    const all = [...pages.values()].join('\n')
    for (const [path, operations] of Object.entries(document.paths))
      for (const method of Object.keys(operations))
        expect(all.split(`${method.toUpperCase()}</span> <code>${path}</code>`)).toHaveLength(2)
    for (const [path, text] of pages)
      for (const [, to, anchor] of text.matchAll(/href="(\/docs[^"#]*)?#([^"]+)"/g))
        expect(pages.get(to ?? path), `${path} leads to ${to}#${anchor}`).toContain(`id="${anchor}"`)
    expect(all).not.toMatch(/<form|data-path|connect-src/)
  })

  test('as a page that does not exist is not found', async () => {
    expect((await gatepass.call('GET', '/docs/nothing', undefined, { key: null })).status).toBe(404)
  })

  test('has each operation in a group that the reference describes', () => {
    const groups = document.tags
    const used = Object.values(document.paths).flatMap((one) =>
      Object.values(one).flatMap(({ tags }) => tags),
    )
    expect(new Set(used)).toEqual(new Set(groups.map(({ name }) => name)))
    expect(groups.filter(({ description }) => !description)).toEqual([])
  })

  test.each(['/docs', '/docs/schemas', '/openapi.json'])(
    '%s is compressed, and not sent to who has it',
    async (path) => {
      const ask = (headers: Record<string, string>) => fetch(`${gatepass.url}${path}`, { headers })
      const whole = await ask({ 'accept-encoding': 'identity' })
      const text = await whole.text()
      expect(whole.headers.get('content-encoding')).toBeNull()
      for (const encoding of ['br', 'gzip']) {
        const response = await ask({ 'accept-encoding': `deflate, ${encoding};q=0.8` })
        expect(response.headers.get('content-encoding')).toBe(encoding)
        expect(Number(response.headers.get('content-length'))).toBeLessThan(text.length / 4)
        expect(await response.text()).toBe(text)
        const etag = response.headers.get('etag') ?? ''
        const again = await ask({ 'accept-encoding': encoding, 'if-none-match': `"other", W/${etag}` })
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
      }
      expect((await ask({ 'accept-encoding': 'br;q=0' })).headers.get('content-encoding')).toBeNull()
      expect((await ask({ 'if-none-match': '"other"' })).status).toBe(200)
    },
  )

  test('the landing page leads to it, and to the pages of users and operators', async () => {
    const { status, body } = await gatepass.call('GET', '/', undefined, { key: null })
    expect(status).toBe(200)
    for (const path of ['/me', '/dashboard', '/docs', '/openapi.json', '/health'])
      expect(body).toContain(`href="${path}"`)
    expect(body).not.toContain('sandbox')
  })
})

test.each([
  ['/health', 200, { status: 'ok' }],
  ['/ready', 200, { ready: true }],
  ['/v1/health', 200, { healthy: true }],
])('%s', async (path, status, body) => {
  expect(await gatepass.call('GET', path, undefined, { key: null })).toMatchObject({ status, body })
})

test('without its database it is alive, but neither ready nor healthy', async () => {
  const broken = await startGatepass()
  await broken.broker.store.close()
  const get = (path: string) => broken.call('GET', path, undefined, { key: null })
  expect(await get('/health')).toMatchObject({ status: 200 })
  expect(await get('/ready')).toMatchObject({ status: 503, body: { ready: false } })
  expect(await get('/v1/health')).toMatchObject({
    status: 503,
    body: { healthy: false, reason: expect.any(String) },
  })
  await broken.close().catch(() => {}) // it is closed already
})
