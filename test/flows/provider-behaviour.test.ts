import { describe, expect, test } from 'vitest'
import type { Behaviour } from '../fake-authorization-server.ts'
import { addProvider, importEntry, type OAuth2, oauth2For, type Scene, startScene } from './fixtures.ts'

type As = Partial<Behaviour>

const COMPLETED = 'completed'

/** One entry from metadata, one user, one consent: `completed`, or the reason of the failure. */
async function outcomeOf(scene: Scene): Promise<string> {
  const { body } = await scene.connect()
  if (body.status !== COMPLETED) return body.reason
  expect(scene.as.isLive(body.context.token)).toBe(true)
  return COMPLETED
}

describe('an entry from metadata', () => {
  test.each<[string, As, Record<string, unknown>, string]>([
    ['demands S256', { requirePkce: 'S256' }, {}, COMPLETED],
    ['demands S256, told plain', { requirePkce: 'S256' }, { pkceType: 'plain' }, 'provider_refused'],
    ['demands plain', { requirePkce: 'plain' }, { pkceType: 'plain' }, COMPLETED],
    ['demands plain, told nothing', { requirePkce: 'plain' }, {}, 'provider_refused'],
    ['does not know PKCE', { requirePkce: 'ignore' }, {}, COMPLETED],
    ['demands Basic', { clientAuth: 'basic-only' }, { requestTokenAuthHeader: 'basic' }, COMPLETED],
    ['demands Basic, told nothing', { clientAuth: 'basic-only' }, {}, 'invalid_client'],
    ['demands the body', { clientAuth: 'post-only' }, {}, COMPLETED],
    [
      'demands the body, told Basic',
      { clientAuth: 'post-only' },
      { requestTokenAuthHeader: 'basic' },
      'invalid_client',
    ],
    ['refuses both at once', { clientAuth: 'refuse-both' }, {}, COMPLETED],
    [
      'refuses both at once, told Basic',
      { clientAuth: 'refuse-both' },
      { requestTokenAuthHeader: 'basic' },
      COMPLETED,
    ],
    ['has a public client', { clientAuth: 'public' }, { clientSecret: null }, COMPLETED],
    ['refuses the client', { clientAuth: 'refuse' }, {}, 'invalid_client'],
    ['answers form-encoded', { tokenFormat: 'form' }, {}, COMPLETED],
    ['refuses form-encoded', { tokenFormat: 'form', exchange: 'refuse' }, {}, 'invalid_grant'],
    ['refuses with 200', { errorsWith200: true, exchange: 'refuse' }, {}, 'invalid_grant'],
    ['refuses the client with 200', { errorsWith200: true, clientAuth: 'refuse' }, {}, 'invalid_client'],
    ['wants JSON', {}, { requestTokenContentType: 'application/json' }, COMPLETED],
    ['is spelled in snake case', {}, { request_token_auth_header: 'basic', pkce_type: 'S256' }, COMPLETED],
  ])('whose server %s ends as it should', async (_, as, entry, expected) => {
    await using scene = await startScene({ oauth2: false, as })
    expect((await importEntry(scene.gatepass, scene.as, entry)).status).toBe(200)
    expect(await outcomeOf(scene)).toBe(expected)
    // never once more with less: no fall-back of PKCE or of the client's authentication
    expect(scene.as.requestsTo('/authorize')).toHaveLength(1)
    expect(scene.as.tokenRequests().length).toBeLessThanOrEqual(1)
  })

  test('plain stands on the wire only where the entry says so', async () => {
    await using scene = await startScene({ oauth2: false, as: { requirePkce: 'plain' } })
    await importEntry(scene.gatepass, scene.as, { pkceType: 'plain' })
    await scene.connect()
    const { code_challenge, code_challenge_method } = scene.as.requestsTo('/authorize')[0]?.params ?? {}
    expect(code_challenge_method).toBe('plain')
    expect(scene.as.tokenRequests()[0]?.params.code_verifier).toBe(code_challenge)
  })

  test('the token request: JSON where the entry says so, with the client in one place', async () => {
    await using scene = await startScene({ oauth2: false })
    await importEntry(scene.gatepass, scene.as, {
      requestTokenContentType: 'application/json',
      requestTokenAuthHeader: 'basic',
    })
    await scene.connect()
    const [request] = scene.as.tokenRequests()
    expect(request?.json).toMatchObject({ grant_type: 'authorization_code', code: expect.any(String) })
    expect(request?.json).not.toHaveProperty('client_secret')
    expect(request?.headers.authorization).toMatch(/^Basic /)
    scene.clock.advance(3600)
    expect((await scene.authorize()).body.status).toBe(COMPLETED)
    expect(scene.as.tokenRequests('refresh_token')[0]?.json).toBeDefined()
  })

  test('an authorizationUrl keeps its own query; nothing stands twice', async () => {
    await using scene = await startScene({ oauth2: false })
    await importEntry(scene.gatepass, scene.as, {
      authorizationUrl: `${scene.as.authorizationUrl}?prompt=consent&scope=own&client_id=x&audience=a%20b`,
    })
    expect(await outcomeOf(scene)).toBe(COMPLETED)
    const query = new URLSearchParams(scene.as.requestsTo('/authorize')[0]?.search)
    for (const [name, value] of [
      ['prompt', 'consent'],
      ['audience', 'a b'],
      ['scope', 'read'],
      ['client_id', scene.as.clientId],
      ['response_type', 'code'],
    ] as const)
      expect(query.getAll(name)).toEqual([value])
  })
})

