import {
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutgoing } from '../../src/egress/outgoing.ts'
import { readDefinition } from '../../src/providers/definition/read-definition.ts'
import { templateValues } from '../../src/providers/provider-request.ts'
import { listenHttps, selfSigned } from '../https-loopback.ts'
import { record } from '../loopback.ts'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'

// Clients whose secret is a key: it makes a JWT for each request, or belongs to a TLS certificate.

let scene: Scene
beforeAll(async () => {
  // no expires_in, so that the introspection is asked
  scene = await startScene({ as: { tokenMembers: { expires_in: undefined }, checkClient: () => undefined } })
})
afterAll(() => scene[Symbol.asyncDispose]())

const pem = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed25519 = generateKeyPairSync('ed25519')
const mac = randomBytes(48).toString('base64url')

/** The entry with the same client authentication in all its requests. */
function authenticatedBy(auth_method: string, more: OAuth2): OAuth2 {
  const { as } = scene
  return {
    client_assertion: null,
    token_request: { endpoint: as.tokenUrl, auth_method },
    refresh_request: { endpoint: as.tokenUrl, auth_method },
    revocation_request: { endpoint: as.revocationUrl, auth_method },
    token_introspection_request: {
      endpoint: as.introspectionUrl,
      auth_method,
      params: { token: '{{access_token}}' },
      triggers: { on_token_grant: true },
    },
    ...more,
  }
}

const change = (oauth2: OAuth2) => scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })

/** Consent, introspection, refresh and revocation; what the server was shown. */
async function useEverything(user_id: string) {
  const { as, clock } = scene
  as.requests.length = 0
  const { body } = await scene.connect({ user_id })
  expect(body).toMatchObject({ status: 'completed' })
  clock.advance(3700)
  expect((await scene.authorize({ user_id })).body.status).toBe('completed')
  const [connection] = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items
  expect((await scene.call('DELETE', `/v1/connections/${connection.id}`)).body.revocation).toBe('revoked')
  const shown = [...as.tokenRequests(), ...as.requestsTo('/introspect'), ...as.requestsTo('/revoke')]
  expect(shown.length).toBeGreaterThanOrEqual(5)
  return shown
}

