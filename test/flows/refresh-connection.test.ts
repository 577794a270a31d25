import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openAttemptSecrets } from '../../src/flows/attempt-secrets.ts'
import { refreshNow } from '../../src/flows/console/refresh-now.ts'
import { sealingContext } from '../../src/store/protected-tables.ts'
import { type Behaviour, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { shortest } from '../shortest.ts'
import { defined } from '../store/fixtures.ts'
import { announce, envelopesOf, flipped, overwrite } from '../store/sealed-installation.ts'
import { authorize, click, oauth2For, type Scene, startScene } from './fixtures.ts'
import { connection, LIFE, row, token } from './refresh-fixtures.ts'

describe('a storm', () => {
  test('R1: 100 fetches of one expired token: one refresh request, 100 answers, one token', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict', refreshDelayMs: 30 } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE)
    const id = (await connection(scene)).id
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, i) =>
        i % 2 === 0
          ? await token(scene)
          : (await scene.call('POST', `/v1/connections/${id}/token`)).body.access_token,
      ),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).not.toBe(old)
    expect(scene.as.isLive(answers[0])).toBe(true)
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('R2: two servers on one file still make one refresh request', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict', refreshDelayMs: 100 } })
    const { databasePath } = scene.gatepass
    await using second = await startGatepass({ now: scene.clock, databasePath })
    await scene.connect()
    for (let round = 1; round <= 3; round++) {
      scene.clock.advance(LIFE)
      const answers = await Promise.all(
        Array.from({ length: 40 }, async (_, i) => authorize(i % 2 === 0 ? scene.gatepass : second)),
      )
      const tokens = new Set(answers.map(({ body }) => body.context.token))
      expect(tokens.size).toBe(1)
      expect(scene.as.isLive([...tokens][0])).toBe(true)
      expect(scene.as.tokenRequests('refresh_token')).toHaveLength(round)
    }
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('R2: a server that waits for the refresh of another gives its token, without a request of its own', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await using second = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    scene.clock.advance(LIFE)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? opened : undefined)
    const first = scene.authorize()
    await expect.poll(() => scene.as.tokenRequests('refresh_token').length).toBe(1)
    const waiting = authorize(second)
    await new Promise((resolve) => setTimeout(resolve, 300))
    open()
    const [one, other] = await Promise.all([first, waiting])
    expect(other.body.context.token).toBe(one.body.context.token)
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
  })

  test('R2: a refusal that comes late, while another server refreshes with the same token, changes nothing', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate' } })
    await using second = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    scene.clock.advance(LIFE)
    const [late, carriedOut] = [gate(), gate()]
    const moments: string[] = []
    scene.as.behaviour.onRefresh = (moment) => {
      moments.push(moment)
      if (moments.length === 1) return late.opened // the request of the first server
      return moment === 'carried out' ? carriedOut.opened : undefined
    }
    const first = scene.authorize()
    await expect.poll(() => moments).toEqual(['arrived'])
    scene.clock.advance(26) // its lease runs out
    const other = authorize(second)
    await expect.poll(() => moments).toEqual(['arrived', 'arrived', 'carried out'])
    scene.as.behaviour.onRefresh = undefined
    late.open() // refused, since the token has been used by now
    await expect.poll(() => scene.as.refreshReuses.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(await connection(scene)).toMatchObject({ status: 'active' })
    carriedOut.open()
    const [one, two] = await Promise.all([first, other])
    expect(two.body.context.token).toBeDefined()
    expect(one.body.context.token).toBe(two.body.context.token)
    const { body } = await scene.call('GET', '/v1/admin/audit?action=connection.needs_authorization')
    expect(body.items).toEqual([])
  })

  test('R2: a caller whose token has not expired does not wait long for a server that died', async () => {
    await using scene = await startScene()
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 50)
    const { store } = scene.gatepass.broker
    const { id } = await connection(scene)
    await store.connections.claimRefresh(id, 1, { owner: 'dead', seconds: 25 }, scene.clock())
    const began = performance.now()
    expect(await token(scene)).toBe(old)
    const waited = performance.now() - began
    expect(waited).toBeLessThan(15_000)
    const fetching = async () => expect(await token(scene)).toBe(old)
    expect(await shortest(fetching, waited / 2)).toBeLessThan(waited / 2)
    scene.clock.advance(25)
    expect(await token(scene)).not.toBe(old)
  })

  test('what one server deletes, the other no longer gives', async () => {
    await using scene = await startScene()
    await using second = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    expect((await authorize(second)).body.status).toBe('completed')
    await scene.call('DELETE', `/v1/connections/${(await connection(scene)).id}`)
    expect((await authorize(second)).body.status).toBe('pending')
  })
})