describe('an entry that says the least', () => {
  test('proves the code by S256', async () => {
    await using scene = await startScene({ as: { requirePkce: 'S256' }, oauth2: { pkce: undefined } })
    expect(await outcomeOf(scene)).toBe(COMPLETED)
    const [asked] = scene.as.requestsTo('/authorize')
    expect(asked?.params).toMatchObject({ code_challenge_method: 'S256' })
  })

  test('is warned of once in the log where its server names no token_type', async () => {
    await using scene = await startScene({ as: { tokenFormat: 'missing-token-type' } })
    await scene.connect()
    await scene.connect({ user_id: 'u2' })
    const warned = scene.gatepass.logLines.filter((line) => line.includes('has no token_type'))
    expect(warned).toHaveLength(1)
    expect(JSON.parse(warned[0] ?? '{}')).toMatchObject({ provider: 'demo' })
  })

  const idToken = (claims: object) =>
    ['{"alg":"none"}', JSON.stringify(claims), '']
      .map((part) => Buffer.from(part).toString('base64url'))
      .join('.')

  test.each<[string, (nonce: string) => object, string]>([
    ['its own nonce', (nonce) => ({ sub: 'u-1', nonce }), COMPLETED],
    ['no nonce', () => ({ sub: 'u-1' }), COMPLETED],
    ['the nonce of another request', () => ({ sub: 'u-1', nonce: 'another' }), 'provider_bad_response'],
  ])('sends a nonce for openid without an issuer; an ID token with %s', async (_, claims, expected) => {
    await using scene = await startScene()
    scene.as.behaviour.rawTokenAnswer = {
      body: (members) =>
        JSON.stringify({
          ...members,
          id_token: idToken(claims(scene.as.requestsTo('/authorize').at(-1)?.params.nonce ?? '')),
        }),
    }
    const { body } = await scene.connect({ scopes: ['openid', 'read'] })
    expect(scene.as.requestsTo('/authorize').at(-1)?.params.nonce).toMatch(/^[\w-]{43}$/)
    expect(body.reason ?? body.status).toBe(expected)
  })
})

