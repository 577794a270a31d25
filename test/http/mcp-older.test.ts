import { describe, expect, test } from 'vitest'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import type { RecordedRequest } from '../loopback.ts'
import { answerJson } from '../loopback.ts'
import { type McpWorld, type McpWorldOptions, startMcpWorld } from './mcp-world.ts'

// Servers of the revision 2025-03-26, whose authorization server is at their own origin, and servers whose tools have
// schemas that cannot be checked here.

/** The origin of the MCP server also answers for the authorization server, as far as `paths` says. */
async function startOlderWorld(paths: RegExp, options: McpWorldOptions = {}): Promise<McpWorld> {
  const world = await startMcpWorld(options)
  const { as, mcp, call } = world
  mcp.behaviour.as = as
  mcp.behaviour.challenge = 'Bearer'
  const passOn = async ({ method, path, search, headers, body }: RecordedRequest) => {
    const { 'content-type': type = '', authorization } = headers
    const response = await fetch(`${as.url}${path}${search}`, {
      method,
      redirect: 'manual',
      headers: { ...(type && { 'content-type': type }), ...(authorization && { authorization }) },
      ...(method !== 'GET' && { body }),
    })
    const text = await response.text()
    return { response, text: path.includes('.well-known') ? text.replaceAll(as.url, mcp.origin) : text }
  }
  mcp.behaviour.intercept = async (request, res) => {
    if (request.path === '/mcp') return false
    if (!paths.test(request.path)) {
      answerJson(res, 404, { error: 'not_found' })
      return true
    }
    const { response, text } = await passOn(request)
    const location = response.headers.get('location')
    res.writeHead(response.status, {
      'content-type': response.headers.get('content-type') ?? 'text/plain',
      ...(location !== null && { location: new URL(location, mcp.origin).href }),
    })
    res.end(text)
    return true
  }
  await call('PATCH', '/v1/workers/demo', { enabled: true })
  return world
}

const providers = async ({ call }: McpWorld) => (await call('GET', '/v1/admin/auth_providers')).body.items

describe('a server of 2025-03-26 without metadata of its own', () => {
  test('is authorized by the authorization server at its origin', async () => {
    await using world = await startOlderWorld(
      /oauth-authorization-server$|^\/(authorize|token|register|approve)/,
    )
    expect((await world.authorize('ada')).body).toMatchObject({ status: 'completed' })
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(true)
    const [entry] = await providers(world)
    expect(entry.oauth2).toMatchObject({ issuer: world.mcp.origin, pkce: { enabled: true } })
    expect(world.as.tokenRequests()[0]?.params).toMatchObject({ resource: world.mcp.url })
  })

  test('is authorized at the usual endpoints where its origin has no metadata either', async () => {
    await using world = await startOlderWorld(/^\/(authorize|token|register|approve)/)
    expect((await world.authorize('ada')).body).toMatchObject({ status: 'completed' })
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(true)
    const [entry, ...others] = await providers(world)
    expect(others).toEqual([])
    expect(entry.oauth2).not.toHaveProperty('issuer')
    expect(entry.oauth2.authorize_request.endpoint).toBe(`${world.mcp.origin}/authorize`)
    expect(world.as.requestsTo('/register')).toHaveLength(1)
  })

  test('that has none of them leaves no provider behind, and says where it was looked', async () => {
    await using world = await startOlderWorld(/^\/nothing/)
    const { body } = await world.call('PATCH', '/v1/workers/demo', { enabled: true })
    expect(body.sync_error).toMatch(/has no metadata \(RFC 9728\).*default endpoints.*authorization_url/s)
    expect(await providers(world)).toEqual([])
  })

  test('whose origin names an issuer elsewhere is believed as far as that issuer agrees', async () => {
    await using bank = await startFakeAuthorizationServer({ registration: 'public', requirePkce: 'S256' })
    await using world = await startMcpWorld()
    const { mcp, as, call } = world
    mcp.behaviour.as = as
    mcp.behaviour.challenge = ''
    const claim = {
      issuer: bank.url,
      authorization_endpoint: `${mcp.origin}/authorize`,
      token_endpoint: `${mcp.origin}/t`,
    }
    mcp.behaviour.intercept = ({ path }, res) => {
      if (path === '/mcp') return false
      const isMetadata = path === '/.well-known/oauth-authorization-server'
      answerJson(res, isMetadata ? 200 : 404, isMetadata ? claim : {})
      return true
    }
    await call('PATCH', '/v1/workers/demo', { enabled: true })
    const [entry] = await providers(world)
    expect(entry.oauth2).toMatchObject({ issuer: bank.url })
    expect(entry.oauth2.token_request.endpoint).toBe(bank.tokenUrl)
  })
})

