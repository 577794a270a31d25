import { generateKeyPairSync } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, type JWK } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { exportConnections } from '../../src/features/imports/export-connections.ts'
import { openAccess } from '../../src/flows/seal-grant.ts'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Answer, type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { answer, answerJson, listen, type RecordedRequest, record } from '../loopback.ts'
import { type OidcProvider, type OidcProviderOptions, startOidcProvider } from '../oidc-provider.ts'
import { click, type Scene, startScene } from './fixtures.ts'

// RFC 9449 at the certified oidc-provider, which demands a nonce in every proof.

const SCOPES = ['openid', 'profile', 'email', 'offline_access']

let opened: AsyncDisposableStack
afterEach(() => opened?.disposeAsync())

interface World {
  readonly oidc: OidcProvider
  readonly gatepass: Gatepass
  readonly clock: ReturnType<typeof testClock>
  authorize(user?: string): Promise<{ status: string; id: string; url: string; context: { token?: string } }>
  connect(user?: string): Promise<Record<string, unknown>>
  /** Calls the user info through the proxy. */
  callMe(user?: string): Promise<Answer>
}

/** A server whose authorization requests have to be pushed and signed, and which binds tokens to keys. */
async function startWorld(
  options: Partial<OidcProviderOptions> = {},
  oauth2: object = {},
  database: GatepassOptions = {},
): Promise<World> {
  opened = new AsyncDisposableStack()
  const uris: string[] = []
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const clientKey = { ...publicKey.export({ format: 'jwk' }), kid: 'key-1', use: 'sig', alg: 'RS256' }
  const isKey = options.clientAuth === undefined
  const oidc = await startOidcProvider({
    redirectUris: () => uris,
    dpop: 'required',
    ...(isKey && { clientAuth: 'private_key_jwt', clientKey, pushRequired: true }),
    ...options,
  })
  opened.defer(() => oidc.close())
  const clock = testClock(Math.floor(Date.now() / 1000))
  const gatepass = await startGatepass({ ...database, now: clock })
  opened.defer(() => gatepass.close())
  const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'oidc',
    oauth2: {
      client_id: oidc.clientId,
      client_secret: isKey ? String(privateKey.export({ type: 'pkcs8', format: 'pem' })) : oidc.clientSecret,
      issuer: oidc.issuer,
      ...(isKey && {
        token_request: { auth_method: 'private_key_jwt' },
        client_assertion: { algorithm: 'RS256', key_id: 'key-1' },
      }),
      dpop: { algorithm: 'ES256' },
      api: { base_url: oidc.issuer },
      ...oauth2,
    },
  })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  uris.push(added.body.oauth2.redirect_uri)
  const authorize = async (user_id = 'u1') => {
    const need = { auth_requirement: { id: 'oidc', oauth2: { scopes: SCOPES } }, user_id }
    return (await gatepass.call('POST', '/v1/auth/authorize', need)).body
  }
  return {
    oidc,
    gatepass,
    clock,
    authorize,
    callMe: (user = 'u1') =>
      gatepass.call('GET', '/proxy/oidc/me', undefined, { headers: { 'x-gatepass-user': user } }),
    async connect(user) {
      const { id, url } = await authorize(user)
      await click(url)
      return (await gatepass.call('GET', `/v1/auth/status?id=${id}`)).body
    },
  }
}

const jtis = ({ oidc }: World) => oidc.proofs.map(({ payload }) => payload.jti)