describe('a token answer', () => {
  test.each<[As['tokenFormat'] & string, OAuth2, string]>([
    ['json', {}, COMPLETED],
    ['form', {}, COMPLETED],
    ['array-scope', {}, COMPLETED],
    ['comma-scope', {}, COMPLETED],
    ['no-scope', {}, COMPLETED],
    ['string-expiry', {}, COMPLETED],
    ['no-expiry', {}, COMPLETED],
    ['zero-expiry', {}, COMPLETED],
    ['missing-token-type', {}, COMPLETED],
    ['missing-token-type', { token_types: [''] }, COMPLETED],
    ['odd-token-type', {}, 'provider_bad_response'],
    ['odd-token-type', { token_types: ['Bot'] }, COMPLETED],
    ['nested', {}, 'provider_bad_response'],
    ['html', {}, 'provider_bad_response'],
    ['truncated', {}, 'provider_bad_response'],
    ['cut-off', {}, 'provider_unavailable'],
    ['empty', {}, 'provider_bad_response'],
    ['huge', {}, 'provider_bad_response'],
    ['gzip-bomb', {}, 'provider_bad_response'],
    ['redirect', {}, 'provider_bad_response'],
  ])('%s with %j: %s', async (tokenFormat, oauth2, expected) => {
    await using scene = await startScene({ oauth2, as: { tokenFormat } })
    const { body } = await scene.connect({ scopes: ['read', 'write'] })
    expect(body.reason ?? body.status).toBe(expected)
    expect(scene.as.tokenRequests()).toHaveLength(1)
    expect(scene.as.requestsTo('/elsewhere')).toEqual([])
    if (expected === COMPLETED) expect([...body.scopes].sort()).toEqual(['read', 'write'])
    else expect((await scene.call('GET', '/v1/connections')).body.items).toEqual([])
  })

  test.each<[As['exchange'] & string, string]>([
    ['refuse', 'invalid_grant'],
    ['refuse-403', 'invalid_grant'],
    ['invalid_client', 'invalid_client'],
    ['invalid_request', 'provider_refused'],
    ['503', 'provider_unavailable'],
    ['429', 'provider_unavailable'],
    ['html-500', 'provider_unavailable'],
    ['drop', 'provider_unavailable'],
  ])('%s at the exchange: %s, and the code is sent once', async (exchange, reason) => {
    await using scene = await startScene({ as: { exchange } })
    const { id } = (await scene.connect()).body
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason, context: {} })
    expect(scene.as.tokenRequests()).toHaveLength(1)
    expect((await scene.authorize()).body.status).toBe('pending')
  })

  test('that never ends, or drips, is given up within its deadline', async () => {
    const reasons = await Promise.all(
      (['never', 'slow-drip'] as const).map(async (tokenFormat) => {
        await using scene = await startScene({ as: { tokenFormat, tokenMembers: { x: 'x'.repeat(300) } } })
        return (await scene.connect()).body.reason
      }),
    )
    expect(reasons).toEqual(['provider_unavailable', 'provider_unavailable'])
  })

  test('tells its end as expires_at', async () => {
    await using scene = await startScene()
    const expires_at = scene.clock() + 500
    scene.as.behaviour.tokenMembers = { expires_in: undefined, expires_at }
    await scene.connect()
    const [connection] = (await scene.call('GET', '/v1/connections')).body.items
    expect(connection.expires_at).toBe(new Date(expires_at * 1000).toISOString())
  })

  test.each([
    [-1, undefined],
    [1e300, undefined],
    ['3600abc', undefined],
    [null, undefined],
    ['900', 900],
  ])('expires_in %j', async (expires_in, life) => {
    await using scene = await startScene({ as: { tokenMembers: { expires_in } } })
    await scene.connect()
    const [connection] = (await scene.call('GET', '/v1/connections')).body.items
    expect(connection.expires_at).toBe(
      life === undefined ? undefined : new Date((scene.clock() + life) * 1000).toISOString(),
    )
  })
})

