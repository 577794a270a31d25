import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startGatepass, testClock } from '../gatepass.ts'
import { answer, listen, record } from '../loopback.ts'
import { startOidcProvider } from '../oidc-provider.ts'
import { UserAgent } from '../user-agent.ts'
import { click, type Scene, startScene } from './fixtures.ts'

// RFC 9126: the parameters of the authorization request go from server to server, and the browser carries a reference.

const REFERENCE = 'urn:ietf:params:oauth:request_uri:r-1'

/** A provider whose pushed authorization endpoint gives these answers, and what it received. */
async function startPushing() {
  const state = {
    status: 201,
    body: JSON.stringify({ request_uri: REFERENCE, expires_in: 60 }),
    received: [] as { params: Record<string, string>; authorization: string | undefined }[],
  }
  const endpoint = await listen(async (req, res) => {
    const { params, headers } = await record(req)
    state.received.push({ params, authorization: headers.authorization })
    answer(res, state.status, 'application/json', state.body)
  })
  const scene = await startScene({
    oauth2: { pushed_authorization_request: { endpoint: `${endpoint.url}/par` } },
  })
  return Object.assign(state, {
    scene,
    async [Symbol.asyncDispose]() {
      await scene[Symbol.asyncDispose]()
      await endpoint.close()
    },
  })
}

const beginAt = async (scene: Scene) => (await scene.authorize()).body as { id: string; url: string }
/** Clicks, and stops at the redirect to the provider. */
async function clickOnly(url: string) {
  const browser = new UserAgent()
  return browser.submitForm(
    await browser.get(url),
    {},
    { until: ({ pathname }) => pathname === '/authorize' },
  )
}

