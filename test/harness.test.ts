import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SignJWT } from 'jose'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { newPerson, openBrowser } from './browser.ts'
import { digest } from './digest.ts'
import {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from './fake-authorization-server.ts'
import { TOKEN_FORMATS, type TokenFormat } from './fake-token-answers.ts'
import { type FakeWorkerOptions, startFakeWorker } from './fake-worker.ts'
import { answer, listen } from './loopback.ts'
import { type OidcProviderOptions, startOidcProvider } from './oidc-provider.ts'
import { UserAgent } from './user-agent.ts'

const REDIRECT_URI = 'http://127.0.0.1:9/callback'
const VERIFIER = randomBytes(32).toString('base64url')
const S256 = createHash('sha256').update(VERIFIER).digest('base64url')

function closing<T extends { close(): Promise<void> }>(server: T): T {
  onTestFinished(() => server.close())
  return server
}

async function authorizationServer(options: FakeAuthorizationServerOptions = {}) {
  return closing(await startFakeAuthorizationServer(options))
}

async function authorize(
  server: { authorizationUrl: string; clientId: string },
  extra: Record<string, string> = {},
) {
  const url = new URL(server.authorizationUrl)
  const params = { client_id: server.clientId, redirect_uri: REDIRECT_URI, response_type: 'code', state: 's' }
  url.search = new URLSearchParams({ ...params, scope: 'a b c', ...extra }).toString()
  const page = await new UserAgent().follow(url, { until: ({ href }) => href.startsWith(REDIRECT_URI) })
  const location = page.response.headers.get('location')
  return { page, query: location ? new URL(location).searchParams : new URLSearchParams() }
}

interface TokenRequest {
  readonly auth?: 'basic' | 'post' | 'both' | 'none' | 'wrong'
  readonly signal?: AbortSignal
}

function tokenRequest(
  {
    tokenUrl,
    clientId,
    clientSecret = '',
  }: { tokenUrl: string; clientId: string; clientSecret?: string | undefined },
  params: Record<string, string>,
  { auth = 'basic', signal }: TokenRequest = {},
) {
  const secret = auth === 'wrong' ? 'wrong' : clientSecret
  const pair = [clientId, secret]
    .map((text) => new URLSearchParams({ t: text }).toString().slice(2))
    .join(':')
  const inHeader = auth === 'basic' || auth === 'both' || auth === 'wrong'
  const inBody = auth === 'post' || auth === 'both'
  return fetch(tokenUrl, {
    method: 'POST',
    redirect: 'manual',
    headers: { ...(inHeader && { authorization: `Basic ${btoa(pair)}` }), connection: 'close' },
    body: new URLSearchParams({ ...params, client_id: clientId, ...(inBody && { client_secret: secret }) }),
    ...(signal && { signal }),
  })
}

async function exchange(server: FakeAuthorizationServer, options: TokenRequest = {}) {
  const { query } = await authorize(server)
  const code = query.get('code') ?? ''
  return tokenRequest(server, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }, options)
}

interface Tokens {
  access_token: string
  refresh_token: string
  scope: string
}

async function tokensOf(response: Response | Promise<Response>): Promise<Tokens> {
  return (await response).json() as Promise<Tokens>
}

function refresh(
  server: Parameters<typeof tokenRequest>[0],
  refresh_token: string,
  options: TokenRequest = {},
) {
  return tokenRequest(server, { grant_type: 'refresh_token', refresh_token }, options)
}