describe('a refresh', () => {
  test.each([
    [3600, 60],
    [100, 10],
  ])('of a life of %i s comes %i s before its end, not earlier', async (life, margin) => {
    await using scene = await startScene({ as: { accessTokenLifetime: life } })
    const first = (await scene.connect()).body.context.token
    scene.clock.advance(life - margin - 1)
    expect(await token(scene)).toBe(first)
    expect(scene.as.tokenRequests('refresh_token')).toEqual([])
    scene.clock.advance(1)
    const second = await token(scene)
    expect(second).not.toBe(first)
    expect(scene.as.accountOf(second)).toMatchObject({ sub: 'u-1' })
    expect((await scene.authorize()).body.context.user_info).toEqual(scene.as.account)
  })

  test.each(['static', 'rotate', 'rotate-strict', 'rotate-grace'] as const)(
    'of a server in mode %s works again and again',
    async (refresh) => {
      await using scene = await startScene({ as: { refresh } })
      const tokens = [(await scene.connect()).body.context.token]
      for (let times = 0; times < 3; times++) {
        scene.clock.advance(LIFE)
        tokens.push(await token(scene))
      }
      expect(new Set(tokens).size).toBe(4)
      expect(scene.as.refreshReuses).toEqual([])
      const sent = scene.as.tokenRequests('refresh_token').map(({ params }) => params.refresh_token)
      expect(new Set(sent).size).toBe(refresh === 'static' ? 1 : 3)
    },
  )

  test('R5: whose answer has no refresh token keeps the stored one', async () => {
    await using scene = await startScene({ as: { omitRefreshTokenOnRefresh: true } })
    await scene.connect()
    for (let times = 0; times < 2; times++) {
      scene.clock.advance(LIFE)
      await token(scene)
    }
    const [first, second] = scene.as.tokenRequests('refresh_token')
    expect(second?.params.refresh_token).toBe(first?.params.refresh_token)
  })

  test('that grants less leaves what is left; a need for the rest asks again', async () => {
    await using scene = await startScene({ as: { scopesOnRefresh: ['read'] } })
    await scene.connect({ scopes: ['read', 'write'] })
    scene.clock.advance(LIFE)
    await token(scene)
    expect((await connection(scene)).scopes).toEqual(['read'])
    expect((await scene.authorize({ scopes: ['write'] })).body.status).toBe('pending')
  })

  test('that grants less than the caller needs releases no token to it', async () => {
    await using scene = await startScene({ as: { scopesOnRefresh: ['read'] } })
    await scene.connect({ scopes: ['read', 'write'] })
    scene.clock.advance(LIFE)
    const { body } = await scene.authorize({ scopes: ['read', 'write'] })
    expect(body).toMatchObject({ status: 'pending', scopes: ['read', 'write'], context: {} })
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    expect((await connection(scene)).scopes).toEqual(['read'])
  })

  test('of one account leaves the other alone', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await scene.connect()
    scene.as.account = { ...scene.as.account, sub: 'u-2', email: 'bob@example.test' }
    await click((await scene.authorize({ account: 'new' })).body.url)
    scene.clock.advance(LIFE)
    for (const sub of ['u-1', 'u-2']) {
      const { body } = await scene.authorize({ account: sub })
      expect(scene.as.accountOf(body.context.token)).toMatchObject({ sub })
    }
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(2)
  })

  test('of a connection that is deleted meanwhile: the new token is revoked, not stored', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { id } = await connection(scene)
    scene.clock.advance(LIFE)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? opened : undefined)
    const fetching = scene.authorize()
    await expect.poll(() => scene.as.tokenRequests('refresh_token').length).toBe(1)
    const deleting = scene.call('DELETE', `/v1/connections/${id}`)
    await expect.poll(async () => (await scene.call('GET', '/v1/connections')).body.items).toEqual([])
    open()
    await deleting
    expect((await fetching).body).toMatchObject({ status: 'pending', context: {} })
    expect((await scene.call('GET', '/v1/connections')).body.items).toEqual([])
    const revoked = scene.as.requestsTo('/revoke').map(({ params }) => params.token ?? '')
    const issued = scene.as.secrets().filter((secret) => secret.startsWith('at_'))
    expect(issued.filter((one) => !revoked.includes(one) && scene.as.isLive(one))).toEqual([])
  })
})