describe('a client that signs', () => {
  test.each<[string, string, OAuth2, KeyObject, string]>([
    ['private_key_jwt', 'RS256', {}, rsa.publicKey, pem(rsa.privateKey)],
    [
      'private_key_jwt',
      'PS256',
      { client_assertion: { algorithm: 'PS256' } },
      rsa.publicKey,
      pem(rsa.privateKey),
    ],
    [
      'private_key_jwt',
      'ES256',
      {
        client_assertion: { algorithm: 'ES256', key_id: 'k1', audience: 'https://as.example', lifetime: 300 },
      },
      p256.publicKey,
      JSON.stringify(p256.privateKey.export({ format: 'jwk' })),
    ],
    [
      'private_key_jwt',
      'EdDSA',
      { client_assertion: { algorithm: 'EdDSA' } },
      ed25519.publicKey,
      pem(ed25519.privateKey),
    ],
    ['client_secret_jwt', 'HS256', {}, createSecretKey(Buffer.from(mac)), mac],
    [
      'client_secret_jwt',
      'HS384',
      { client_assertion: { algorithm: 'HS384' } },
      createSecretKey(Buffer.from(mac)),
      mac,
    ],
    [
      'signed_client_secret',
      'ES256',
      {
        variables: { team_id: { pattern: '[A-Z0-9]{10}', label: 'Team ID', value: 'TEAM123456' } },
        client_assertion: {
          algorithm: 'ES256',
          key_id: 'KEY1234567',
          issuer: '{{team_id}}',
          audience: 'https://appleid.apple.com',
          lifetime: 300,
        },
      },
      p256.publicKey,
      pem(p256.privateKey).replaceAll('\n', '\\n'),
    ],
  ])('by %s with %s does so for each request', async (auth_method, algorithm, more, key, client_secret) => {
    const changed = await change(authenticatedBy(auth_method, { client_secret, variables: null, ...more }))
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    const { client_assertion } = changed.body.oauth2
    expect(client_assertion).toEqual(
      'client_assertion' in more ? { lifetime: 60, ...(more.client_assertion as object) } : undefined,
    )
    const isSecret = auth_method === 'signed_client_secret'
    const ids = new Set<string | undefined>()
    const shown = await useEverything(`${auth_method} ${algorithm}`)
    for (const { params, headers } of shown) {
      expect(headers).not.toHaveProperty('authorization')
      expect(params.client_id).toBe(scene.as.clientId)
      expect(params.client_assertion_type).toBe(
        isSecret ? undefined : 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      )
      const { payload, protectedHeader } = await jwtVerify(
        (isSecret ? params.client_secret : params.client_assertion) ?? '',
        key,
        {
          algorithms: [algorithm],
          currentDate: new Date(scene.clock() * 1000 - 4_000_000),
          clockTolerance: 4_000,
        },
      )
      expect(payload).toMatchObject({
        iss: isSecret ? 'TEAM123456' : scene.as.clientId,
        sub: scene.as.clientId,
        aud: client_assertion?.audience ?? scene.as.tokenUrl,
      })
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(client_assertion?.lifetime ?? 60)
      expect(protectedHeader.kid).toBe(client_assertion?.key_id)
      ids.add(payload.jti)
    }
    expect(ids.size).toBe(shown.length)
    const everything = JSON.stringify([scene.as.requests, changed.body, scene.gatepass.logLines])
    expect(everything).not.toContain(client_secret.slice(40, 90))
  })

  test('puts no key where a template names the client secret', () => {
    const request = (auth_method: string) => ({ endpoint: 'https://as.example/token', auth_method })
    const secretIn = (auth_method: string) => {
      const { provider } = readDefinition({
        id: 'demo',
        name: 'Demo',
        oauth2: {
          authorize_request: { endpoint: 'https://as.example/authorize' },
          token_request: request(auth_method),
          refresh_request: request(auth_method),
        },
      })
      const client = { clientId: 'the client', clientSecret: mac }
      return templateValues({ provider, client, redirectUri: 'https://gatepass.example/callback' })
        .client_secret
    }
    expect([secretIn('client_secret_jwt'), secretIn('client_secret_post')]).toEqual(['', mac])
  })

  test('keeps its connections when it changes its key, and loses them with another team (Apple)', async () => {
    const variable = (value: string) => ({ pattern: '[A-Z0-9]{10}', value })
    const apple = authenticatedBy('signed_client_secret', {
      client_secret: pem(p256.privateKey),
      variables: { team_id: variable('TEAM123456'), key_id: variable('KEY1234567') },
      client_assertion: { algorithm: 'ES256', key_id: '{{key_id}}', issuer: '{{team_id}}' },
    })
    expect((await change(apple)).status).toBe(200)
    const { token } = (await scene.connect({ user_id: 'key' })).body.context
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await change({ client_secret: pem(privateKey), variables: { key_id: { value: 'KEY7654321' } } })
    expect((await scene.authorize({ user_id: 'key' })).body).toMatchObject({ context: { token } })
    await change({ variables: { team_id: { value: 'TEAM654321' } } })
    expect((await scene.authorize({ user_id: 'key' })).body.status).toBe('pending')
    expect(
      (
        await change({
          client_assertion: null,
          ...authenticatedBy('client_secret_post', {}),
          client_secret: 'x',
          variables: null,
        })
      ).status,
    ).toBe(200)
  })

  test('whose stored secret is not the key says so, and sends nothing', async () => {
    await change(authenticatedBy('client_secret_post', { client_secret: 'a text' }))
    expect((await change(authenticatedBy('private_key_jwt', {}))).status).toBe(200)
    scene.as.requests.length = 0
    const { body } = await scene.connect({ user_id: 'no key' })
    expect(body).toMatchObject({ status: 'failed', reason: 'invalid_client' })
    expect(body.message ?? JSON.stringify(body)).toContain('private key')
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('never sends the key, also where the method is changed under it', async () => {
    await change(authenticatedBy('private_key_jwt', { client_secret: pem(rsa.privateKey) }))
    expect((await change(authenticatedBy('client_secret_post', {}))).status).toBe(200)
    scene.as.requests.length = 0
    expect((await scene.connect({ user_id: 'changed' })).body).toMatchObject({ reason: 'invalid_client' })
    expect(scene.as.tokenRequests()).toEqual([])
    const params = { client_secret: '{{client_secret}}' }
    const placed = { token_request: { endpoint: scene.as.tokenUrl, auth_method: 'none', params } }
    expect((await change(placed)).status).toBe(200)
    await scene.connect({ user_id: 'placed' })
    expect(JSON.stringify(scene.as.requests)).not.toContain('PRIVATE')
  })

  test.each<[string, OAuth2]>([
    [
      'a key of another curve',
      { client_secret: pem(p256.privateKey), client_assertion: { algorithm: 'ES384' } },
    ],
    [
      'a key of another kind',
      { client_secret: pem(rsa.privateKey), client_assertion: { algorithm: 'ES256' } },
    ],
    ['a text as private key', { client_secret: 'a text' }],
    ['a public key', { client_secret: String(rsa.publicKey.export({ type: 'spki', format: 'pem' })) }],
    ['an unknown algorithm', { client_assertion: { algorithm: 'none' } }],
    ['a variable that is not declared', { client_assertion: { algorithm: 'ES256', issuer: '{{team}}' } }],
    ['the secret in the JWT', { client_assertion: { algorithm: 'ES256', issuer: '{{client_secret}}' } }],
    ['a lifetime of a day', { client_assertion: { algorithm: 'ES256', lifetime: 86_400 } }],
    ['another method beside it', { revocation_request: { auth_method: 'client_secret_post' } }],
  ])('with %s is refused', async (_, oauth2) => {
    await change(authenticatedBy('private_key_jwt', { client_secret: pem(rsa.privateKey) }))
    const refused = await change(oauth2)
    expect(refused.status).toBe(400)
    expect(refused.body.message).toMatch(/client_secret|client_assertion|auth_method/)
    expect(JSON.stringify(refused.body)).not.toContain('PRIVATE KEY-----')
  })

  test.each<[string, OAuth2, object, RegExp]>([
    [
      'private_key_jwt',
      { client_secret: pem(rsa.privateKey) },
      { algorithm: 'HS256' },
      /algorithm must not be an HS… algorithm/,
    ],
    [
      'client_secret_jwt',
      { client_secret: mac },
      { algorithm: 'ES256' },
      /algorithm has to be HS256, HS384 or HS512/,
    ],
  ])('%s with an algorithm of the other is refused', async (method, key, client_assertion, message) => {
    expect((await change(authenticatedBy(method, key))).status).toBe(200)
    expect(await change({ client_assertion })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(message) },
    })
  })

  test.each<[string, OAuth2, RegExp]>([
    [
      'a key as a secret that is sent',
      { client_secret: pem(rsa.privateKey) },
      /client_secret is a private key/,
    ],
    ['a short secret', authenticatedByMac('short'), /client_secret has fewer than the 32 bytes/],
    [
      'an assertion that nothing uses',
      { client_assertion: { algorithm: 'ES256' } },
      /client_assertion needs/,
    ],
  ])('%s is refused', async (_, oauth2, message) => {
    await change(authenticatedBy('client_secret_post', { client_secret: 'a text' }))
    const refused = await change(oauth2)
    expect(refused.status).toBe(400)
    expect(refused.body.message).toMatch(message)
  })
})