describe('a server that binds tokens to keys, with pushed and signed requests and nonces', () => {
  test.each(onBothDatabases)(
    'is connected and refreshed, each request with a proof of its own, on %s',
    async (_, optionsOf) => {
      const world = await startWorld({}, {}, await optionsOf())
      const { oidc, clock } = world
      expect(await world.connect()).toMatchObject({ status: 'completed' })
      const [pushed] = oidc.proofs
      const jkt = await calculateJwkThumbprint(pushed?.header.jwk as JWK)
      // the push learns the nonce, so that the code is sent once
      expect(oidc.proofs.map(({ path, status }) => [path, status])).toEqual([
        ['/request', 400],
        ['/request', 201],
        ['/token', 200],
        ['/me', 401],
        ['/me', 200],
      ])
      expect(pushed?.header).toMatchObject({ typ: 'dpop+jwt', alg: 'ES256' })
      expect(pushed?.header.jwk).not.toHaveProperty('d')
      expect(oidc.proofs.at(-1)?.authorization).toMatch(/^DPoP /)
      expect(oidc.proofs.at(-1)?.payload).toMatchObject({ htm: 'GET', htu: oidc.userInfoUrl })
      expect(await world.callMe()).toMatchObject({ status: 200, body: { sub: 'oidc-1' } })
      clock.advance(3600)
      expect(await world.callMe()).toMatchObject({ status: 200, body: { sub: 'oidc-1' } })
      expect(oidc.tokenRequests.map(({ grant_type }) => grant_type)).toEqual([
        'authorization_code',
        'refresh_token',
      ])
      for (const { header } of oidc.proofs) expect(await calculateJwkThumbprint(header.jwk as JWK)).toBe(jkt)
      expect(new Set(jtis(world)).size).toBe(oidc.proofs.length)
      expect(oidc.failures).toEqual([])
    },
  )

  test('gives its tokens to nobody: neither caller, nor page, nor log, nor trail have a token or key', async () => {
    const world = await startWorld()
    const { gatepass, oidc } = world
    const completed = await world.connect()
    expect(completed.context).not.toHaveProperty('token')
    const [{ id }] = (await gatepass.call('GET', '/v1/connections')).body.items
    const refused = await gatepass.call('POST', `/v1/connections/${id}/token`, {})
    expect(refused).toMatchObject({ status: 409, body: { name: 'proxy_only' } })
    expect(refused.body.message).toContain('/proxy/oidc')
    const token = /^DPoP (.+)$/.exec(oidc.proofs.at(-1)?.authorization ?? '')?.[1] ?? ''
    const connection = await gatepass.broker.store.connections.find(id)
    if (connection === undefined) throw new Error('there is no connection')
    const { dpopKey: key } = openAccess(gatepass.broker, connection)
    expect(key?.d).toMatch(/^[\w-]{43}$/)
    const said = JSON.stringify([
      completed,
      (await gatepass.call('GET', `/v1/auth/${completed.id}/explain`)).body,
      (await gatepass.call('GET', `/v1/connections/${id}`)).body,
      (await gatepass.call('GET', '/v1/admin/audit')).body,
      (await gatepass.call('GET', '/v1/admin/auth_providers/oidc')).body,
      gatepass.logLines,
      oidc.proofs,
      await onDisk(gatepass),
    ])
    for (const secret of [key?.d ?? '', token]) {
      expect(secret.length).toBeGreaterThan(20)
      expect(said.replaceAll(`DPoP ${token}`, '')).not.toContain(secret)
    }
  })

  test.each(onBothDatabases)('has its connections moved with their keys, on %s', async (_, optionsOf) => {
    const world = await startWorld({}, {}, await optionsOf())
    const { gatepass, oidc } = world
    await world.connect()
    const [row] = await exported(gatepass)
    const { dpop_key, ...without } = row ?? {}
    expect(dpop_key).toMatchObject({ alg: 'ES256', crv: 'P-256' })
    const importRow = (connection: object) =>
      gatepass.call('POST', '/v1/admin/user_connections/import', { connections: [connection] })
    expect((await importRow({ ...without, user_id: 'u2' })).body.items).toMatchObject([
      { result: 'refused', member: 'dpop_key' },
    ])
    expect((await importRow({ ...row, user_id: 'u2', dpop_key: { alg: 'ES256' } })).body.items).toMatchObject(
      [{ result: 'refused', member: 'dpop_key' }],
    )
    expect((await importRow({ ...row, user_id: 'u2' })).body.items).toMatchObject([{ result: 'created' }])
    expect(await world.callMe('u2')).toMatchObject({ status: 200 })
    expect(oidc.failures).toEqual([])
  })

  test.each(onBothDatabases)(
    'asks users again only for tokens of the other kind, when dpop is switched on or off, on %s',
    async (_, optionsOf) => {
      const world = await startWorld(
        { clientAuth: 'client_secret_basic', dpop: 'optional' },
        { dpop: null },
        await optionsOf(),
      )
      const { gatepass, oidc } = world
      await world.connect()
      expect((await world.callMe()).status).toBe(200)
      expect(oidc.proofs).toEqual([])
      const change = (dpop: object | null) =>
        gatepass.call('PATCH', '/v1/admin/auth_providers/oidc', { oauth2: { dpop } })
      expect((await change({ optional: true })).body.oauth2.dpop).toEqual({
        algorithm: 'ES256',
        optional: true,
      })
      expect((await world.callMe()).status).toBe(200)
      await change({})
      expect((await world.callMe()).status).toBe(403)
      expect((await world.connect()).status).toBe('completed')
      expect((await world.callMe()).status).toBe(200)
      await change({ algorithm: 'EdDSA' }) // the key of a connection stays
      expect((await world.callMe()).status).toBe(200)
      expect(oidc.proofs.at(-1)?.header.alg).toBe('ES256')
      await change(null)
      const [{ id }] = (await gatepass.call('GET', '/v1/connections')).body.items
      expect((await world.callMe()).status).toBe(403)
      expect((await gatepass.call('GET', `/v1/connections/${id}`)).body).toMatchObject({
        status: 'needs_authorization',
        status_reason: 'provider_changed',
      })
    },
  )

  test('is not configured with an algorithm that its metadata does not list', async () => {
    const { gatepass } = await startWorld({ clientAuth: 'client_secret_basic' })
    const oauth2 = { dpop: { algorithm: 'ES512' } }
    const refused = await gatepass.call('PATCH', '/v1/admin/auth_providers/oidc', { oauth2 })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'oauth2.dpop.algorithm' }] } })
    expect(refused.body.message).toContain('ES256')
  })
})