const PASSING: readonly Behaviour['refresh'][] = [
  '503',
  '429',
  'html-500',
  'invalid_request',
  'invalid_client',
]

describe('a refresh that fails', () => {
  test.each([...PASSING, 'refuse', 'refuse-403'] as const)(
    'with %s while the token lives answers with the token',
    async (refresh) => {
      await using scene = await startScene({ as: { refresh } })
      const old = (await scene.connect()).body.context.token
      scene.clock.advance(LIFE - 50)
      expect(await token(scene)).toBe(old)
      expect(await token(scene)).toBe(old) // and does not ask again at once
      expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
      expect((await connection(scene)).status).toBe('active')
      if (refresh.startsWith('refuse')) return
      scene.as.behaviour.refresh = 'static'
      scene.clock.advance(30)
      expect(await token(scene)).not.toBe(old)
    },
  )

  test('R7: by never answering does so too, and does not hold up who comes later', async () => {
    await using scene = await startScene({ as: { refresh: 'hang' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 50)
    expect(await Promise.all([token(scene), token(scene)])).toEqual([old, old])
    expect(await token(scene)).toBe(old)
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
  })

  test.each([
    ['503', 503, 'provider_unavailable'],
    ['429', 503, 'provider_unavailable'],
    ['html-500', 503, 'provider_unavailable'],
    ['invalid_request', 502, 'token_request_refused'],
    ['invalid_client', 502, 'token_request_refused'],
  ] as const)('with %s after its end: %i %s, and the connection stays', async (refresh, status, name) => {
    await using scene = await startScene({ as: { refresh, retryAfter: '7' } })
    const { id: authorization } = (await scene.connect()).body
    const { id } = await connection(scene)
    scene.clock.advance(LIFE)
    const answers = [
      await scene.authorize(),
      await scene.call('POST', `/v1/connections/${id}/token`),
      await scene.status(authorization),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status, body: { name } })
      const after = Number(answer.headers.get('retry-after'))
      // what the provider asks for is spread by up to a fifth
      if (status === 503) expect(refresh === '429' ? [7, 8] : [5]).toContain(after)
    }
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    expect((await connection(scene)).status).toBe('active')
    scene.as.behaviour.refresh = 'static'
    scene.clock.advance(8)
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })

  test.each<[string, string, number, number]>([
    ['seconds', '100', 100, 120],
    ['a date', 'date', 100, 120],
    ['more than five minutes', '86400', 300, 360],
    ['nothing', '0', 1, 1],
    ['nonsense', 'soon', 5, 5],
  ])(
    'R6: with 429 and Retry-After in %s is left alone for so long, by all of the entry',
    async (_, told, least, most) => {
      await using scene = await startScene({ as: { refresh: '429' } })
      await scene.connect()
      await scene.connect({ user_id: 'u2' })
      scene.as.behaviour.retryAfter =
        told === 'date' ? new Date((scene.clock() + LIFE + 100) * 1000).toUTCString() : told
      scene.clock.advance(LIFE)
      const after = Number((await scene.authorize()).headers.get('retry-after'))
      expect(after).toBeGreaterThanOrEqual(least)
      expect(after).toBeLessThanOrEqual(most)
      scene.as.behaviour.refresh = 'static'
      const others = await scene.authorize({ user_id: 'u2' })
      expect(others.status).toBe(told === 'soon' ? 200 : 503)
      scene.clock.advance(after - 1)
      if (after > 1) expect((await scene.authorize()).status).toBe(503)
      scene.clock.advance(1)
      expect(scene.as.isLive(await token(scene))).toBe(true)
      expect((await scene.authorize({ user_id: 'u2' })).status).toBe(200)
    },
  )

  test('R6: with 503 and Retry-After is left alone for so long, and others of the entry are not', async () => {
    await using scene = await startScene({ as: { refresh: '503-later', retryAfter: '100' } })
    const old = (await scene.connect()).body.context.token
    await scene.connect({ user_id: 'u2' })
    scene.clock.advance(LIFE - 50)
    expect(await token(scene)).toBe(old)
    scene.as.behaviour.refresh = 'static'
    expect((await scene.authorize({ user_id: 'u2' })).status).toBe(200)
    scene.clock.advance(49)
    expect(await token(scene)).toBe(old)
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(2)
    scene.clock.advance(1)
    expect((await scene.authorize()).status).toBe(503)
    scene.clock.advance(70)
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })

  test('is tried again at once when the clock was set back, which would lengthen the pause', async () => {
    await using scene = await startScene({ as: { refresh: '503-later', retryAfter: '100' } })
    await scene.connect()
    scene.clock.advance(LIFE + 60)
    expect((await scene.authorize()).status).toBe(503)
    scene.as.behaviour.refresh = 'static'
    scene.clock.advance(-30)
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })

  test('R3: for all who share it is tried again by the next, not stuck', async () => {
    await using scene = await startScene({ as: { refresh: 'invalid_client', refreshDelayMs: 30 } })
    await scene.connect()
    scene.clock.advance(LIFE)
    const answers = await Promise.all(Array.from({ length: 20 }, () => scene.authorize()))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([502]))
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    expect(scene.gatepass.broker.refreshes.running.size).toBe(0)
    scene.as.behaviour.refresh = 'static'
    expect((await scene.authorize()).status).toBe(502)
    scene.clock.advance(5)
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })

  test.each<[string, Partial<Behaviour>]>([
    ['invalid_grant', { refresh: 'refuse' }],
    ['invalid_grant with 403', { refresh: 'refuse-403' }],
    ['invalid_grant with 200', { refresh: 'refuse', errorsWith200: true }],
    ['invalid_grant in a form', { refresh: 'refuse', tokenFormat: 'form' }],
  ])('with %s after its end asks for a new consent, with a link', async (_, behaviour) => {
    await using scene = await startScene({ as: behaviour })
    await scene.connect({ scopes: ['read', 'write'] })
    const { id } = await connection(scene)
    scene.clock.advance(LIFE)
    const begun = await scene.authorize({ scopes: ['read'] })
    expect(begun.body).toMatchObject({ status: 'pending', scopes: ['read', 'write'], context: {} })
    expect(await connection(scene)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'refresh_refused',
    })
    expect(await scene.call('POST', `/v1/connections/${id}/token`)).toMatchObject({
      status: 403,
      body: { name: 'authorization_required' },
    })
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    await click(begun.body.url)
    expect(await connection(scene)).toMatchObject({ id, status: 'active' })
    expect((await connection(scene)).status_reason).toBeUndefined()
  })

  test('because the grant was revoked by the user likewise', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.as.revokeGrants()
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('pending')
  })

  test('because the client secret was altered in the database is 503 until it is set again, and costs no consent', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { broker, databasePath } = scene.gatepass
    const isSecret = ({ context }: { context: { column: string } }) => context.column === 'client_secret'
    const secret = defined((await envelopesOf(broker)).find(isSecret))
    overwrite(databasePath, secret, flipped(secret.sealed))
    announce(databasePath, { noun: 'provider' })
    scene.clock.advance(LIFE)
    expect(await scene.authorize()).toMatchObject({ status: 503, body: { name: 'store_unavailable' } })
    expect(await row(scene)).toMatchObject({ status: 'active', unansweredRefreshes: 0 })
    expect(scene.as.tokenRequests('refresh_token')).toEqual([])
    expect(await scene.authorize({ user_id: 'u2' })).toMatchObject({ status: 503 }) // begins no authorization
    const answered = scene.gatepass.logLines.filter((line) => line.includes('"message":"answered"'))
    expect(answered.map((line) => JSON.parse(line).status)).toEqual([503, 503])

    const again = { oauth2: { client_secret: scene.as.clientSecret } }
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', again)).status).toBe(200)
    scene.clock.advance(10) // past the cool-down
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })
})

