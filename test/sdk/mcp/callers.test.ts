import { request } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { mcp, serveMcp } from '../../../src/sdk/mcp/mcp.ts'
import { createHandler } from '../../../src/sdk/mcp/mcp-handler.ts'
import { type CallToolResult, ToolApp, ToolError } from '../../../src/sdk/tools/index.ts'
import { questionsApp } from './questions-app.ts'

// Who is believed, what a request's state is bound to, and which pages may call.

const HOST = 'hub.example.com'
const URL_ = `https://${HOST}/mcp`
/** For servers whose tools everyone may call. */
const PUBLIC = { allowedHosts: [HOST] }
const SECRET = 'a broker secret of thirty-two characters'

function secretApp() {
  const app = new ToolApp({ name: 'hub', version: '1.0.0' })
  app.tool('whoami', {
    description: 'Says what the call has.',
    input: z.object({}),
    requiresSecrets: ['HUB_KEY'],
    handler: ({ userId, getSecret }) => ({ userId, key: getSecret('HUB_KEY') }),
  })
  return app
}

async function brokerToken(
  claims: Record<string, unknown> = {},
  secret = SECRET,
  header: { readonly crit?: string[]; readonly b64?: true } = {},
): Promise<string> {
  return new SignJWT({ aud: 'worker', ver: '1', exp: Math.floor(Date.now() / 1000) + 60, ...claims })
    .setProtectedHeader({ alg: 'HS256', ...header })
    .sign(new TextEncoder().encode(secret))
}

type Handler = { readonly fetch: (request: Request) => Promise<Response> }