/** The files of the database, as text. */
async function onDisk({ databasePath }: Gatepass): Promise<string> {
  const folder = dirname(databasePath)
  const files = (await readdir(folder)).filter((name) => name.startsWith(basename(databasePath)))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))
  expect(texts.join('')).toContain('oidc-1')
  return texts.join('')
}

/** An export of all connections. */
async function exported({ broker }: Gatepass): Promise<Record<string, unknown>[]> {
  const [project] = await broker.store.projects.list()
  const counts = { written: 0, leftOut: 0 }
  const rows: object[] = []
  for await (const row of exportConnections(broker, project?.id ?? '', {}, counts)) rows.push(row)
  return JSON.parse(JSON.stringify(rows))
}

describe('a token request', () => {
  const dpop = { dpop: { algorithm: 'ES256' } }
  const asBound = { tokenMembers: { token_type: 'DPoP' } }

  test.each(onBothDatabases)(
    'whose answer is a bearer token fails, unless dpop is optional, on %s',
    async (_, optionsOf) => {
      await using scene = await startScene({ oauth2: dpop, gatepass: await optionsOf() })
      const { body } = await scene.connect()
      expect(body).toMatchObject({ status: 'failed', reason: 'provider_bad_response' })
      expect(body.message).toContain('not bound')
      expect(await connections(scene)).toEqual([])
      await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { dpop: { optional: true } } })
      expect((await scene.connect()).body.status).toBe('completed')
    },
  )

  test.each(onBothDatabases)(
    'that is refreshed to a bearer token fails, and the bound token stays, on %s',
    async (_, optionsOf) => {
      await using scene = await startScene({ as: asBound, oauth2: dpop, gatepass: await optionsOf() })
      expect((await scene.connect()).body.status).toBe('completed')
      scene.as.behaviour.tokenMembers = {}
      scene.clock.advance(3700)
      const answer = await scene.call('GET', '/proxy/demo/x', undefined, {
        headers: { 'x-gatepass-user': 'u1', 'x-gatepass-base-url': scene.as.url },
      })
      expect(answer.status).toBe(400)
      expect((await scene.authorize()).status).toBe(503)
      expect((await connections(scene))[0]).toMatchObject({ status: 'active' })
    },
  )

  test.each(
    onBothDatabases.flatMap(([database, optionsOf]) => [
      { of: 'code', second: 'use_dpop_nonce', database, optionsOf },
      { of: 'code', second: 'invalid_dpop_proof', database, optionsOf },
      { of: 'refresh', second: 'use_dpop_nonce', database, optionsOf },
    ]),
  )(
    'is repeated once for a nonce, and no more: $of, $second, on $database',
    async ({ of, second, optionsOf }) => {
      await using scene = await startScene({ as: asBound, oauth2: dpop, gatepass: await optionsOf() })
      const received: RecordedRequest[] = []
      await using refusing = await listen(async (req, res) => {
        received.push(await record(req))
        const nonce = { 'dpop-nonce': `n-${received.length}` }
        const error = received.length === 1 ? 'use_dpop_nonce' : second
        answer(res, 400, 'application/json', JSON.stringify({ error }), nonce)
      })
      const tokensAt = (endpoint: string) => {
        const request = { endpoint, auth_method: 'client_secret_basic' }
        const oauth2 = of === 'code' ? { token_request: request } : { refresh_request: request }
        const change = { oauth2, keep_connections: true }
        return scene.call('PATCH', '/v1/admin/auth_providers/demo', change)
      }
      if (of === 'refresh') await scene.connect()
      expect((await tokensAt(`${refusing.url}/token`)).status).toBe(200)
      scene.clock.advance(3700)
      if (of === 'code') {
        const { body } = await scene.connect()
        expect(body).toMatchObject({ status: 'failed', reason: 'provider_refused' })
        const { cause } = (await scene.call('GET', `/v1/auth/${body.id}/explain`)).body
        expect(cause.code).toBe('dpop_proof_refused')
      } else {
        const refused = await scene.authorize()
        expect(refused).toMatchObject({ status: 502, body: { cause: { code: 'dpop_proof_refused' } } })
      }
      const proofs = received.map(({ headers }) => decodeJwt(String(headers.dpop)))
      expect(proofs.map(({ nonce }) => nonce)).toEqual([undefined, 'n-1'])
      expect(proofs[0]?.jti).not.toBe(proofs[1]?.jti)
      expect(received[0]?.body).toBe(received[1]?.body)
      if (of === 'code') return
      // the server did not take the refresh token, so it is sent again
      await tokensAt(scene.as.tokenUrl)
      scene.clock.advance(60)
      expect((await scene.authorize()).body.status).toBe('completed')
    },
  )
})

