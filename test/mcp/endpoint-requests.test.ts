import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import {
  CAPABILITIES_KEY,
  exchange,
  initialize,
  legacy,
  MODERN,
  modern,
  openSession,
  type RawOptions,
  VERSION_KEY,
} from './raw.ts'

// Each row of the specification's tables, as bytes on the wire.

let gatepass: Gatepass
beforeAll(async () => {
  gatepass = await startGatepass({ mode: 'development' })
})
afterAll(() => gatepass.close())

const CALL = { name: 'Sandbox_Profile', arguments: {} }

async function sendModern(
  { body, headers }: ReturnType<typeof modern>,
  changed: Readonly<Record<string, string | undefined>> = {},
  options: RawOptions = {},
) {
  const all = Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined)
  return exchange(gatepass, body, { ...options, headers: Object.fromEntries(all) as Record<string, string> })
}

describe('MCP 2025', () => {
  test.each(['2025-03-26', '2025-06-18', '2025-11-25'])('initialize agrees on %s', async (version) => {
    const { status, headers, body } = await exchange(gatepass, initialize(version))
    expect(status).toBe(200)
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('mcp-session-id')).toMatch(/^[\x21-\x7e]+$/)
    expect(body.result).toEqual({
      protocolVersion: version,
      capabilities: { tools: { listChanged: true }, resources: {} },
      serverInfo: { name: 'gatepass', title: 'Gatepass', version: expect.any(String) },
    })
  })

  test('initialize offers the newest for a revision that is not known', async () => {
    const { body } = await exchange(gatepass, initialize('1999-01-01'))
    expect(body.result.protocolVersion).toBe('2025-11-25')
  })

  test('takes notifications without an answer', async () => {
    const headers = await openSession(gatepass)
    const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
    expect(await exchange(gatepass, initialized, { headers })).toMatchObject({ status: 202, body: '' })
  })

  test('answers ping, and -32601 to methods that it does not have', async () => {
    const headers = await openSession(gatepass)
    expect((await exchange(gatepass, legacy('ping'), { headers })).body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {},
    })
    for (const method of [
      'prompts/list',
      'prompts/get',
      'logging/setLevel',
      'server/discover',
      'tools/delete',
    ])
      expect((await exchange(gatepass, legacy(method, {}), { headers })).body.error.code).toBe(-32_601)
  })

  test('needs no session, and refuses a revision that is not served', async () => {
    const list = (headers: Record<string, string>) => exchange(gatepass, legacy('tools/list'), { headers })
    expect((await list({})).body.result.tools.length).toBeGreaterThan(0)
    expect((await list({ 'mcp-protocol-version': '2025-06-18' })).status).toBe(200)
    expect((await list({ 'mcp-protocol-version': '2024-01-01' })).status).toBe(400)
  })

  test('reads batches of 2025-03-26, and refuses them in later revisions', async () => {
    const batch = [legacy('ping', {}, 'a'), legacy('tools/list', {}, 'b')]
    const old = await exchange(gatepass, batch, { headers: { 'mcp-protocol-version': '2025-03-26' } })
    expect(old.messages.map(({ id }) => id).sort()).toEqual(['a', 'b'])
    expect((await exchange(gatepass, batch)).status).toBe(200)
    const { body, status } = await exchange(gatepass, batch, {
      headers: { 'mcp-protocol-version': '2025-11-25' },
    })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: -32_600 })
    const headers = await openSession(gatepass)
    const { 'mcp-protocol-version': _, ...session } = headers
    expect((await exchange(gatepass, batch, { headers: session })).status).toBe(400)
  })

  test('counts each message of a batch, and takes 20', async () => {
    const { body: made } = await gatepass.call('POST', '/v1/admin/keys', {
      name: 'slow',
      role: 'caller',
      rate_limit: 5,
    })
    const batch = (size: number, key = gatepass.apiKey) =>
      exchange(
        gatepass,
        Array.from({ length: size }, (_, id) => legacy('ping', {}, id)),
        { key },
      )
    expect((await batch(21)).status).toBe(400)
    expect((await batch(20)).messages).toHaveLength(20)
    expect((await batch(4, made.key)).status).toBe(200)
    // at once, and more than a slow machine lets pass meanwhile; as requests they would not be too many
    const answers = await Promise.all(Array.from({ length: 4 }, () => batch(4, made.key)))
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toEqual(expect.any(String))
  })

  test('a session is its principal’s own', async () => {
    const headers = await openSession(gatepass)
    const id = headers['mcp-session-id'] ?? ''
    const list = (more: RawOptions, sessionId = id) =>
      exchange(gatepass, legacy('tools/list'), { ...more, headers: { 'mcp-session-id': sessionId } })
    expect((await list({})).status).toBe(200)
    const altered = `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`
    for (const answer of [
      await list({ user: 'mallory' }),
      await list({ key: await gatepass.makeKey('caller') }),
      await list({}, altered),
      await list({}, id.slice(0, 40)),
      await list({}, 'x'.repeat(5_000)),
      await list({}, `${id}=`),
    ]) {
      expect(answer.status).toBe(404)
      expect(answer.body).toEqual({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_001, message: 'Session not found' },
      })
    }
    expect((await list({ key: null })).status).toBe(401)
  })

  test('DELETE is refused, since a session holds nothing', async () => {
    const headers = await openSession(gatepass)
    const answer = await exchange(gatepass, undefined, { method: 'DELETE', headers })
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST, GET')
  })
})