/** Sends one request of 2026-07-28. */
async function call(
  { fetch }: Handler,
  method: string,
  params: Record<string, unknown>,
  headers: Record<string, string> = {},
  capabilities: object = { elicitation: {} },
) {
  const { name } = params
  const { _meta, ...rest } = params
  const response = await fetch(
    new Request(URL_, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(typeof name === 'string' && { 'mcp-name': name }),
        ...headers,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: {
          ...rest,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': capabilities,
            ...(_meta as object | undefined),
          },
        },
      }),
    }),
  )
  const text = await response.text()
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text
  return { status: response.status, headers: response.headers, body: JSON.parse(data) }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const WHOAMI = {
  name: 'whoami',
  arguments: {},
  _meta: { arcade_context: { user_id: 'ada', secrets: [{ key: 'HUB_KEY', value: 'from the broker' }] } },
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('callers', () => {
  test('an app that needs callers to be known is not served without', () => {
    expect(() => mcp(secretApp())).toThrow(/whoami uses secrets.*brokerSecret, issuer or verify/)
    expect(() => mcp(secretApp(), { brokerSecret: 'short' })).toThrow(/32 characters/)
    expect(() => mcp(questionsApp().app)).not.toThrow()
  })

  test('a secret that neither Gatepass sends nor the environment has stops the start', async () => {
    const verify = async () => ({ sub: 'ada' })
    const serve = (options: object) => secretApp().serve({ as: 'mcp', port: 0, verify, ...options })
    await expect(serve({})).rejects.toThrow(/does not have: HUB_KEY/)
    await expect(serve({ transport: 'stdio' })).rejects.toThrow(/does not have: HUB_KEY/)
    await (await serve({ brokerSecret: SECRET })).close()
    vi.stubEnv('HUB_KEY', 'from the environment')
    await (await serve({})).close()
  })

  test('Gatepass names the user and the secrets, by its signature', async () => {
    const handler = mcp(secretApp(), { brokerSecret: SECRET })
    const { body } = await call(handler, 'tools/call', WHOAMI, bearer(await brokerToken()))
    expect(body.result.structuredContent).toEqual({ userId: 'ada', key: 'from the broker' })
  })

  test.each([
    ['no token', async () => undefined],
    ['another secret', () => brokerToken({}, `${SECRET}!`)],
    ['another audience', () => brokerToken({ aud: 'somebody' })],
    ['another version', () => brokerToken({ ver: '2' })],
    ['one that has expired', () => brokerToken({ exp: 1 })],
    ['one without a signature', async () => (await brokerToken()).replace(/[^.]*$/, 'AA')],
    [
      'one by the algorithm none',
      async () => `${btoa('{"alg":"none"}').replace('=', '')}.${(await brokerToken()).split('.')[1]}.AA`,
    ],
    ['one whose header has crit', () => brokerToken({}, SECRET, { crit: ['b64'], b64: true })],
  ])('%s is refused', async (_, token) => {
    const handler = mcp(secretApp(), { brokerSecret: SECRET })
    const said = await token()
    const { status, headers } = await call(
      handler,
      'tools/call',
      WHOAMI,
      said === undefined ? {} : bearer(said),
    )
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  test('a verified user is who the token says, whatever the call says', async () => {
    process.env.HUB_KEY = 'from the environment'
    try {
      const verify = (token: string) => (token === 'good' ? { sub: 'grace' } : undefined)
      const handler = mcp(secretApp(), { brokerSecret: SECRET, verify })
      const { body } = await call(handler, 'tools/call', WHOAMI, bearer('good'))
      expect(body.result.structuredContent).toEqual({ userId: 'grace', key: 'from the environment' })
      expect((await call(handler, 'tools/call', WHOAMI, bearer('bad'))).status).toBe(401)
    } finally {
      delete process.env.HUB_KEY
    }
  })

  test('an issuer’s token is checked by its keys, its audience and its time; the challenge names the metadata', async () => {
    const issuer = 'https://issuer.example.com'
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const other = await generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }
    let reads = 0
    const fetch = async (url: string | URL | Request) => {
      reads++
      const metadata = { issuer, jwks_uri: `${issuer}/jwks` }
      return Response.json(String(url).endsWith('/jwks') ? { keys: [jwk] } : metadata)
    }
    const app = questionsApp().app
    const handler = mcp(app, { issuer: { url: issuer, audience: URL_, fetch } })
    const token = (claims: Record<string, unknown>, key = privateKey) =>
      new SignJWT({ iss: issuer, aud: URL_, sub: 'ada', exp: Math.floor(Date.now() / 1000) + 60, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .sign(key)
    const whoIs = async (said: Promise<string>) =>
      call(handler, 'tools/call', { name: 'context', arguments: {} }, bearer(await said))

    expect((await whoIs(token({}))).body.result.structuredContent).toMatchObject({ userId: 'ada' })
    for (const wrong of [
      token({ aud: 'other' }),
      token({ iss: 'x' }),
      token({ exp: 1 }),
      token({}, other.privateKey),
    ])
      expect((await whoIs(wrong)).status).toBe(401)
    expect(reads).toBe(2) // the metadata and the keys, once; keys are not read again for each stranger

    const refused = await handler.fetch(new Request(URL_, { method: 'POST', body: '{}' }))
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer resource_metadata="https://hub.example.com/.well-known/oauth-protected-resource/mcp"',
    )
    const metadata = await handler.fetch(
      new Request('https://hub.example.com/.well-known/oauth-protected-resource/mcp'),
    )
    expect(await metadata.json()).toEqual({ resource: URL_, authorization_servers: [issuer] })
  })

  test.each([
    ['the URL of clients', URL_, 'https://hub.example.com', URL_],
    ['no URL', 'api://hub', 'http://10.0.0.7:8000', 'http://10.0.0.7:8000/mcp'],
  ])('behind a proxy, an audience that is %s: the metadata', async (_, audience, origin, resource) => {
    const issuer = 'https://issuer.example.com'
    const { fetch } = mcp(questionsApp().app, { issuer: { url: issuer, audience } })
    const inside = 'http://10.0.0.7:8000'
    const { headers } = await fetch(new Request(`${inside}/mcp`, { method: 'POST', body: '{}' }))
    const path = '/.well-known/oauth-protected-resource/mcp'
    expect(headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${origin}${path}"`)
    const metadata = await fetch(new Request(`${inside}${path}`))
    expect(await metadata.json()).toEqual({ resource, authorization_servers: [issuer] })
  })
})

test('a key that its issuer has withdrawn is trusted for ten minutes at most, or until the issuer answers again', async () => {
  const issuer = 'https://issuer.example.com'
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  let published = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }]
  let isAway = false
  let now = Date.now()
  const fetch = async (url: string | URL | Request) => {
    if (isAway) throw new TypeError('fetch failed')
    const metadata = { issuer, jwks_uri: `${issuer}/jwks` }
    return Response.json(String(url).endsWith('/jwks') ? { keys: published } : metadata)
  }
  const options = { issuer: { url: issuer, audience: URL_, fetch } }
  const handler = createHandler(questionsApp().app, options, { now: () => now })
  const token = await new SignJWT({ iss: issuer, aud: URL_, sub: 'ada', exp: Math.floor(now / 1000) + 3600 })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .sign(privateKey)
  const status = async () =>
    (await call(handler, 'tools/call', { name: 'context', arguments: {} }, bearer(token))).status

  expect(await status()).toBe(200)
  published = []
  isAway = true
  now += 600_000
  expect(await status()).toBe(200)
  isAway = false
  now += 600_000
  expect(await status()).toBe(401)
})

test('tokens that arrive together share one read of the keys: when the issuer has a new key, and once a second while it cannot be reached', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const issuer = 'https://issuer.example.com'
  const [old, current] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
  let published = [{ ...(await exportJWK(old.publicKey)), kid: 'old', alg: 'ES256' }]
  let isAway = true
  let reads = 0
  let now = Date.now()
  const fetch = async (url: string | URL | Request) => {
    const isKeys = String(url).endsWith('/jwks')
    if (!isKeys) reads++
    if (isAway) throw new TypeError('fetch failed')
    return Response.json(isKeys ? { keys: published } : { issuer, jwks_uri: `${issuer}/jwks` })
  }
  const options = { issuer: { url: issuer, audience: URL_, fetch } }
  const handler = createHandler(questionsApp().app, options, { now: () => now })
  const tokenOf = (kid: string, key: CryptoKey) =>
    new SignJWT({ iss: issuer, aud: URL_, sub: 'ada', exp: Math.floor(now / 1000) + 3600 })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(key)
  const [before, after] = [await tokenOf('old', old.privateKey), await tokenOf('new', current.privateKey)]
  const status = async (token: string) =>
    (await call(handler, 'tools/call', { name: 'context', arguments: {} }, bearer(token))).status

  for (let n = 0; n < 3; n++) expect(await status(before)).toBe(503)
  expect(reads).toBe(1)
  now -= 60_000 // the clock is set back
  expect(await status(before)).toBe(503)
  expect(reads).toBe(2)
  isAway = false
  now += 61_000
  expect(await status(before)).toBe(200)
  expect(reads).toBe(3)
  published = [{ ...(await exportJWK(current.publicKey)), kid: 'new', alg: 'ES256' }]
  now += 30_000
  expect(await Promise.all([after, after, after].map(status))).toEqual([200, 200, 200])
  expect(reads).toBe(4)
  logged.mockRestore()
})

test('an issuer that cannot be reached and a check that throws are answered by 503, and logged', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const issuer = 'https://issuer.example.com'
  const fault = new TypeError('fetch failed')
  const fails = () => {
    throw fault
  }
  const { privateKey } = await generateKeyPair('ES256')
  const token = await new SignJWT({
    iss: issuer,
    aud: URL_,
    sub: 'ada',
    exp: Math.floor(Date.now() / 1000) + 60,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .sign(privateKey)
  for (const options of [{ issuer: { url: issuer, audience: URL_, fetch: fails } }, { verify: fails }]) {
    const handler = mcp(questionsApp().app, options)
    const answer = await call(handler, 'tools/call', { name: 'context', arguments: {} }, bearer(token))
    expect(answer.status).toBe(503)
    expect(answer.body.error.message).toBe('This server cannot check tokens at the moment. Try again later.')
    expect(logged).toHaveBeenLastCalledWith(expect.any(String), fault)
  }
  logged.mockRestore()
})

describe('what callers get', () => {
  test('a tool with a secret that is added later ends anonymous calls', async () => {
    const { app } = questionsApp()
    const handler = mcp(app, PUBLIC)
    const context = () => call(handler, 'tools/call', { name: 'context', arguments: {} })
    expect((await context()).status).toBe(200)
    app.tool('later', { input: z.object({}), requiresSecrets: ['HUB_KEY'], handler: () => '' })
    expect((await context()).status).toBe(401)
  })

  test('what a program writes for operators is for Gatepass, which removes tokens from it; for others it is logged, without them', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    vi.stubEnv('HUB_KEY', 't0ken')
    const app = new ToolApp({ name: 'failing' })
    app.tool('fails', {
      input: z.object({}),
      requiresSecrets: ['HUB_KEY'],
      handler({ getSecret }) {
        throw new Error(`GET https://api.example.com/?token=${getSecret('HUB_KEY')}`)
      },
    })
    const handler = mcp(app, { brokerSecret: SECRET, verify: (token) => ({ sub: token }) })
    const fails = async (token: string) =>
      JSON.stringify(
        (await call(handler, 'tools/call', { name: 'fails', arguments: {} }, bearer(token))).body,
      )
    expect(await fails(await brokerToken())).toContain('t0ken')
    expect(logged).not.toHaveBeenCalled()
    const answer = await fails('ada')
    expect(answer).toContain('The tool has failed.')
    expect(answer).not.toContain('t0ken')
    const text = 'Error: GET https://api.example.com/?token=[redacted]'
    expect(logged).toHaveBeenCalledExactlyOnceWith(
      'The tool %s failed:',
      'fails',
      expect.stringContaining(text),
    )
    expect(JSON.stringify(logged.mock.calls)).not.toContain('t0ken')
    logged.mockRestore()
    vi.unstubAllEnvs()
  })

  test.each<[string, (result: CallToolResult) => unknown]>([
    ['as its own result', (result) => result],
    ['in a value', (result) => ({ result })],
  ])(
    'a tool that returns the failure of another %s sends nothing for operators; it is logged',
    async (_, answered) => {
      const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
      vi.stubEnv('HUB_KEY', 't0ken')
      const app = new ToolApp({ name: 'hub' })
      const input = z.object({})
      app.tool('inner', {
        input,
        requiresSecrets: ['HUB_KEY'],
        handler({ getSecret }) {
          throw new Error(`connect db://user:${getSecret('HUB_KEY')}@internal`)
        },
      })
      app.tool('outer', { input, handler: async ({ tools }) => answered(await tools.call('inner')) })
      const handler = mcp(app, { brokerSecret: SECRET, verify: (token) => ({ sub: token }) })
      for (const token of ['ada', await brokerToken()]) {
        const { body } = await call(handler, 'tools/call', { name: 'outer', arguments: {} }, bearer(token))
        expect(JSON.stringify(body)).toContain('The tool has failed.')
        expect(JSON.stringify(body)).not.toContain('internal')
        const text = 'Error: connect db://user:[redacted]@internal'
        expect(logged).toHaveBeenCalledExactlyOnceWith(
          'The tool %s failed:',
          'inner',
          expect.stringContaining(text),
        )
        expect(JSON.stringify(logged.mock.calls)).not.toContain('t0ken')
        logged.mockClear()
      }
      logged.mockRestore()
    },
  )

  test('what a prompt, a resource or a completion throws is an internal error without its message, unless it is a ToolError', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const app = new ToolApp({ name: 'hub', version: '1.0.0' })
    const input = z.object({ how: z.string() })
    const handler = ({ input: { how } }: { input: { how: string } }) => {
      throw how === 'intended'
        ? new ToolError('The library is closed.')
        : new TypeError('of db://user:secret@host')
    }
    const complete = () => {
      throw new TypeError('of db://user:secret@host')
    }
    app.prompt('greet', { input, handler, complete })
    app.resource('hub://{how}', { handler: ({ params }) => handler({ input: { how: params.how ?? '' } }) })
    const server = mcp(app, PUBLIC)
    const prompt = (given: object) => call(server, 'prompts/get', { name: 'greet', arguments: given })
    const resource = (uri: string) => call(server, 'resources/read', { uri }, { 'mcp-name': uri })
    expect((await prompt({})).body.error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining('how'),
    })
    expect((await prompt({ how: 'a fault' })).body.error).toEqual({
      code: -32_603,
      message: 'The prompt "greet" failed.',
    })
    const intended = { code: -32_603, message: 'The library is closed.' }
    expect((await prompt({ how: 'intended' })).body.error).toEqual(intended)
    expect((await resource('hub://fault')).body.error).toEqual({
      code: -32_603,
      message: 'The resource "hub://fault" failed.',
    })
    expect(logged).toHaveBeenLastCalledWith('%s failed:', 'The resource "hub://fault"', expect.any(TypeError))
    expect((await resource('hub://intended')).body.error).toEqual(intended)
    const completed = await call(server, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'how', value: '' },
    })
    expect(completed.body.error).toEqual({ code: -32_603, message: 'The completion failed.' })
    expect(logged).toHaveBeenCalledTimes(3)
    logged.mockRestore()
  })

  test('a Gatepass that gives no tokens is a failure of the tool without the reason, which is logged', async () => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const fault = new Error('Gatepass at http://gatepass.internal:8400 cannot be reached.')
    const fails = async () => {
      throw fault
    }
    const gatepass = { tools: { execute: fails }, token: fails, authorization: fails }
    const app = new ToolApp({ name: 'hub', version: '1.0.0', gatepass })
    app.tool('whoami', {
      input: z.object({}),
      requiresAuth: { provider: 'demo' },
      handler: ({ userId }) => userId,
    })
    const handler = mcp(app, { verify: (token) => ({ sub: token }) })
    const { body } = await call(handler, 'tools/call', { name: 'whoami', arguments: {} }, bearer('ada'))
    Object.assign(fault, { status: 403, code: 'denied_by_policy' })
    const denied = await call(handler, 'tools/call', { name: 'whoami', arguments: {} }, bearer('ada'))
    expect(denied.body.result._meta.arcade).toMatchObject({
      errorKind: 'TOOL_RUNTIME_FATAL',
      canRetry: false,
    })
    expect(body.result).toMatchObject({
      isError: true,
      content: [{ text: 'The tool was not run, because Gatepass did not give the tokens that it needs.' }],
      _meta: { arcade: { canRetry: true } },
    })
    expect(JSON.stringify(body)).not.toContain('internal')
    const line = [expect.any(String), 'whoami', fault]
    expect(logged.mock.calls).toEqual([line, line])
    logged.mockRestore()
  })

  test('a program that verifies a token without a user refuses it', async () => {
    const handler = mcp(questionsApp().app, { verify: () => ({ sub: '' }) })
    const { status } = await call(handler, 'tools/call', { name: 'context', arguments: {} }, bearer('t'))
    expect(status).toBe(401)
  })
})