describe('`openid`', () => {
  const listed = { scopes_supported: ['openid', 'tools'] }
  const bad = { tokenMembers: { id_token: 'eyJhbGciOiJub25lIn0.e30.' } }

  test('is not asked for because a server lists it, and a bad ID token nobody asked for fails nothing', async () => {
    await using world = await startMcpWorld({ as: bad })
    world.mcp.behaviour.as = world.as
    world.mcp.behaviour.resourceMetadata = listed
    await world.call('PATCH', '/v1/workers/demo', { enabled: true })
    expect((await world.authorize('ada')).body).toMatchObject({ status: 'completed' })
    expect(world.as.requestsTo('/authorize').map(({ query }) => query.scope)).toEqual(['tools'])
  })

  test('is asked for where the operator says so, and the ID token is checked then', async () => {
    await using world = await startMcpWorld({ as: bad, settings: { oauth2: { scopes: ['openid'] } } })
    world.mcp.behaviour.as = world.as
    world.mcp.behaviour.resourceMetadata = listed
    await world.call('PATCH', '/v1/workers/demo', { enabled: true })
    expect((await world.call('GET', '/v1/workers/demo')).body.mcp.oauth2).toMatchObject({
      scopes: ['openid'],
    })
    expect((await world.authorize('ada')).body.status).not.toBe('completed')
    const [asked] = world.as.requestsTo('/authorize')
    expect(asked?.query.scope?.split(' ').sort()).toEqual(['openid', 'tools'])
    expect(asked?.query.nonce).toMatch(/./)
  })
})

describe('a tool whose schemas cannot be checked here', () => {
  const object = { type: 'object' }
  const duration = String.raw`^P(?!$)(\d+Y)?(\d+M)?(T(?=\d)(\d+H)?)?$`
  const bad = [
    {
      name: 'lookaround',
      inputSchema: { ...object, properties: { for: { type: 'string', pattern: duration } } },
    },
    { name: 'mistyped', inputSchema: { ...object, properties: { a: { type: 'strnig' } }, required: 'a' } },
    { name: 'circular', inputSchema: { ...object, properties: { a: { $ref: '#/properties/a' } } } },
    {
      name: 'elsewhere',
      inputSchema: { ...object, properties: { a: { $ref: 'https://x.test/schema.json' } } },
    },
    {
      name: 'output',
      inputSchema: object,
      outputSchema: { ...object, properties: { a: { pattern: '(?<=a)b' } } },
    },
    { name: 'no_output', inputSchema: object, outputSchema: 'text' },
  ]

  test('is taken with a remark, listed in every form, and its input goes to the server', async () => {
    await using world = await startMcpWorld({
      mcp: {
        tools: bad.map(({ name }) => ({ name, run: async (args) => ({ got: args }) })),
      },
    })
    const { mcp, call } = world
    mcp.behaviour.intercept = ({ json }, res) => {
      const { id, method } = (json ?? {}) as { id?: number; method?: string } // a JSON-RPC request
      if (method !== 'tools/list') return false
      answerJson(res, 200, { jsonrpc: '2.0', id, result: { tools: bad } })
      return true
    }
    const { body } = await call('PATCH', '/v1/workers/demo', { enabled: true })
    for (const { name } of bad) expect(body.sync_error).toMatch(new RegExp(`${name}.*taken with a remark`))
    for (const path of [
      '/v1/workers/demo/tools?limit=100',
      '/v1/tools?limit=100&toolkit=Demo',
      ...['openai', 'anthropic', 'mcp'].map(
        (format) => `/v1/formatted_tools?limit=100&format=${format}&toolkit=Demo`,
      ),
    ]) {
      const listed = await call('GET', path)
      expect([path, listed.status, listed.body.items?.length]).toEqual([path, 200, bad.length])
    }
    for (const { name } of bad) {
      const input = { for: 'P1Y', a: 'ab' }
      expect((await world.execute(`Demo.${name}`, { input })).body.output.value).toEqual({ got: input })
      const args = { for: 7 }
      const run = await call('POST', '/v1/tools/run', { toolId: `Demo:${name}:1.2.3`, args })
      expect(run.body).toMatchObject({ structured: { got: args } })
    }
  })
})