describe('a token that cannot be refreshed', () => {
  test.each([
    ['the entry has no refresh_request', { refresh_request: null }, {}],
    ['there is no refresh token', {}, { omitRefreshToken: true }],
  ])('because %s is used to its end, then asks for a new consent', async (_, oauth2, as) => {
    await using scene = await startScene({ oauth2, as })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 1)
    expect(await token(scene)).toBe(old)
    scene.clock.advance(1)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(await connection(scene)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'token_expired',
    })
    expect(scene.as.tokenRequests('refresh_token')).toEqual([])
  })

  test.each(['has expired', 'cannot be decrypted'])(
    'because it %s: a consent that ends meanwhile wins',
    async (what) => {
      await using scene = await startScene({ as: { omitRefreshToken: true } })
      await scene.connect()
      scene.clock.advance(LIFE - 10)
      const { browser, callback } = await scene.approve({ account: 'new' })
      const { broker, databasePath } = scene.gatepass
      if (what === 'has expired') scene.clock.advance(10)
      else {
        const access = defined((await envelopesOf(broker)).find(({ context }) => context.column === 'access'))
        overwrite(databasePath, access, flipped(access.sealed))
        announce(databasePath, { noun: 'connection', id: access.rowId, owner: await row(scene) })
      }
      const { connections } = broker.store
      const { needsAuthorization } = connections
      Object.assign(connections, {
        needsAuthorization: async (...asked: Parameters<typeof needsAuthorization>) => {
          Object.assign(connections, { needsAuthorization })
          await browser.get(callback)
          return needsAuthorization(...asked)
        },
      })
      expect(scene.as.isLive(await token(scene))).toBe(true)
      expect(await connection(scene)).toMatchObject({ status: 'active' })
    },
  )

  test('because its lifetime is unknown is still released after ten years', async () => {
    await using scene = await startScene({ as: { tokenFormat: 'no-expiry' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(10 * 365 * 86_400)
    expect(await token(scene)).toBe(old)
    expect(await connection(scene)).not.toHaveProperty('expires_at')
  })
})

describe('an entry that is changed', () => {
  test('to another client id: a new consent, and no token of the old one is sent', async () => {
    await using scene = await startScene()
    await scene.connect()
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { client_id: 'another' } })
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(await connection(scene)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'provider_changed',
    })
    expect(scene.as.tokenRequests('refresh_token')).toEqual([])
  })

  test.each([
    'authorize_request',
    'token_request',
    'refresh_request',
    'user_info_request',
    'revocation_request',
    'token_introspection_request',
  ] as const)('to another host in %s: no token that was issued before reaches it', async (block) => {
    await using scene = await startScene()
    const evil = await startFakeAuthorizationServer()
    await scene.connect()
    const { id } = await connection(scene)
    const theirs: Record<string, unknown> = {
      ...oauth2For(evil),
      token_introspection_request: {
        endpoint: evil.introspectionUrl,
        params: { token: '{{access_token}}' },
        triggers: { on_token_grant: true, on_token_refresh: true },
      },
      user_info_request: {
        endpoint: evil.userInfoUrl,
        triggers: { on_token_grant: true, on_token_refresh: true },
      },
    }
    const patched = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: { [block]: theirs[block] },
    })
    expect(patched.status).toBe(200)
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect((await scene.call('DELETE', `/v1/connections/${id}`)).body.revocation).toBe('failed')
    expect(evil.requests).toEqual([])
    await evil.close()
  })

  const patch = (scene: Scene, body: object) => scene.call('PATCH', '/v1/admin/auth_providers/demo', body)

  test.each<[string, (as: Scene['as']) => object]>([
    ['to another path on the same host', (as) => ({ token_request: { endpoint: `${as.url}/elsewhere` } })],
    [
      'so that two endpoints swap their roles',
      (as) => ({
        token_request: { endpoint: as.revocationUrl },
        refresh_request: { endpoint: as.revocationUrl },
        revocation_request: { endpoint: as.tokenUrl },
      }),
    ],
    [
      'to another path for refresh tokens',
      (as) => ({ refresh_request: { endpoint: `${as.url}/elsewhere` } }),
    ],
  ])('%s: a new consent, and no token of the old one is sent', async (_, oauth2) => {
    await using scene = await startScene()
    await scene.connect()
    const before = scene.as.requests.length
    expect((await patch(scene, { oauth2: oauth2(scene.as) })).status).toBe(200)
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(await connection(scene)).toMatchObject({ status_reason: 'provider_changed' })
    expect(scene.as.requests).toHaveLength(before)
  })

  test('gets no token by an operator who refreshes now either, nor while it is switched off', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { broker } = scene.gatepass
    await patch(scene, { status: 'inactive' })
    scene.clock.advance(LIFE)
    await expect(refreshNow(broker, await row(scene))).rejects.toMatchObject({ code: 'provider_inactive' })
    const refresh_request = { endpoint: `${scene.as.url}/elsewhere` }
    expect((await patch(scene, { status: 'active', oauth2: { refresh_request } })).status).toBe(200)
    const before = scene.as.requests.length
    for (let times = 0; times < 2; times++)
      expect(await refreshNow(broker, await row(scene))).toEqual({ outcome: 'authorization_required' })
    expect(await connection(scene)).toMatchObject({ status_reason: 'provider_changed' })
    expect(scene.as.requests).toHaveLength(before)
  })

  test('keeps its connections where an administrator says so, on record', async () => {
    await using scene = await startScene()
    await scene.connect()
    const refresh_request = { endpoint: `${scene.as.url}/elsewhere` }
    await patch(scene, { keep_connections: true, oauth2: { refresh_request } })
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).body.status).toBe('completed')
    expect(scene.as.requestsTo('/elsewhere')).toHaveLength(1)
    const kept = await scene.call('GET', '/v1/admin/audit?action=provider.connections_kept')
    expect(kept.body.items).toMatchObject([{ provider_id: 'demo', actor: { kind: 'api_key' } }])
    // nothing was to be kept: nothing is on record
    await patch(scene, { keep_connections: true, description: 'Ours' })
    const again = await scene.call('GET', '/v1/admin/audit?action=provider.connections_kept')
    expect(again.body.items).toHaveLength(1)
  })

  const elsewhere = ({ as }: Scene) => ({
    keep_connections: true,
    oauth2: { refresh_request: { endpoint: `${as.url}/elsewhere` } },
  })

  test.each<[string, (scene: Scene) => object]>([
    ['to another endpoint, keeping its connections,', elsewhere],
    ['in members that are not part of its identity', () => ({ description: 'Ours' })],
  ])('%s during a refresh: the new token is released', async (_, change) => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await scene.connect()
    const { id } = await connection(scene)
    scene.clock.advance(LIFE)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? opened : undefined)
    const fetches = [scene.authorize(), scene.call('POST', `/v1/connections/${id}/token`)] as const
    await expect.poll(() => scene.as.tokenRequests('refresh_token').length).toBe(1)
    expect((await patch(scene, change(scene))).status).toBe(200)
    open()
    const [authorized, fetched] = await Promise.all(fetches)
    expect(authorized.body).toMatchObject({ status: 'completed' })
    expect(fetched).toMatchObject({ status: 200, body: { access_token: authorized.body.context.token } })
    expect(scene.as.isLive(fetched.body.access_token)).toBe(true)
    expect(await connection(scene)).toMatchObject({ id, status: 'active' })
  })

  test('keeps its connections also where a server has not heard of the change yet', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { broker } = scene.gatepass
    const entries = await broker.cache.providers.of((await row(scene)).projectId)
    await patch(scene, elsewhere(scene))
    const { providers } = broker.cache
    Object.assign(broker.cache, { providers: { ...providers, of: () => entries } })
    expect(await token(scene)).toBeDefined()
    Object.assign(broker.cache, { providers })
    expect(await connection(scene)).toMatchObject({ status: 'active' })
  })

  test('keeps a connection that an operator’s refresh has read before', async () => {
    await using scene = await startScene()
    await scene.connect()
    const before = await row(scene)
    await patch(scene, elsewhere(scene))
    scene.clock.advance(LIFE)
    expect(await refreshNow(scene.gatepass.broker, before)).toMatchObject({ outcome: 'usable' })
    expect(scene.as.requestsTo('/elsewhere')).toHaveLength(1)
    expect(await connection(scene)).toMatchObject({ status: 'active' })
  })

  test('by a start of this version keeps the connections of the former rule, the set of hosts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-upgrade-'))
    const databasePath = join(folder, 'gatepass.db')
    await using scene = await startScene({ gatepass: { databasePath } })
    await scene.connect()
    await scene.connect({ user_id: 'u2' })
    const [one, two] = (await scene.call('GET', '/v1/connections')).body.items
    await scene.gatepass.close()
    const database = new Database(databasePath)
    const set = database.prepare('update connections set provider_identity = ? where id = ?')
    set.run(byHosts(scene, scene.as.clientId), one.id)
    set.run(byHosts(scene, 'another-client'), two.id)
    database.close()

    await using upgraded = await startGatepass({ now: scene.clock, databasePath })
    scene.clock.advance(LIFE)
    expect((await authorize(upgraded, { user_id: one.user_id })).body.status).toBe('completed')
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    // of another client: the entry never had this connection with its present client
    expect((await authorize(upgraded, { user_id: two.user_id })).body.status).toBe('pending')
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    await rm(folder, { recursive: true, force: true })
  })

  test.each([
    ['the set of hosts', (scene: Scene) => byHosts(scene, scene.as.clientId), 'completed'],
    ['the set of hosts, for another client', (scene: Scene) => byHosts(scene, 'another-client'), 'failed'],
  ] as const)(
    'by an upgrade while users are at the provider: the former rule was %s',
    async (_, rule, status) => {
      await using scene = await startScene()
      const { id, browser, callback } = await scene.approve()
      const { broker, databasePath } = scene.gatepass
      const authorization = await broker.store.authorizations.find(id)
      if (authorization?.status !== 'pending' || authorization.attempt === undefined)
        throw new Error('there is no attempt')
      const secrets = openAttemptSecrets(broker, authorization, authorization.attempt)
      const former = JSON.stringify({ ...secrets, providerIdentity: rule(scene), redirectUri: undefined })
      const database = new Database(databasePath)
      database
        .prepare('update authorizations set secrets = ? where id = ?')
        .run(broker.sealer.seal(former, sealingContext('authorizations', 'secrets', authorization)), id)
      database.close()
      await browser.follow(callback)
      expect((await scene.status(id)).body).toMatchObject({ status })
      expect(scene.as.tokenRequests('authorization_code')).toHaveLength(status === 'completed' ? 1 : 0)
    },
  )

  test('in members that are not part of its identity keeps its connections', async () => {
    await using scene = await startScene()
    const old = (await scene.connect()).body.context.token
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      description: 'Ours',
      oauth2: { scope_delimiter: ',', client_secret: scene.as.clientSecret },
    })
    expect(await token(scene)).toBe(old)
  })
})

/** The identity of the provider entry by the rule of 0.1.0. */
function byHosts({ as }: Scene, client: string): string {
  return createHash('sha256')
    .update(JSON.stringify([[new URL(as.url).host], client]))
    .digest('base64url')
}