describe('the state of a call', () => {
  const verify = (token: string) => ({ sub: token })
  const BOOK = { name: 'book', arguments: { place: 'Oslo' } }
  const GUESTS = { inputResponses: { 'elicitation-1': { action: 'accept', content: { guests: 4 } } } }

  async function asked(handler: Handler) {
    const { body } = await call(handler, 'tools/call', BOOK, bearer('ada'))
    expect(body.result.inputRequests).toEqual({
      'elicitation-1': {
        method: 'elicitation/create',
        params: expect.objectContaining({ mode: 'form', message: 'How many?' }),
      },
    })
    return body.result.requestState as string
  }

  test('is not readable, and is bound to the user, the tool and the arguments', async () => {
    const { app, counts } = questionsApp()
    const handler = mcp(app, { verify })
    const requestState = await asked(handler)
    const next = await call(handler, 'tools/call', { ...BOOK, ...GUESTS, requestState }, bearer('ada'))
    const later: string = next.body.result.requestState
    expect(next.body.result.inputRequests).toHaveProperty('elicitation-2')
    expect(atob(later.split('.')[2]?.replaceAll('-', '+').replaceAll('_', '/') ?? '')).not.toContain('guests')

    const answer = { inputResponses: { 'elicitation-2': { action: 'accept', content: { sure: true } } } }
    const retry = (changed: object, user = 'ada') =>
      call(handler, 'tools/call', { ...BOOK, ...answer, requestState: later, ...changed }, bearer(user))
    for (const stolen of [
      retry({}, 'mallory'),
      retry({ arguments: { place: 'Rome' } }),
      retry({ name: 'context', arguments: {} }),
      retry({ requestState: `${later.slice(0, -2)}${later.endsWith('AA') ? 'BB' : 'AA'}` }),
      retry({ requestState: 'v1.AAAA.AAAA' }),
    ])
      expect((await stolen).body.error).toMatchObject({
        code: -32_602,
        data: { reason: 'invalid_request_state' },
      })
    expect(counts.charged).toBe(1)
    expect((await retry({})).body.result.structuredContent).toEqual({ place: 'Oslo', guests: 4, paid: 1 })
    expect(counts.charged).toBe(1) // kept by step()
  })

  test('is bound to the user for whom Gatepass calls', async () => {
    const { app } = questionsApp()
    const handler = mcp(app, { brokerSecret: SECRET })
    const token = await brokerToken()
    const book = (user_id: string, more: object = {}) =>
      call(handler, 'tools/call', { ...BOOK, ...more, _meta: { arcade_context: { user_id } } }, bearer(token))
    const { requestState } = (await book('ada')).body.result
    expect((await book('mallory', { ...GUESTS, requestState })).body.error.code).toBe(-32_602)
    expect((await book('ada', { ...GUESTS, requestState })).body.result.inputRequests).toHaveProperty(
      'elicitation-2',
    )
  })

  test('is encrypted by a secret that is not guessed', () => {
    expect(() => mcp(questionsApp().app, { verify, stateSecret: '' })).toThrow(/stateSecret.*32 characters/)
  })

  test('keeps steps of any name', async () => {
    const app = new ToolApp({ name: 'steps' })
    app.tool('steps', {
      input: z.object({}),
      async handler({ step, ui }) {
        const values = [await step('constructor', () => 1), await step('__proto__', () => 2)]
        await ui.elicit('Sure?', z.object({ sure: z.boolean() }), { key: 'toString' })
        return values
      },
    })
    const handler = mcp(app, PUBLIC)
    const steps = (more: object) => call(handler, 'tools/call', { name: 'steps', arguments: {}, ...more })
    const { requestState } = (await steps({})).body.result
    const inputResponses = { toString: { action: 'accept', content: { sure: true } } }
    const { body } = await steps({ inputResponses, requestState })
    expect(body.result.content).toEqual([{ type: 'text', text: '[1,2]' }])
  })

  test('expires, and is understood by every process that has the same secret', async () => {
    const { app } = questionsApp()
    let now = Date.now()
    const [one, two] = [
      'a secret of at least thirty-two characters',
      'a secret of at least thirty-two characters',
    ].map((stateSecret) => createHandler(app, { verify, stateSecret }, { now: () => now }))
    if (one === undefined || two === undefined) throw new Error('two handlers')
    const requestState = await asked(one)
    const retry = () => call(two, 'tools/call', { ...BOOK, ...GUESTS, requestState }, bearer('ada'))
    expect((await retry()).body.result.inputRequests).toHaveProperty('elicitation-2')
    now += 601_000
    expect((await retry()).body.error.code).toBe(-32_602)
  })

  test.each([
    ['does not fit the form', { guests: 99 }, 'asked again'],
    ['is declined', undefined, 'goes on'],
  ])('an answer that %s: %s', async (_, content, outcome) => {
    const handler = mcp(questionsApp().app, { verify })
    const requestState = await asked(handler)
    const response = content === undefined ? { action: 'decline' } : { action: 'accept', content }
    const { body } = await call(
      handler,
      'tools/call',
      { ...BOOK, inputResponses: { 'elicitation-1': response }, requestState },
      bearer('ada'),
    )
    const key = outcome === 'asked again' ? 'elicitation-1' : 'elicitation-2'
    expect(Object.keys(body.result.inputRequests)).toEqual([key])
  })

  test('a handler that asks something else the second time is told so', async () => {
    const app = new ToolApp({ name: 'random' })
    let times = 0
    app.tool('asks', {
      input: z.object({}),
      async handler({ ui }) {
        const { content } = await ui.elicit(`Question ${times++}`, z.object({ ok: z.boolean() }))
        return `${content?.ok}`
      },
    })
    const handler = mcp(app, PUBLIC)
    const first = await call(handler, 'tools/call', { name: 'asks', arguments: {} })
    const { body } = await call(handler, 'tools/call', {
      name: 'asks',
      arguments: {},
      inputResponses: { 'elicitation-1': { action: 'accept', content: { ok: true } } },
      requestState: first.body.result.requestState,
    })
    expect(body.result.inputRequests['elicitation-1'].params.message).toBe('Question 1')
  })
})

