import { describe, expect, test } from 'vitest'
import { sampleMetadata } from '../../src/dev-provider/sample-metadata.ts'
import { readToolMetadata } from '../../src/tools/metadata/read-metadata.ts'
import { authorizeUrl, CLIENT, PUBLIC_URL, REDIRECT_URI, sandbox, tokensOf } from './fixtures.ts'

describe('authorization endpoint', () => {
  test('shows who approves what, and never in a frame', async () => {
    const { state } = sandbox()
    const response = await state.app.request(authorizeUrl({ scope: 'profile:read profile:write' }))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(response.headers.get('content-security-policy')).not.toContain('form-action')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const page = await response.text()
    for (const shown of ['Ada Lovelace', 'grace@sandbox.example', 'value="profile:write" checked'])
      expect(page).toContain(shown)
  })

  test('sends code, state and issuer back', async () => {
    const { status, to, query } = await sandbox().decide()
    expect([status, to.origin + to.pathname]).toEqual([303, REDIRECT_URI])
    expect(query).toEqual({
      code: expect.any(String),
      state: 's1',
      iss: 'http://localhost:8400/sandbox',
    })
  })

  test.each([
    ['an unknown client', { client_id: 'x' }],
    ['no client', { client_id: undefined }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['another origin', { redirect_uri: 'https://evil.example/callback/prov_1' }],
    ['another path', { redirect_uri: 'http://localhost:8400/elsewhere' }],
    ['a path that climbs', { redirect_uri: 'http://localhost:8400/callback/../elsewhere' }],
    ['a user name', { redirect_uri: 'http://localhost:8400@evil.example/callback/' }],
  ])('goes nowhere for %s', async (_, changes) => {
    const { state, post } = sandbox()
    for (const response of [
      await state.app.request(authorizeUrl(changes)),
      await post(authorizeUrl(changes), { decision: 'allow' }),
    ]) {
      expect(response.status).toBe(400)
      expect(response.headers.get('location')).toBeNull()
      expect(response.headers.get('content-type')).toContain('text/html')
    }
  })

  test.each([
    ['no response type', { response_type: undefined }, 'invalid_request'],
    ['the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no challenge method', { code_challenge_method: undefined }, 'invalid_request'],
    ['an unknown scope', { scope: 'profile:read everything' }, 'invalid_scope'],
  ])('tells the client of %s', async (_, changes, error) => {
    const { state } = sandbox()
    const response = await state.app.request(authorizeUrl(changes))
    expect(response.status).toBe(303)
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    expect([searchParams.get('error'), searchParams.get('state')]).toEqual([error, 's1'])
  })

  test('tells the client of a parameter that is there twice', async () => {
    const { state } = sandbox()
    const response = await state.app.request(`${authorizeUrl()}&scope=profile:write`)
    expect(response.headers.get('location')).toContain('error=invalid_request')
  })

  test('tells the client that the user said no', async () => {
    const { query } = await sandbox().decide({ decision: 'deny' })
    expect(query).toMatchObject({ error: 'access_denied', state: 's1' })
    expect(query).not.toHaveProperty('code')
  })

  test('asks again for a decision that is none', async () => {
    const { decide } = sandbox()
    expect(await decide({})).toMatchObject({ status: 400 })
    expect(await decide({ decision: 'allow', account: 'nobody' })).toMatchObject({ status: 400 })
  })

  test('grants the ticked scopes to the chosen account', async () => {
    const { decide, redeem, api } = sandbox()
    const scope = 'profile:read profile:write'
    const body = 'scopes_shown=yes&decision=allow&account=grace&scope=profile:write&scope=admin'
    const tokens = await tokensOf(await redeem((await decide(body, { scope })).query.code))
    expect(tokens.scope).toBe('profile:write')
    expect(await (await api('/userinfo', tokens.access_token)).json()).toEqual({
      sub: 'grace',
      name: 'Grace Hopper',
      email: 'grace@sandbox.example',
    })
    const refused = await api('/api/profile', tokens.access_token)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope')
  })

  test('takes no ticked scope for a no', async () => {
    const { query } = await sandbox().decide({ decision: 'allow', scopes_shown: 'yes' })
    expect(query.error).toBe('access_denied')
  })
})

describe('token endpoint', () => {
  test('redeems a code for tokens that the API takes', async () => {
    const { decide, redeem, api } = sandbox()
    const response = await redeem((await decide()).query.code)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const tokens = await tokensOf(response)
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 120, scope: 'profile:read' })
    expect(await (await api('/api/profile', tokens.access_token)).json()).toEqual({
      name: 'Ada Lovelace',
      email: 'ada@sandbox.example',
      greeting: 'Hello Ada Lovelace',
    })
  })

  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 400, 'invalid_grant'],
    ['no verifier', { code_verifier: undefined }, 400, 'invalid_grant'],
    ['another redirect URI', { redirect_uri: `${REDIRECT_URI}2` }, 400, 'invalid_grant'],
    ['no redirect URI', { redirect_uri: undefined }, 400, 'invalid_grant'],
    ['a made-up code', { code: 'made.up.code' }, 400, 'invalid_grant'],
    ['no code', { code: undefined }, 400, 'invalid_request'],
    ['another secret', { client_secret: 'x' }, 401, 'invalid_client'],
    ['no secret', { client_secret: undefined }, 401, 'invalid_client'],
    ['another grant', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
    ['no grant type', { grant_type: undefined }, 400, 'invalid_request'],
  ])('refuses %s', async (_, changes, status, error) => {
    const { decide, redeem } = sandbox()
    const { query } = await decide()
    const response = await redeem(query.code, changes)
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ error })])
    expect((await redeem(query.code)).status).toBe(200) // the code is still valid
  })

  test('takes the client by Basic, but not in both places', async () => {
    const { approved, post } = sandbox()
    const { refresh_token } = await approved()
    const body = { grant_type: 'refresh_token', refresh_token }
    const basic = (secret: string) => ({
      authorization: `Basic ${Buffer.from(`${CLIENT.client_id}:${secret}`).toString('base64')}`,
    })
    const refused = await post('/token', body, basic('wrong'))
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('Basic')
    expect((await post('/token', { ...body, ...CLIENT }, basic(CLIENT.client_secret))).status).toBe(400)
    expect((await post('/token', body, basic(CLIENT.client_secret))).status).toBe(200)
  })

  test('takes a code once; the second time its tokens end', async () => {
    const { decide, redeem, refresh, api } = sandbox()
    const { code } = (await decide()).query
    const tokens = await tokensOf(await redeem(code))
    expect(await (await redeem(code)).json()).toMatchObject({ error: 'invalid_grant' })
    expect((await api('/api/profile', tokens.access_token)).status).toBe(401)
    expect((await refresh(tokens.refresh_token)).status).toBe(400)
  })

  test('gives one of two simultaneous redemptions the tokens', async () => {
    const { decide, redeem } = sandbox()
    const { code } = (await decide()).query
    const both = await Promise.all([redeem(code), redeem(code)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
  })

  test('knows a code for a minute', async () => {
    const { clock, decide, redeem } = sandbox()
    const { code } = (await decide()).query
    clock.now += 60
    expect((await redeem(code)).status).toBe(400)
  })

  test('rotates refresh tokens, and ends the grant when an old one comes back', async () => {
    const { clock, approved, refresh, api } = sandbox()
    const first = await approved()
    clock.now += 120
    const expired = await api('/api/profile', first.access_token)
    expect(expired.status).toBe(401)
    expect(expired.headers.get('www-authenticate')).toContain('invalid_token')
    const second = await tokensOf(await refresh(first.refresh_token))
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect((await api('/api/profile', second.access_token)).status).toBe(200)
    expect((await refresh(first.refresh_token)).status).toBe(400)
    expect((await refresh(second.refresh_token)).status).toBe(400)
  })

  test('narrows the scopes of a refresh, never widens them', async () => {
    const { approved, refresh } = sandbox()
    const first = await approved({ scope: 'profile:read profile:write' })
    const second = await tokensOf(await refresh(first.refresh_token, { scope: 'profile:write' }))
    expect(second.scope).toBe('profile:write')
    const widened = await refresh(second.refresh_token, { scope: 'profile:read admin' })
    expect(await widened.json()).toMatchObject({ error: 'invalid_scope' })
    expect((await tokensOf(await refresh(second.refresh_token))).scope).toBe('profile:read profile:write')
  })

  test('revokes one access token, or everything with the refresh token', async () => {
    const { approved, post, api, refresh } = sandbox()
    const revoke = (token: string) => post('/revoke', { token, ...CLIENT })
    const first = await approved()
    const second = await tokensOf(await refresh(first.refresh_token))
    const alive = async (token: string) => (await api('/userinfo', token)).status === 200
    expect((await revoke(first.access_token)).status).toBe(200)
    expect([await alive(first.access_token), await alive(second.access_token)]).toEqual([false, true])
    expect((await revoke(second.refresh_token)).status).toBe(200)
    expect(await alive(second.access_token)).toBe(false)
    expect((await refresh(second.refresh_token)).status).toBe(400)
    expect((await revoke('unknown')).status).toBe(200)
    expect((await post('/revoke', { token: 'unknown' })).status).toBe(401)
  })

  test('keeps codes and tokens over a restart', async () => {
    const { decide, redeem, approved, refresh, restart, api } = sandbox()
    const tokens = await approved()
    const { code } = (await decide()).query
    restart()
    expect((await api('/userinfo', tokens.access_token)).status).toBe(200)
    expect((await refresh(tokens.refresh_token)).status).toBe(200)
    expect((await redeem(code)).status).toBe(200)
  })

  test('takes no token for another kind', async () => {
    const { decide, redeem, approved, refresh, api } = sandbox()
    const { access_token, refresh_token } = await approved()
    expect((await api('/userinfo', refresh_token)).status).toBe(401)
    expect((await api('/userinfo')).headers.get('www-authenticate')).toBe('Bearer realm="sandbox"')
    expect((await refresh(access_token)).status).toBe(400)
    expect((await redeem(refresh_token)).status).toBe(400)
    expect((await refresh((await decide()).query.code ?? '')).status).toBe(400)
  })
})

test('says what it can do (RFC 8414)', async () => {
  const { state } = sandbox()
  const response = await state.app.request('/.well-known/oauth-authorization-server')
  expect(await response.json()).toMatchObject({
    issuer: 'http://localhost:8400/sandbox',
    token_endpoint: 'http://localhost:8400/sandbox/token',
    code_challenge_methods_supported: ['S256'],
  })
})

test('the sample metadata is read without a warning', () => {
  const reading = readToolMetadata(sampleMetadata(PUBLIC_URL), { allowsHttp: () => true })
  expect(reading).toMatchObject({
    outcome: 'read',
    warnings: [],
    tool: {
      title: 'Sandbox_Profile',
      version: '1.0.0',
      oauth: [
        {
          name: 'Sandbox',
          scopes: ['profile:read'],
          provider: {
            pkce: 'S256',
            authorizationRequest: { endpoint: 'http://localhost:8400/sandbox/authorize' },
            tokenRequest: { endpoint: 'http://localhost:8400/sandbox/token' },
          },
        },
      ],
    },
  })
})