describe('fake authorization server', () => {
  test('approves, exchanges, refreshes, answers the account and revokes', async () => {
    const server = await authorizationServer()
    const first = await tokensOf(exchange(server))
    expect(first).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'a b c' })
    const second = await tokensOf(refresh(server, first.refresh_token))
    expect(second.refresh_token).toBe(first.refresh_token)

    const me = (token: string) =>
      fetch(`${server.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
    expect(await (await me(second.access_token)).json()).toMatchObject({ sub: 'u-1', login: 'ada' })
    const introspected = await fetch(server.introspectionUrl, {
      method: 'POST',
      headers: { authorization: `Bearer ${second.access_token}` },
      body: new URLSearchParams({ token: second.access_token }),
    })
    expect(await introspected.json()).toMatchObject({ active: true, scope: 'a b c', sub: 'u-1' })
    const revoked = await tokenRequest(
      { ...server, tokenUrl: server.revocationUrl },
      { token: first.refresh_token },
    )
    expect(revoked.status).toBe(200)
    expect(server.isLive(second.access_token)).toBe(false)
    expect((await me(second.access_token)).status).toBe(401)
    expect(server.tokenRequests('refresh_token')).toHaveLength(1)
    expect(server.requestsTo('/token')[0]?.form).toMatchObject({ grant_type: 'authorization_code' })
    expect(server.secrets()).toEqual(expect.arrayContaining([first.access_token, second.access_token]))
    expect(server.familyRevoked).toBe(false)
  })

  test('a code is good once, and its second use ends the grant', async () => {
    const server = await authorizationServer()
    const { query } = await authorize(server)
    const params = {
      grant_type: 'authorization_code',
      code: query.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
    }
    const { access_token } = await tokensOf(tokenRequest(server, params))
    expect(await (await tokenRequest(server, params)).json()).toMatchObject({ error: 'invalid_grant' })
    expect(server.isLive(access_token)).toBe(false)
    expect(server.familyRevoked).toBe(true)
  })

  test.each([
    ['S256', { code_challenge: S256, code_challenge_method: 'S256' }, VERIFIER, 200],
    ['S256', { code_challenge: S256, code_challenge_method: 'S256' }, `${VERIFIER}x`, 400],
    ['S256', { code_challenge: S256, code_challenge_method: 'S256' }, '', 400],
    ['S256', { code_challenge: VERIFIER, code_challenge_method: 'plain' }, '', 'invalid_request'],
    ['S256', {}, '', 'invalid_request'],
    ['plain', { code_challenge: VERIFIER }, VERIFIER, 200],
    ['plain', { code_challenge: S256, code_challenge_method: 'S256' }, '', 'invalid_request'],
    ['none', { code_challenge: S256, code_challenge_method: 'S256' }, 'x'.repeat(43), 400],
    ['none', {}, VERIFIER, 400],
    ['ignore', { code_challenge: S256, code_challenge_method: 'S256' }, 'x', 200],
  ] as const)('PKCE %s (row %$)', async (requirePkce, challenge, code_verifier, expected) => {
    const server = await authorizationServer({ requirePkce })
    const { query } = await authorize(server, challenge)
    if (typeof expected === 'string') {
      expect(query.get('error')).toBe(expected)
      return
    }
    const code = query.get('code') ?? ''
    const params = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }
    const response = await tokenRequest(server, { ...params, ...(code_verifier && { code_verifier }) })
    expect(response.status).toBe(expected)
  })

  test.each([
    ['either', { basic: 200, post: 200, both: 200, none: 401, wrong: 401 }],
    ['basic-only', { basic: 200, post: 401, both: 401, none: 401, wrong: 401 }],
    ['post-only', { basic: 401, post: 200, both: 401, none: 401, wrong: 401 }],
    ['refuse-both', { basic: 200, post: 200, both: 401, none: 401, wrong: 401 }],
    ['public', { basic: 401, post: 401, both: 401, none: 200, wrong: 401 }],
    ['refuse', { basic: 401, post: 401, both: 401, none: 401, wrong: 401 }],
  ] as const)('client authentication %s', async (clientAuth, statuses) => {
    const server = await authorizationServer({ clientAuth, clientSecret: 's+% &/:ü' })
    for (const [auth, status] of Object.entries(statuses)) {
      const response = await exchange(server, { auth: auth as keyof typeof statuses }) // the keys of this table
      expect([auth, response.status]).toEqual([auth, status])
      const body = await response.json()
      if (status === 401) expect(body).toMatchObject({ error: 'invalid_client' })
    }
  })

  const endless: TokenFormat[] = ['slow-drip', 'never']
  test.each(TOKEN_FORMATS.filter((format) => !endless.includes(format)))(
    'token format %s',
    async (tokenFormat) => {
      const server = await authorizationServer({ tokenFormat })
      const response = await exchange(server)
      const text = await response.text().catch(() => 'connection lost')
      const [token, refreshToken] = server.secrets().filter((secret) => /^[ar]t_/.test(secret))
      const rest = { refresh_token: refreshToken }
      const expected: Partial<Record<TokenFormat, unknown>> = {
        json: { access_token: token, token_type: 'Bearer', expires_in: 3600, ...rest, scope: 'a b c' },
        'array-scope': { scope: ['a', 'b', 'c'] },
        'comma-scope': { scope: 'a,b,c' },
        'string-expiry': { expires_in: '3600' },
        'zero-expiry': { expires_in: 0 },
        'expires-at': { expires_at: expect.any(Number) },
        'odd-token-type': { token_type: 'bot' },
        nested: { ok: true, authed_user: { access_token: token } },
        'no-scope': { access_token: token },
        'no-expiry': { access_token: token },
        'missing-token-type': { access_token: token },
        'gzip-bomb': { access_token: token },
        huge: { access_token: token },
      }
      if (expected[tokenFormat]) expect(JSON.parse(text)).toMatchObject(expected[tokenFormat] as object)
      else if (tokenFormat === 'form') expect(new URLSearchParams(text).get('access_token')).toBe(token)
      else if (tokenFormat === 'redirect')
        expect([response.status, response.headers.get('location')]).toEqual([307, '/elsewhere'])
      else expect(() => JSON.parse(text)).toThrow()
    },
  )

  test.each(endless)('token format %s does not end', async (tokenFormat) => {
    const server = await authorizationServer({ tokenFormat })
    const response = exchange(server, { signal: AbortSignal.timeout(150) }).then((it) => it.text())
    await expect(response).rejects.toThrow(/abort|timeout/i)
  })

  test('members and whole answers can be laid over', async () => {
    const server = await authorizationServer({ tokenMembers: { expires_in: -1, access_token: 'a\r\nb' } })
    expect(await (await exchange(server)).json()).toMatchObject({ expires_in: -1, access_token: 'a\r\nb' })
    server.behaviour.rawTokenAnswer = { status: 201, type: 'text/xml', body: '<oauth/>' }
    const response = await exchange(server)
    expect([response.status, await response.text()]).toEqual([201, '<oauth/>'])
  })

  test('errors may come as 200, and as a form', async () => {
    const server = await authorizationServer({ errorsWith200: true, exchange: 'refuse' })
    const response = await exchange(server)
    expect([response.status, await response.json()]).toMatchObject([200, { error: 'invalid_grant' }])
    server.behaviour.tokenFormat = 'form'
    expect(await (await exchange(server)).text()).toContain('error=invalid_grant')
  })

  test.each([
    ['deny', 'access_denied'],
    ['server_error', 'server_error'],
    ['temporarily_unavailable', 'temporarily_unavailable'],
    ['invalid_scope', 'invalid_scope'],
    ['unauthorized_client', 'unauthorized_client'],
  ] as const)('consent %s answers %s', async (consent, error) => {
    const { query } = await authorize(await authorizationServer({ consent }))
    expect(Object.fromEntries(query)).toMatchObject({ error, state: 's' })
  })

  test('authorization responses can be spoilt', async () => {
    const server = await authorizationServer({ callbackExtras: { realmId: '42' }, issParameter: true })
    const query = async (change: Partial<typeof server.behaviour>) => {
      Object.assign(server.behaviour, change)
      return (await authorize(server)).query
    }
    const good = await query({})
    expect([good.get('iss'), good.get('realmId'), good.get('state')]).toEqual([server.url, '42', 's'])
    expect((await query({ issParameter: 'https://evil.test' })).get('iss')).toBe('https://evil.test')
    expect((await query({ issParameter: ['https://a.test', 'https://b.test'] })).getAll('iss')).toHaveLength(
      2,
    )
    expect((await query({ consent: 'wrong-state' })).get('state')).not.toBe('s')
    expect((await query({ consent: 'no-state' })).has('state')).toBe(false)
    expect((await query({ consent: 'no-code' })).has('code')).toBe(false)
    expect((await query({ consent: 'repeated-code' })).getAll('code')).toHaveLength(2)
    const both = await query({ consent: 'code-and-error' })
    expect([both.has('code'), both.has('error')]).toEqual([true, true])
    expect((await query({ consent: 'dead-end' })).size).toBe(0)
  })

  test('consent page: approve and deny', async () => {
    const server = await authorizationServer({ consent: 'page' })
    const { page } = await authorize(server)
    const until = ({ href }: URL) => href.startsWith(REDIRECT_URI)
    const agent = new UserAgent()
    const approved = await agent.submitForm(page, {}, { button: 'approve', until })
    expect(approved.hops[0]?.location).toMatch(/code=code_/)
    const denied = await agent.submitForm(page, {}, { button: 'Deny', until })
    expect(denied.hops[0]?.location).toContain('error=access_denied')
  })

  test('partial consent, other accounts and other redirect URIs', async () => {
    const server = await authorizationServer({ consent: 'partial', redirectUris: [REDIRECT_URI] })
    const ada = await tokensOf(exchange(server))
    expect(ada.scope).toBe('a b')
    server.account = { sub: 'u-2', name: 'Bob', email: 'bob@example.test', login: 'bob' }
    const bob = await tokensOf(exchange(server))
    expect([ada, bob].map(({ access_token }) => server.accountOf(access_token)?.sub)).toEqual(['u-1', 'u-2'])
    expect((await authorize(server, { redirect_uri: 'http://evil.test/' })).page.status).toBe(400)
  })

  test.each([
    ['static', { again: 200, live: true, revoked: false, same: true }],
    ['rotate', { again: 400, live: true, revoked: false, same: false }],
    ['rotate-strict', { again: 400, live: false, revoked: true, same: false }],
    ['rotate-grace', { again: 200, live: true, revoked: false, same: false }],
  ] as const)('refresh %s', async (mode, { again, live, revoked, same }) => {
    const server = await authorizationServer({ refresh: mode })
    const first = await tokensOf(exchange(server))
    const second = await tokensOf(refresh(server, first.refresh_token))
    expect(second.refresh_token === first.refresh_token).toBe(same)
    expect((await refresh(server, first.refresh_token)).status).toBe(again)
    expect(server.isLive(second.access_token)).toBe(live)
    expect(server.familyRevoked).toBe(revoked)
    expect((await refresh(server, second.refresh_token)).status).toBe(revoked ? 400 : 200)
  })

  test.each([
    ['refuse', 400, 'invalid_grant'],
    ['refuse-403', 403, 'invalid_grant'],
    ['invalid_client', 401, 'invalid_client'],
    ['invalid_request', 400, 'retry'],
    ['503', 503, 'unavailable'],
    ['429', 429, 'rate_limited'],
    ['html-500', 500, '<h1>'],
  ] as const)('refresh fault %s', async (mode, status, text) => {
    const server = await authorizationServer({ refresh: mode })
    const { refresh_token, access_token } = await tokensOf(exchange(server))
    const response = await refresh(server, refresh_token)
    expect(response.status).toBe(status)
    if (mode === '429') expect(response.headers.get('retry-after')).toBe('7')
    expect(await response.text()).toContain(text)
    expect(server.isLive(access_token)).toBe(true)
  })

  test('refresh may hang, or be carried out and never answered', async () => {
    const server = await authorizationServer({ refresh: 'hang' })
    const { refresh_token } = await tokensOf(exchange(server))
    const leaving = new AbortController()
    const ended = expect(refresh(server, refresh_token, { signal: leaving.signal })).rejects.toThrow()
    await expect.poll(() => server.tokenRequests('refresh_token')).toHaveLength(1)
    leaving.abort()
    await ended
    server.behaviour.refresh = 'drop'
    await expect(refresh(server, refresh_token)).rejects.toThrow()
    server.behaviour.refresh = 'rotate'
    expect((await refresh(server, refresh_token)).status).toBe(400)
    expect(server.refreshReuses).toEqual([refresh_token])
  })

  test('simultaneous refreshes of one token meet the rotation', async () => {
    const server = await authorizationServer({ refresh: 'rotate-strict', refreshDelayMs: 40 })
    const { refresh_token } = await tokensOf(exchange(server))
    const startedAt = performance.now()
    const both = await Promise.all([refresh(server, refresh_token), refresh(server, refresh_token)])
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(39)
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(server.familyRevoked).toBe(true)
  })

  test('refresh tokens may be absent, and old access tokens may die', async () => {
    let now = 0
    const server = await authorizationServer({ accessTokenLifetime: 60, now: () => now })
    server.behaviour.omitRefreshTokenOnRefresh = true
    server.behaviour.refreshKillsAccessTokens = true
    server.behaviour.scopesOnRefresh = ['a']
    const first = await tokensOf(exchange(server))
    const second = await tokensOf(refresh(server, first.refresh_token))
    expect([second.refresh_token, second.scope]).toEqual([undefined, 'a'])
    expect([first, second].map(({ access_token }) => server.isLive(access_token))).toEqual([false, true])
    now = 60_000
    expect(server.isLive(second.access_token)).toBe(false)
    server.behaviour.omitRefreshToken = true
    expect((await tokensOf(exchange(server))).refresh_token).toBeUndefined()
  })

  test('closes with requests still open', async () => {
    const server = await startFakeAuthorizationServer({ exchange: 'hang' })
    const open = exchange(server)
    await expect.poll(() => server.tokenRequests()).toHaveLength(1)
    await Promise.all([server.close(), expect(open).rejects.toThrow()])
    await expect(fetch(server.url)).rejects.toThrow()
  })
})

describe('fake worker', () => {
  const secret = 'worker-secret-worker-secret-1234'

  async function worker(options: Partial<FakeWorkerOptions> = {}) {
    return closing(await startFakeWorker({ secret, ...options }))
  }

  async function jwt(claims: Record<string, unknown> = { ver: '1', aud: 'worker' }, key = secret) {
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(key))
    return { authorization: `Bearer ${token}` }
  }

  async function invoke(
    url: string,
    name: string,
    inputs: Record<string, unknown> = {},
    token = 'at_secret',
  ) {
    const context = {
      user_id: 'u',
      authorization: { token, user_info: { sub: '9' } },
      secrets: [{ key: 'API_KEY', value: 'k' }],
    }
    const body = { execution_id: 'tc_1', tool: { name, toolkit: 'Demo', version: '1.0.0' }, inputs, context }
    const headers = { ...(await jwt()), 'content-type': 'application/json' }
    return fetch(`${url}/worker/tools/invoke`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  async function output(url: string, name: string, inputs: Record<string, unknown> = {}) {
    return ((await (await invoke(url, name, inputs)).json()) as { output: Record<string, unknown> }).output
  }

  test('catalogue and health', async () => {
    const { url, tools } = await worker({ requirement: { id: 'hub', scopes: ['x'] } })
    expect(await (await fetch(`${url}/worker/health`)).json()).toEqual({
      status: 'ok',
      tool_count: String(tools.length),
    })
    const response = await fetch(`${url}/worker/tools`, { headers: await jwt() })
    const catalogue = (await response.json()) as Record<string, unknown>[]
    expect(catalogue[0]).toMatchObject({
      fully_qualified_name: 'Demo.WhoAmI',
      requirements: { authorization: { id: 'hub', provider_id: null, oauth2: { scopes: ['x'] } } },
    })
  })

  test.each([
    ['no claims', {}, secret],
    ['another audience', { ver: '1', aud: 'x' }, secret],
    ['a numeric version', { ver: 1, aud: 'worker' }, secret],
    ['another secret', { ver: '1', aud: 'worker' }, 'another-secret-another-secret-12'],
    ['an expiry gone by', { ver: '1', aud: 'worker', exp: 1 }, secret],
  ])('refuses a JWT with %s', async (_, claims, key) => {
    const { url } = await worker()
    expect((await fetch(`${url}/worker/tools`, { headers: await jwt(claims, key) })).status).toBe(401)
  })

  test('tools answer as they are named', async () => {
    const { url, invocations } = await worker()
    expect(await output(url, 'Echo', { text: 'hi' })).toMatchObject({
      value: {
        inputs: { text: 'hi' },
        context: { user_id: 'u', authorization: { token_digest: digest('at_secret') } },
      },
    })
    expect(JSON.stringify(await output(url, 'Echo'))).not.toContain('at_secret')
    expect(await output(url, 'Fail', { kind: 'TOOL_RUNTIME_RETRY', can_retry: true })).toMatchObject({
      error: { kind: 'TOOL_RUNTIME_RETRY', can_retry: true },
    })
    expect(await output(url, 'Slow', { ms: 1 })).toEqual({ value: 'at last' })
    expect(String((await output(url, 'Huge', { bytes: 1000 })).value)).toHaveLength(1000)
    expect(await output(url, 'NeedsSecret')).toEqual({ value: { API_KEY: digest('k') } })
    expect(await output(url, 'Null')).toEqual({ value: null })
    expect(await output(url, 'Array')).toEqual({ value: [1, 'two', { three: 3 }] })
    expect(await output(url, 'Artifact')).toMatchObject({ artifact: { size: 1234 } })
    expect(await output(url, 'Phish')).toHaveProperty('requires_authorization')
    expect((await invoke(url, 'Crash')).status).toBe(500)
    await expect((await invoke(url, 'BadJson')).json()).rejects.toThrow()
    expect((await invoke(url, 'Nobody')).status).toBe(404)
    for (const where of ['value', 'nested', 'key', 'error', 'logs', 'body'])
      expect(await (await invoke(url, 'Leak', { in: where })).text()).toContain('at_secret')
    expect(invocations[0]).toMatchObject({ call: { execution_id: 'tc_1' }, claims: { aud: 'worker' } })
  })

  test('WhoAmI asks the API with its token', async () => {
    const server = await authorizationServer()
    const { access_token } = await tokensOf(exchange(server))
    const { url } = await worker({ apiUrl: `${server.url}/api/me` })
    const value = async (token: string) => (await (await invoke(url, 'WhoAmI', {}, token)).json()) as object
    expect(await value(access_token)).toMatchObject({
      success: true,
      output: { value: { account: { sub: 'u-1' } } },
    })
    expect(await value('stale')).toMatchObject({ success: false, output: { error: { status_code: 401 } } })
  })

  test('misbehaves on demand', async () => {
    const { url, behaviour } = await worker({ health: '500', catalogue: 'html' })
    expect((await fetch(`${url}/worker/health`)).status).toBe(500)
    expect((await fetch(`${url}/worker/tools`, { headers: await jwt() })).headers.get('content-type')).toBe(
      'text/html',
    )
    behaviour.invoke = '503'
    expect((await invoke(url, 'Echo')).status).toBe(503)
    behaviour.invoke = 'drop'
    await expect(invoke(url, 'Echo')).rejects.toThrow()
    behaviour.rejectJwt = true
    expect((await invoke(url, 'Echo')).status).toBe(401)
  })
})

describe('oidc-provider', () => {
  const PKCE = { code_challenge: S256, code_challenge_method: 'S256' }

  async function oidcProvider(options: Partial<OidcProviderOptions> = {}) {
    const server = closing(await startOidcProvider({ redirectUris: () => [REDIRECT_URI], ...options }))
    onTestFinished(() => expect(server.failures).toEqual([]))
    return server
  }

  test('gives, rotates and revokes tokens, and says nothing on the console', async () => {
    const said = (['info', 'warn', 'error', 'log'] as const).map((level) => vi.spyOn(console, level))
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    const server = await oidcProvider({
      scopes: ['hub:read'],
      refusedScopes: ['email'],
      accessTokenLifetime: 30,
    })
    const { query } = await authorize(server, { scope: 'openid profile email hub:read', ...PKCE })
    expect(query.get('iss')).toBe(server.issuer)
    const params = {
      grant_type: 'authorization_code',
      code: query.get('code') ?? '',
      redirect_uri: REDIRECT_URI,
    }
    const first = await tokensOf(tokenRequest(server, { ...params, code_verifier: VERIFIER }))
    expect(first).toMatchObject({ scope: 'openid profile hub:read', expires_in: 30 })
    const second = await tokensOf(refresh(server, first.refresh_token))
    expect(second.refresh_token).not.toBe(first.refresh_token)
    const userInfo = await fetch(server.userInfoUrl, {
      headers: { authorization: `Bearer ${second.access_token}` },
    })
    expect(await userInfo.json()).toEqual({ sub: 'oidc-1', name: 'Grace Hopper' })
    await tokenRequest({ ...server, tokenUrl: server.revocationUrl }, { token: second.refresh_token })
    expect(await server.isRefreshTokenLive(second.refresh_token)).toBe(false)
    expect(server.tokenRequests).toHaveLength(2)
    for (const spy of said) expect(spy).not.toHaveBeenCalled()
  })

  test('a used refresh token ends the family', async () => {
    const server = await oidcProvider({ clientAuth: 'none' })
    const { query } = await authorize(server, { scope: 'openid', ...PKCE })
    const code = query.get('code') ?? ''
    const params = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }
    const options = { auth: 'none' } as const
    const first = await tokensOf(tokenRequest(server, { ...params, code_verifier: VERIFIER }, options))
    const second = await tokensOf(refresh(server, first.refresh_token, options))
    expect((await refresh(server, first.refresh_token, options)).status).toBe(400)
    expect(await server.isLive(second.access_token)).toBe(false)
  })

  test('forms can be continued and cancelled, and another account logs in anew', async () => {
    const server = await oidcProvider({ interaction: 'form' })
    const until = ({ href }: URL) => href.startsWith(REDIRECT_URI)
    const agent = new UserAgent()
    const { clientId: client_id } = server
    const ask = { client_id, redirect_uri: REDIRECT_URI, response_type: 'code', scope: 'openid' }
    const start = () => agent.follow(`${server.authorizationUrl}?${new URLSearchParams(ask)}`, { until })
    const login = await start()
    expect(login.body).toContain('Log in as Grace Hopper')
    const consent = await agent.submitForm(login, {}, { until })
    expect(consent.body).toContain('Allow openid')
    expect((await agent.submitForm(consent, {}, { until })).hops.at(-1)?.location).toContain('code=')
    expect((await start()).hops.at(-1)?.location).toContain('code=')
    server.settings.account = { sub: 'oidc-2', name: 'Alan', email: 'alan@example.test' }
    const again = await start()
    expect(again.body).toContain('Log in as Alan')
    const cancelled = await agent.submitForm(again, {}, { until, button: 'cancel' })
    expect(cancelled.hops.at(-1)?.location).toContain('error=access_denied')
  })
})

describe('user agent', () => {
  test('keeps cookies by host and port, path and age, and refuses Secure ones over http', async () => {
    const seen: Record<string, string | undefined>[] = []
    const lines = [
      'a=1; Path=/; HttpOnly; SameSite=Lax',
      'strict=1; Path=/; SameSite=Strict',
      'deep=1; Path=/deep',
      'gone=1; Max-Age=0',
      'safe=1; Secure',
      '__Host-x=1; Path=/',
    ]
    const server = closing(
      await listen((req, res) => {
        const { cookie, origin, 'sec-fetch-site': site } = req.headers
        seen.push({ url: req.url, cookie, origin, site: String(site) })
        res.setHeader('set-cookie', req.url === '/set' ? lines : [])
        answer(res, 200, 'text/html', '')
      }),
    )
    const other = closing(
      await listen((_, res) => res.writeHead(303, { location: `${server.url}/back` }).end()),
    )
    const agent = new UserAgent()
    await agent.get(`${server.url}/set`)
    expect(agent.cookies(`${server.url}/deep/er`)).toEqual({ a: '1', strict: '1', deep: '1' })
    expect(agent.cookies(`${server.url}/deeper`)).toEqual({ a: '1', strict: '1' })
    expect(agent.cookies(other.url)).toEqual({})
    const page = await agent.follow(other.url, { from: `${server.url}/` })
    expect(page.hops).toEqual([{ url: `${other.url}/`, status: 303, location: `${server.url}/back` }])
    await agent.get(`${server.url}/evil`, { from: 'http://evil.test/' })
    await agent.post(`${server.url}/evil`, {}, { from: 'http://evil.test/' })
    expect(seen.slice(1)).toEqual([
      { url: '/back', cookie: 'a=1; strict=1', origin: undefined, site: 'same-site' },
      { url: '/evil', cookie: 'a=1', origin: undefined, site: 'cross-site' },
      { url: '/evil', cookie: undefined, origin: 'http://evil.test', site: 'cross-site' },
    ])
  })
})

test('a form on a no-referrer page says Origin: null, as Chromium does', async () => {
  const origins: (string | undefined)[] = []
  const server = closing(
    await listen((req, res) => {
      if (req.method === 'POST') origins.push(req.headers.origin)
      const policy = req.url === '/bare' ? 'no-referrer' : 'same-origin'
      answer(res, 200, 'text/html', '<form method=post><button>Go</button></form>', {
        'referrer-policy': policy,
      })
    }),
  )
  const agent = new UserAgent()
  await agent.submitForm(await agent.get(`${server.url}/bare`))
  await agent.submitForm(await agent.get(`${server.url}/`))
  expect(origins).toEqual(['null', server.url])
})

describe('browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser.close())

  test('goes through login and consent at oidc-provider, and draws the page', async () => {
    const app = closing(
      await listen((req, res) => answer(res, 200, 'text/html', `<h1>Back at ${req.url}</h1>`)),
    )
    const redirect_uri = `${app.url}/callback`
    const server = closing(
      await startOidcProvider({ redirectUris: () => [redirect_uri], interaction: 'form' }),
    )
    await using person = await newPerson(browser, { width: 400 })
    const { page } = person
    const { clientId: client_id } = server
    const ask = { client_id, redirect_uri, response_type: 'code', scope: 'openid' }
    await page.goto(`${server.authorizationUrl}?${new URLSearchParams(ask)}`)
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.textContent('h1')).toBe('Allow openid?')
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await page.textContent('h1')).toMatch(/^Back at \/callback\?code=/)
    expect((await page.screenshot()).length).toBeGreaterThan(1000)
    expect(await page.evaluate(() => window.innerWidth)).toBe(400)
  })
})

test('a test that fails fails the run, PostgreSQL or not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-failing-'))
  try {
    const setup = fileURLToPath(new URL('postgres-setup.ts', import.meta.url))
    const config = { test: { include: ['*.test.ts'], globals: true, globalSetup: [setup] } }
    await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`)
    await writeFile(join(folder, 'wrong.test.ts'), "test('is wrong', () => expect(1).toBe(2))")
    const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
    const run = spawn(process.execPath, [vitest, 'run', '--root', folder], { stdio: 'ignore' })
    const [code] = await once(run, 'exit')
    expect(code).toBe(1)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