describe('MCP 2026-07-28', () => {
  test('server/discover', async () => {
    const { status, headers, body } = await sendModern(modern('server/discover'))
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(headers.get('mcp-session-id')).toBeNull()
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        resultType: 'complete',
        supportedVersions: [MODERN],
        capabilities: { tools: { listChanged: true }, resources: {}, logging: {} },
        ttlMs: 60_000,
        cacheScope: 'private',
        _meta: { 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'gatepass' }) },
      },
    })
  })

  test('tools/list says how long it may be kept', async () => {
    const { body } = await sendModern(modern('tools/list'))
    expect(body.result).toEqual({
      resultType: 'complete',
      tools: expect.any(Array),
      ttlMs: 60_000,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': expect.objectContaining({ name: 'gatepass' }) },
    })
    expect(body.result.tools.length).toBeGreaterThan(0)
  })

  test.each([
    ['the version differs from the body', { 'mcp-protocol-version': '2025-11-25' }],
    ['the version is missing', { 'mcp-protocol-version': undefined }],
    ['the method differs from the body', { 'mcp-method': 'tools/list' }],
    ['the method is missing', { 'mcp-method': undefined }],
    ['the name differs from the body', { 'mcp-name': 'Other_Tool' }],
    ['the name is missing', { 'mcp-name': undefined }],
  ])('%s: 400 -32020', async (_, changed) => {
    const { status, body } = await sendModern(modern('tools/call', CALL), changed)
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: -32_020 })
  })

  test('decodes a name in base64', async () => {
    const encoded = `=?base64?${Buffer.from(CALL.name).toString('base64')}?=`
    const { status } = await sendModern(modern('tools/call', CALL), { 'mcp-name': encoded })
    expect(status).toBe(200)
  })

  test.each([VERSION_KEY, CAPABILITIES_KEY])('without %s: 400 -32602', async (missing) => {
    const { body, headers } = modern('tools/list')
    delete (body.params._meta as Record<string, unknown>)[missing]
    const answer = await exchange(gatepass, body, { headers })
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 400, code: -32_602 })
  })

  test('a revision that is not served: 400 -32022', async () => {
    const request = modern('tools/list', { _meta: { [VERSION_KEY]: '2099-01-01' } })
    const { status, body } = await sendModern(request, { 'mcp-protocol-version': '2099-01-01' })
    expect(status).toBe(400)
    expect(body.error).toMatchObject({
      code: -32_022,
      data: { supported: [MODERN], requested: '2099-01-01' },
    })
  })

  test.each(['ping', 'initialize', 'tools/delete', 'prompts/list', 'logging/setLevel'])(
    '%s is no method: 404 -32601',
    async (method) => {
      const { status, body } = await sendModern(modern(method))
      expect({ status, code: body.error.code }).toEqual({ status: 404, code: -32_601 })
    },
  )

  test('ignores a session', async () => {
    const { status } = await sendModern(modern('tools/list'), { 'mcp-session-id': 'no session' })
    expect(status).toBe(200)
  })

  test('GET and DELETE: 405', async () => {
    const headers = { 'mcp-protocol-version': MODERN, 'mcp-session-id': 'any' }
    for (const method of ['GET', 'DELETE']) {
      const { status } = await exchange(gatepass, undefined, { method, headers })
      expect(status).toBe(405)
    }
  })

  test('an unknown tool is -32602 with the status 200', async () => {
    const { status, body } = await sendModern(modern('tools/call', { name: 'Nope', arguments: {} }))
    expect({ status, code: body.error.code }).toEqual({ status: 200, code: -32_602 })
  })
})

describe('any request', () => {
  test('that is no JSON: 400 -32700', async () => {
    for (const text of ['{', '', 'hello']) {
      const { status, body } = await exchange(gatepass, text, {
        headers: { 'content-type': 'application/json' },
      })
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: -32_700 })
    }
  })

  test('that is no message: 400', async () => {
    for (const value of [null, 1, 'text', {}, [], [1], { jsonrpc: '1.0', id: 1, method: 'ping' }])
      expect((await exchange(gatepass, JSON.stringify(value))).status).toBe(400)
  })

  test('of another media type: 415', async () => {
    const headers = { 'content-type': 'text/plain' }
    expect((await exchange(gatepass, initialize(), { headers })).status).toBe(415)
  })

  test('without a key, with an unknown one, and with one that only reads', async () => {
    const none = await exchange(gatepass, initialize(), { key: null })
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${gatepass.url}/.well-known/oauth-protected-resource/mcp", scope="mcp"`,
    )
    expect((await exchange(gatepass, initialize(), { key: 'gp_unknown' })).status).toBe(401)
    const key = await gatepass.makeKey('readonly')
    expect((await sendModern(modern('tools/list'), {}, { key })).status).toBe(200)
    expect((await sendModern(modern('tools/call', CALL), {}, { key })).status).toBe(403)
  })

  test('for a toolset that does not exist: 404', async () => {
    for (const path of ['/mcp/none', '/mcp/NO%20ID'])
      expect((await sendModern(modern('tools/list'), {}, { path })).status).toBe(404)
    const headers = await openSession(gatepass)
    expect((await exchange(gatepass, undefined, { method: 'GET', path: '/mcp/none', headers })).status).toBe(
      404,
    )
  })

  test('by a method that is not served: 405', async () => {
    for (const method of ['PUT', 'PATCH'])
      expect((await exchange(gatepass, initialize(), { method })).status).toBe(405)
  })

  test('with a body that is too large: 413', async () => {
    const params = { ...CALL, arguments: { text: 'x'.repeat(9_000_000) } }
    expect((await exchange(gatepass, legacy('tools/call', params))).status).toBe(413)
  })
})

test('`serve` does not offer /mcp while nothing verifies users', async () => {
  await using open = await startGatepass({ mode: 'serve' })
  const { status, body } = await exchange(open, initialize())
  expect(status).toBe(501)
  expect(body).toMatchObject({
    name: 'not_implemented',
    message: expect.stringContaining('GATEPASS_USER_VERIFIER'),
  })
})