describe('sessions of 2025', () => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }
  const post = (handler: Handler, body: object, headers: Record<string, string>) =>
    handler.fetch(
      new Request(URL_, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    )
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }

  async function opened(handler: Handler, user: string) {
    const response = await post(handler, initialize, bearer(user))
    await response.text()
    return { ...bearer(user), 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  }

  test('belong to the caller that opened them, and end when they are deleted or idle', async () => {
    let now = 0
    const sessions = { max: 2, maxPerUser: 2, idleMs: 1000 }
    const verify = (token: string) => ({ sub: token })
    const handler = createHandler(questionsApp().app, { verify }, { now: () => now, sessions })
    const ada = await opened(handler, 'ada')
    expect((await post(handler, list, ada)).status).toBe(200)
    expect((await post(handler, list, { ...ada, ...bearer('mallory') })).status).toBe(404)
    await handler.fetch(new Request(URL_, { method: 'DELETE', headers: ada }))
    expect((await post(handler, list, ada)).status).toBe(404)

    const idle = await opened(handler, 'ada')
    now += 2000
    const fresh = await opened(handler, 'ada')
    expect((await post(handler, list, idle)).status).toBe(404)
    const [second, third] = [await opened(handler, 'ada'), await opened(handler, 'ada')]
    expect((await post(handler, list, fresh)).status).toBe(404) // the oldest gave way to the third
    expect((await post(handler, list, second)).status).toBe(200)
    expect((await post(handler, list, third)).status).toBe(200)
    await handler.close()
  })

  test('of one user do not close those of others', async () => {
    const verify = (token: string) => ({ sub: token })
    const sessions = { max: 4, maxPerUser: 2, idleMs: 1000 }
    const handler = createHandler(questionsApp().app, { verify }, { now: () => 0, sessions })
    const ada = await opened(handler, 'ada')
    const many = [1, 2, 3, 4, 5].map(() => opened(handler, 'mallory'))
    expect((await post(handler, list, ada)).status).toBe(200)
    const statuses = (await Promise.all(many)).map(async (one) => (await post(handler, list, one)).status)
    expect((await Promise.all(statuses)).sort()).toEqual([200, 200, 404, 404, 404])
    expect((await post(handler, list, ada)).status).toBe(200)
    await handler.close()
  })

  test('hold 100 subscriptions, to URIs of at most 2,000 characters', async () => {
    const app = new ToolApp({ name: 'hub', version: '1.0.0' })
    app.resource('hub://{id}', { handler: ({ params }) => params.id ?? '' })
    const handler = mcp(app, { verify: (token) => ({ sub: token }) })
    const ada = await opened(handler, 'ada')
    const subscribe = async (uri: string) =>
      (
        await post(handler, { jsonrpc: '2.0', id: 3, method: 'resources/subscribe', params: { uri } }, ada)
      ).text()
    expect(await subscribe(`hub://${'x'.repeat(2000)}`)).toContain('-32602')
    for (let i = 0; i < 100; i++) expect(await subscribe(`hub://${i}`)).toContain('"result":{}')
    expect(await subscribe('hub://0')).toContain('"result":{}')
    expect(await subscribe('hub://100')).toContain('may subscribe to 100 resources')
    await handler.close()
  })

  test('a client without one is answered too', async () => {
    const response = await post(mcp(questionsApp().app, PUBLIC), list, {
      'mcp-protocol-version': '2025-03-26',
    })
    expect(await response.text()).toContain('"name":"book"')
  })
})