describe('a grant without a user', () => {
  test.each(onBothDatabases)(
    'has a key for each token, and needs no one when dpop is switched on or off, on %s',
    async (_, optionsOf) => {
      const received: RecordedRequest[] = []
      await using server = await listen(async (req, res) => {
        const request = await record(req)
        received.push(request)
        const token_type = request.headers.dpop === undefined ? 'Bearer' : 'DPoP'
        answerJson(res, 200, { access_token: `t-${received.length}`, token_type, expires_in: 3600 })
      })
      const clock = testClock()
      await using gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
      const request = { endpoint: `${server.url}/token`, auth_method: 'client_secret_basic' }
      const change = (oauth2: object) =>
        gatepass.call('PATCH', '/v1/admin/auth_providers/machine', { oauth2 })
      const callApi = async () => {
        received.length = 0
        const headers = { 'x-gatepass-user': 'u1' }
        const { status } = await gatepass.call('GET', '/proxy/machine/things', undefined, { headers })
        return [status, ...received.map(({ headers }) => headers.authorization?.split(' ')[0])]
      }
      const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
        id: 'machine',
        oauth2: {
          grant: { type: 'client_credentials' },
          client_id: 'machine',
          client_secret: 's3cret',
          token_request: request,
          dpop: {},
          api: { base_url: server.url },
        },
      })
      expect(added.status, JSON.stringify(added.body)).toBe(201)
      const shared = { provider_id: 'machine', owner: 'project', name: 'M', shared_with: { users: ['*'] } }
      expect((await gatepass.call('POST', '/v1/admin/connections', shared)).status).toBe(201)
      expect(await callApi()).toEqual([200, 'DPoP'])
      const jwkOf = (index: number) => decodeProtectedHeader(String(received[index]?.headers.dpop)).jwk
      const first = jwkOf(0)
      clock.advance(3700)
      expect(await callApi()).toEqual([200, 'Basic', 'DPoP'])
      expect(jwkOf(1)).toEqual(jwkOf(0))
      expect(jwkOf(1)).not.toEqual(first)
      await change({ dpop: null })
      expect(await callApi()).toEqual([200, 'Basic', 'Bearer'])
      await change({ dpop: {} })
      expect(await callApi()).toEqual([200, 'Basic', 'DPoP'])
    },
  )
})

const connections = async ({ call }: Scene) =>
  (await call('GET', '/v1/connections')).body.items as { status: string }[]