describe('a server that demands pushed authorization requests', () => {
  test.each(['client_secret_basic', 'client_secret_post', 'none'] as const)(
    'is connected by its metadata alone, by a client with %s',
    async (clientAuth) => {
      const uris: string[] = []
      const oidc = await startOidcProvider({ redirectUris: () => uris, pushRequired: true, clientAuth })
      const gatepass = await startGatepass({ now: testClock(Math.floor(Date.now() / 1000)) })
      try {
        const { body } = await gatepass.call('POST', '/v1/admin/auth_providers', {
          id: 'oidc',
          oauth2: {
            client_id: oidc.clientId,
            client_secret: oidc.clientSecret,
            issuer: oidc.issuer,
            ...(clientAuth === 'client_secret_post' && { token_request: { auth_method: clientAuth } }),
          },
        })
        expect(body.oauth2.pushed_authorization_request).toEqual({ endpoint: `${oidc.issuer}/request` })
        uris.push(body.oauth2.redirect_uri)
        const need = {
          auth_requirement: { id: 'oidc', oauth2: { scopes: ['openid', 'email'] } },
          user_id: 'u1',
        }
        const { id, url } = (await gatepass.call('POST', '/v1/auth/authorize', need)).body
        const end = await click(url)
        const sent = new URL(end.hops[0]?.location ?? '')
        expect([...sent.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
        expect((await gatepass.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('completed')
        const { steps } = (await gatepass.call('GET', `/v1/auth/${id}/explain`)).body
        const pushed = steps.find(({ step }: { step: string }) => step === 'pushed_authorization')
        expect(pushed.details).toMatchObject({ endpoint: `${oidc.issuer}/request`, status: 201 })
        expect(pushed.details.parameters).toEqual(
          expect.arrayContaining(['code_challenge', 'scope', 'state']),
        )
        expect(oidc.failures).toEqual([])
      } finally {
        await gatepass.close()
        await oidc.close()
      }
    },
  )
})

describe('a server that demands signed authorization requests', () => {
  test.each([true, false])('is connected by its metadata and a key (pushed: %s)', async (pushRequired) => {
    const uris: string[] = []
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const clientKey = { ...publicKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'RS256' }
    const clientAuth = 'private_key_jwt'
    const oidc = await startOidcProvider({ redirectUris: () => uris, pushRequired, clientAuth, clientKey })
    const gatepass = await startGatepass({ now: testClock(Math.floor(Date.now() / 1000)) })
    try {
      const request = { auth_method: clientAuth }
      const { body } = await gatepass.call('POST', '/v1/admin/auth_providers', {
        id: 'oidc',
        oauth2: {
          client_id: oidc.clientId,
          client_secret: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
          issuer: oidc.issuer,
          token_request: request,
          client_assertion: { algorithm: 'RS256', key_id: 'key-1' },
        },
      })
      expect(body.oauth2.request_object).toEqual({})
      if (!pushRequired)
        await gatepass.call('PATCH', '/v1/admin/auth_providers/oidc', {
          oauth2: { pushed_authorization_request: null },
        })
      uris.push(body.oauth2.redirect_uri)
      const need = {
        auth_requirement: { id: 'oidc', oauth2: { scopes: ['openid', 'email'] } },
        user_id: 'u1',
      }
      const { id, url } = (await gatepass.call('POST', '/v1/auth/authorize', need)).body
      const end = await click(url)
      const sent = new URL(end.hops[0]?.location ?? '').searchParams
      expect([...sent.keys()].sort()).toEqual(
        pushRequired ? ['client_id', 'request_uri'] : ['client_id', 'request', 'response_type', 'scope'],
      )
      expect((await gatepass.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('completed')
      expect(oidc.failures).toEqual([])
    } finally {
      await gatepass.close()
      await oidc.close()
    }
  })
})

describe('a pushed authorization request', () => {
  test('has every parameter and the client authentication of the token request', async () => {
    await using pushing = await startPushing()
    const { scene, received } = pushing
    const page = await clickOnly((await beginAt(scene)).url)
    const sent = new URL(page.hops.at(-1)?.location ?? '')
    expect(Object.fromEntries(sent.searchParams)).toEqual({
      client_id: scene.as.clientId,
      request_uri: REFERENCE,
    })
    expect(received).toHaveLength(1)
    expect(received[0]?.params).toMatchObject({
      client_id: scene.as.clientId,
      response_type: 'code',
      scope: 'read',
      redirect_uri: expect.stringContaining('/callback'),
      state: expect.any(String),
      code_challenge_method: 'S256',
    })
  })

  test.each([
    ['is failing', 503, '{}'],
    ['has no such endpoint', 404, 'Not found'],
    ['takes no POST there', 405, ''],
  ])('may be tried again when the server %s, and is never sent as a plain one', async (_, status, body) => {
    await using pushing = await startPushing()
    const { scene } = pushing
    const good = { status: pushing.status, body: pushing.body }
    Object.assign(pushing, { status, body })
    const { id, url } = await beginAt(scene)
    const page = await clickOnly(url)
    expect(page.status).toBe(503)
    expect(page.body).toContain('Try again')
    expect(scene.as.requests.filter(({ path }) => path === '/authorize')).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
    Object.assign(pushing, good)
    const again = await clickOnly(url)
    expect(again.hops.at(-1)?.location).toContain(encodeURIComponent(REFERENCE))
  })

  test.each([
    ['the client', 401, { error: 'invalid_client' }, 'invalid_client', 'wrong_client_secret'],
    [
      'the redirect URI',
      400,
      { error: 'invalid_request', error_description: 'redirect_uri is not registered' },
      'provider_refused',
      'redirect_uri_not_registered',
    ],
  ])(
    'ends the authorization with the cause when the server refuses %s',
    async (_, status, error, reason, cause) => {
      await using pushing = await startPushing()
      const { scene } = pushing
      Object.assign(pushing, { status, body: JSON.stringify(error) })
      const { id, url } = await beginAt(scene)
      await clickOnly(url)
      expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason })
      const explained = await scene.call('GET', `/v1/auth/${id}/explain`)
      expect(explained.body.cause.code).toBe(cause)
    },
  )

  test.each([
    ['no reference', { expires_in: 60 }],
    ['a lifetime of zero', { request_uri: REFERENCE, expires_in: 0 }],
    ['a reference that is no text', { request_uri: 5, expires_in: 60 }],
  ])('fails when the answer has %s', async (_, body) => {
    await using pushing = await startPushing()
    pushing.body = JSON.stringify(body)
    const { id, url } = await beginAt(pushing.scene)
    await clickOnly(url)
    expect((await pushing.scene.status(id)).body).toMatchObject({
      status: 'failed',
      reason: 'provider_bad_response',
    })
  })
})