describe('pages', () => {
  const send = (origin: string, options = {}, method = 'POST') =>
    mcp(questionsApp().app, { ...PUBLIC, ...options }).fetch(
      new Request(URL_, { method, headers: { origin } }),
    )

  test.each([
    ['a foreign one', 'https://evil.example.com', {}, 403],
    ['one without an origin', 'null', {}, 403],
    [
      'one that the author names',
      'https://inspector.example.com',
      { allowedOrigins: ['https://inspector.example.com'] },
      406,
    ],
    ['one of the same host', 'https://hub.example.com', {}, 406],
  ])('%s', async (_, origin, options, status) => {
    expect((await send(origin, options)).status).toBe(status)
  })

  test('may ask before they send, and read the answer', async () => {
    const { status, headers } = await send('https://hub.example.com', {}, 'OPTIONS')
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('https://hub.example.com')
    expect(headers.get('access-control-expose-headers')).toContain('Mcp-Session-Id')
  })
})

test.each([
  ['of another host', 'https://evil.example.com', {}, 403],
  [
    'of a host that the author names',
    'https://evil.example.com',
    { allowedHosts: ['evil.example.com'] },
    406,
  ],
  ['where a token is needed', 'https://evil.example.com', { verify: () => undefined }, 401],
  ['of this computer', 'http://localhost:3000', {}, 406],
  ['of this computer by its address', 'http://[::1]:3000', {}, 406],
])('a page %s, whose name leads to a server without callers', async (_, origin, options, status) => {
  const { fetch } = mcp(questionsApp().app, options)
  const request = new Request(`${origin}/mcp`, { method: 'POST', headers: { origin } })
  expect((await fetch(request)).status).toBe(status)
})

test('mounts by its fetch alone', async () => {
  const { fetch } = mcp(questionsApp().app, PUBLIC)
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(URL_), { fetch: (url, init) => fetch(new Request(url, init)) }),
  )
  expect((await client.listTools()).tools).toHaveLength(4)
  await client.close()
})

test('a server on loopback answers to loopback names, also with allowedHosts undefined', async () => {
  const served = await serveMcp(questionsApp().app, { port: 0, allowedHosts: undefined })
  const statusFor = (host: string) =>
    new Promise((resolve) =>
      request(served.url ?? '', { method: 'OPTIONS', headers: { host } }, (response) =>
        resolve(response.resume().statusCode),
      ).end(),
    )
  try {
    expect([await statusFor('localhost'), await statusFor('evil.example.com')]).toEqual([204, 403])
  } finally {
    await served.close()
  }
})