describe('an entry of the admin API', () => {
  test('finds nested tokens, and joined scopes, by its response map, at the exchange and at a refresh', async () => {
    const response_map = {
      access_token: '$.authed_user.access_token',
      refresh_token: '$.authed_user.refresh_token',
      expires_in: '$.authed_user.expires_in',
      scope: '$.authed_user.scope',
      token_type: '$.authed_user.token_type',
    }
    await using scene = await startScene({ oauth2: false, as: { tokenFormat: 'nested' } })
    const { as } = scene
    await addProvider(scene.gatepass, as, {
      token_request: { endpoint: as.tokenUrl, response_map },
      refresh_request: { endpoint: as.tokenUrl, response_map },
    })
    expect(await outcomeOf(scene)).toBe(COMPLETED)
    scene.clock.advance(3600)
    expect((await scene.authorize()).body.status).toBe(COMPLETED)

    await addProvider(
      scene.gatepass,
      as,
      {
        token_request: {
          endpoint: as.tokenUrl,
          response_map: { ...response_map, scope: "join('$.granted', ' ')" },
        },
      },
      { id: 'joined' },
    )
    as.behaviour.rawTokenAnswer = {
      body: (members) => JSON.stringify({ authed_user: members, granted: ['a', 'b'] }),
    }
    expect((await scene.connect({ provider: 'joined' })).body).toMatchObject({
      status: COMPLETED,
      scopes: ['a', 'b'],
    })
  })

  test('all five blocks, with their parameters, types and ways of authentication', async () => {
    await using scene = await startScene({ oauth2: false, as: { tokenFormat: 'no-scope' } })
    const { as } = scene
    await addProvider(scene.gatepass, as, {
      scope_delimiter: ',',
      authorize_request: {
        endpoint: as.authorizationUrl,
        params: {
          response_type: 'code',
          client_id: '{{client_id}}',
          redirect_uri: '{{redirect_uri}}',
          user_scope: '{{scopes}} {{existing_scopes}}',
          access_type: 'offline',
        },
      },
      token_request: {
        endpoint: as.tokenUrl,
        request_content_type: 'application/json',
        params: { client_id: '{{client_id}}', client_secret: '{{client_secret}}', audience: 'api' },
      },
      refresh_request: {
        endpoint: as.tokenUrl,
        auth_method: 'client_secret_basic',
        params: { grant_type: 'refresh_token', refresh_token: '{{refresh_token}}', extra: 'yes' },
      },
      user_info_request: {
        endpoint: as.userInfoUrl,
        auth_method: 'bearer_access_token',
        response_map: { sub: '$.sub', shown: '$.login' },
        triggers: { on_token_grant: true, on_token_refresh: true },
      },
      token_introspection_request: {
        endpoint: as.introspectionUrl,
        auth_method: 'client_secret_basic',
        params: { token: '{{access_token}}' },
        triggers: { on_token_grant: true, on_token_refresh: false },
      },
    })
    const { body } = await scene.connect({ scopes: ['read', 'write'] })
    expect(body).toMatchObject({
      status: COMPLETED,
      scopes: ['read', 'write'],
      context: { user_info: { sub: as.account.sub, shown: as.account.login } },
    })
    expect(as.requestsTo('/authorize')[0]?.params).toMatchObject({
      user_scope: 'read,write',
      access_type: 'offline',
    })
    expect(as.requestsTo('/authorize')[0]?.params).not.toHaveProperty('scope')
    const [exchange] = as.tokenRequests()
    expect(exchange?.json).toMatchObject({ audience: 'api', client_secret: as.clientSecret })
    expect(exchange?.headers.authorization).toBeUndefined()
    expect(as.requestsTo('/introspect')).toHaveLength(1)

    scene.clock.advance(3600)
    expect((await scene.authorize({ scopes: ['read'] })).body.status).toBe(COMPLETED)
    const [refresh] = as.tokenRequests('refresh_token')
    expect(refresh?.params.extra).toBe('yes')
    expect(refresh?.params).not.toHaveProperty('client_secret')
    expect(refresh?.headers.authorization).toMatch(/^Basic /)
    expect(as.requestsTo('/userinfo')).toHaveLength(2)
    expect(as.requestsTo('/introspect')).toHaveLength(1)
  })

  test('introspection tells the end and the scopes that the token answer left out', async () => {
    await using scene = await startScene({ oauth2: false, as: { tokenFormat: 'no-expiry' } })
    const { as } = scene
    as.behaviour.tokenMembers = { scope: undefined }
    as.behaviour.grantedScopes = ['granted']
    await addProvider(scene.gatepass, as, {
      token_introspection_request: {
        endpoint: as.introspectionUrl,
        params: { token: '{{access_token}}' },
        triggers: { on_token_grant: true },
      },
    })
    await scene.connect()
    const [connection] = (await scene.call('GET', '/v1/connections')).body.items
    expect(connection.expires_at).toBe(new Date((scene.clock() + 3600) * 1000).toISOString())
    expect(connection.scopes).toEqual(['granted'])
  })

  test('without PKCE none is sent', async () => {
    await using scene = await startScene({ oauth2: { pkce: { enabled: false } } })
    expect(await outcomeOf(scene)).toBe(COMPLETED)
    expect(scene.as.requestsTo('/authorize')[0]?.params).not.toHaveProperty('code_challenge')
    expect(scene.as.tokenRequests()[0]?.params).not.toHaveProperty('code_verifier')
  })

  test('user info becomes context.user_info and names the account', async () => {
    await using scene = await startScene()
    const { body } = await scene.connect()
    expect(body.context.user_info).toEqual(scene.as.account)
    const [connection] = (await scene.call('GET', '/v1/connections')).body.items
    expect(connection.account).toEqual({ id: 'u-1', name: 'ada@example.test' })
    expect(scene.as.requestsTo('/userinfo')[0]?.headers.authorization).toBe(`Bearer ${body.context.token}`)
  })

  test.each(['401', '500', 'html'] as const)(
    'user info that answers %s costs only itself',
    async (userInfo) => {
      await using scene = await startScene({ as: { userInfo } })
      const { body } = await scene.connect()
      expect(body).toMatchObject({ status: COMPLETED, context: { user_info: {} } })
    },
  )

  test('members of the token answer are told where there is no user info', async () => {
    await using scene = await startScene({ oauth2: { user_info_request: null } })
    scene.as.behaviour.tokenMembers = { team: { id: 'T1' }, api_secret: 'hush' }
    const { body } = await scene.connect()
    expect(body.context.user_info).toEqual({ team: { id: 'T1' } })
  })

  test.each([
    ['an http endpoint elsewhere', { token_request: { endpoint: 'http://tokens.example/token' } }],
    ['a javascript URL', { authorize_request: { endpoint: 'javascript:alert(1)' } }],
    ['no endpoint', { token_request: {} }],
    [
      'an unknown placeholder',
      { token_request: { endpoint: 'https://x.example', params: { a: '{{env}}' } } },
    ],
    ['another PKCE method', { pkce: { enabled: true, code_challenge_method: 'S512' } }],
  ])('refuses %s, naming it', async (_, overrides) => {
    await using scene = await startScene({ oauth2: false })
    const body = { id: 'demo', oauth2: oauth2For(scene.as, overrides) }
    expect(await scene.call('POST', '/v1/admin/auth_providers', body)).toMatchObject({
      status: 400,
      body: { name: 'invalid_request', message: expect.stringContaining(Object.keys(overrides)[0] ?? '') },
    })
  })

  test('never shows its secret', async () => {
    await using scene = await startScene()
    const { body } = await scene.call('GET', '/v1/admin/auth_providers')
    expect(body.items).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain(scene.as.clientSecret)
  })
})

describe('partial consent', () => {
  test('completes with what was granted; a need for more asks again', async () => {
    await using scene = await startScene({ as: { consent: 'partial' } })
    const { id, status, scopes } = (await scene.connect({ scopes: ['read', 'write'] })).body
    expect({ status, scopes }).toEqual({ status: COMPLETED, scopes: ['read'] })
    expect((await scene.authorize({ scopes: ['read'] })).body.status).toBe(COMPLETED)
    const more = await scene.authorize({ scopes: ['read', 'write'] })
    expect(more.body).toMatchObject({ status: 'pending', scopes: ['read', 'write'] })
    expect(more.body.id).not.toBe(id)
  })

  test('what the callback tells counts where the token answer tells nothing', async () => {
    await using scene = await startScene({
      as: { tokenFormat: 'no-scope', callbackExtras: { scope: 'read' } },
      oauth2: { callback_tells_scopes: true },
    })
    expect((await scene.connect({ scopes: ['read', 'write'] })).body.scopes).toEqual(['read'])
  })
})