function authenticatedByMac(client_secret: string): OAuth2 {
  const auth_method = 'client_secret_jwt'
  const block = { auth_method }
  return {
    client_secret,
    token_request: block,
    refresh_request: block,
    revocation_request: block,
    token_introspection_request: null,
  }
}

describe('a client with a TLS certificate (Pro Santé Connect)', () => {
  /** A server over TLS before the fake one, and the fingerprints of the certificates that it was shown. */
  async function startFront() {
    const shown: (string | undefined)[] = []
    const front = await listenHttps(
      async (req, res) => {
        const { method, path, search, body, headers } = await record(req)
        const { fingerprint256 } = (req.socket as TLSSocket).getPeerCertificate()
        shown.push(fingerprint256)
        const type = headers['content-type']
        const answer = await fetch(`${scene.as.url}${path}${search}`, {
          method,
          headers: {
            ...(headers.authorization && { authorization: headers.authorization }),
            ...(type && { 'content-type': type }),
          },
          ...(body !== '' && { body }),
        })
        const text = await answer.text()
        res
          .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
          .end(text)
      },
      { requestCert: true },
    )
    return { front, shown }
  }

  test('presents it at every endpoint, and sends no secret', async () => {
    const { front, shown } = await startFront()
    await using _ = front
    const own = selfSigned()
    const by = { auth_method: 'tls_client_auth' }
    const { as } = scene
    const changed = await change({
      client_secret: `${own.cert}${own.key}`,
      client_assertion: null,
      token_request: { endpoint: `${front.url}/token`, params: {}, ...by },
      refresh_request: { endpoint: `${front.url}/token`, ...by },
      revocation_request: { endpoint: `${front.url}/revoke`, ...by },
      token_introspection_request: null,
      user_info_request: { endpoint: `${front.url}/userinfo`, triggers: { on_token_grant: true } },
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    as.requests.length = 0
    as.behaviour.tokenMembers = {}
    expect((await scene.connect({ user_id: 'tls' })).body.status).toBe('completed')
    scene.clock.advance(3700)
    expect((await scene.authorize({ user_id: 'tls' })).body.status).toBe('completed')
    const [connection] = (await scene.call('GET', '/v1/connections?user_id=tls')).body.items
    expect((await scene.call('DELETE', `/v1/connections/${connection.id}`)).body.revocation).toBe('revoked')
    const { fingerprint256 } = new X509Certificate(own.cert)
    expect(shown.length).toBeGreaterThanOrEqual(5)
    expect(new Set(shown)).toEqual(new Set([fingerprint256]))
    for (const { params, headers } of as.tokenRequests()) {
      expect(params.client_id).toBe(as.clientId)
      expect(params).not.toHaveProperty('client_secret')
      expect(headers).not.toHaveProperty('authorization')
    }
    expect(JSON.stringify([as.requests, scene.gatepass.logLines])).not.toContain(own.key.slice(60, 100))
  })

  test.each<[string, () => OAuth2]>([
    ['the key of another certificate', () => ({ client_secret: `${selfSigned().cert}${selfSigned().key}` })],
    ['no certificate', () => ({ client_secret: selfSigned().key })],
    ['no key', () => ({ client_secret: selfSigned().cert })],
    [
      'an endpoint without TLS',
      () => {
        const { cert, key } = selfSigned()
        return { client_secret: `${cert}${key}`, token_request: { endpoint: scene.as.tokenUrl } }
      },
    ],
  ])('with %s is refused', async (_, oauth2) => {
    const block = (path: string) => ({
      endpoint: `https://127.0.0.1:1${path}`,
      auth_method: 'tls_client_auth',
    })
    const base = {
      token_request: block('/token'),
      refresh_request: block('/token'),
      revocation_request: block('/revoke'),
      token_introspection_request: null,
      client_assertion: null,
    }
    const { cert, key } = selfSigned()
    expect((await change({ ...base, client_secret: `${cert}${key}` })).status).toBe(200)
    expect((await change(oauth2())).status).toBe(400)
  })

  test('is not shown to an address that may not be reached, nor without TLS', async () => {
    await using front = await listenHttps((_, res) => res.end(), { requestCert: true })
    const { cert, key } = selfSigned()
    const outgoing = createOutgoing({ allowedHosts: [] })
    const open = createOutgoing({ allowedHosts: ['127.0.0.1'] })
    const clientCertificate = { cert, key }
    await expect(outgoing.send({ url: front.url, clientCertificate })).rejects.toMatchObject({
      kind: 'host_not_allowed',
    })
    await expect(open.send({ url: scene.as.url, clientCertificate })).rejects.toMatchObject({
      kind: 'host_not_allowed',
    })
    expect((await open.send({ url: front.url, clientCertificate })).status).toBe(200)
    await Promise.all([outgoing.close(), open.close()])
  })
})
