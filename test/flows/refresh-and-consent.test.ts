import { describe, expect, test } from 'vitest'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { importEntry, type OAuth2, type Scene, startScene } from './fixtures.ts'
import { asked, connection, LIFE, row, token } from './refresh-fixtures.ts'

/** A refresh that is under way: carried out, and its answer held until `open` is called. */
async function underWay(scene: Scene) {
  scene.clock.advance(LIFE)
  const { opened, open } = gate()
  scene.as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? opened : undefined)
  const fetching = scene.authorize()
  await expect.poll(() => asked(scene)).toBe(1)
  return { open, fetching }
}

const issued = ({ as }: Scene) => as.secrets().filter((secret) => secret.startsWith('at_'))
const revoked = ({ as }: Scene) => as.requestsTo('/revoke').map(({ params }) => params.token)

describe('threat 52: during a refresh', () => {
  test('a deletion wins: what the refresh brings is revoked, and nothing is alive or kept', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate' } })
    await scene.connect()
    const { id } = await connection(scene)
    const { open, fetching } = await underWay(scene)
    expect((await scene.call('DELETE', `/v1/connections/${id}`)).body.revocation).toBe('revoked')
    open()
    expect((await fetching).body).toMatchObject({ status: 'pending', context: {} })
    expect((await scene.call('GET', '/v1/connections')).body.items).toEqual([])
    expect(issued(scene).filter((one) => scene.as.isLive(one))).toEqual([])
    expect(revoked(scene)).toContain(issued(scene).at(-1))
  })

  test('a deletion by another server wins likewise', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate' } })
    await using second = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    const { id } = await connection(scene)
    const { open, fetching } = await underWay(scene)
    await second.call('DELETE', `/v1/connections/${id}`)
    open()
    expect((await fetching).body.status).toBe('pending')
    expect(issued(scene).filter((one) => scene.as.isLive(one))).toEqual([])
  })

  test('a new consent wins: its token is given, and what the refresh brings is dropped', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { open, fetching } = await underWay(scene)
    await scene.connect({ scopes: ['read', 'write'] })
    const consented = await row(scene)
    open()
    const { body } = await fetching
    expect(body).toMatchObject({ status: 'completed' })
    expect(await row(scene)).toMatchObject({
      access: consented.access,
      scopes: expect.arrayContaining(['read', 'write']),
    })
    expect(await token(scene)).toBe(body.context.token)
    // at Google, to revoke one token would end the new consent too
    expect(revoked(scene)).toEqual([])
    expect(scene.as.isLive(body.context.token)).toBe(true)
  })

  test('a deletion and a new consent: the new one is not taken along', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { id } = await connection(scene)
    const { open, fetching } = await underWay(scene)
    await scene.call('DELETE', `/v1/connections/${id}`)
    const { body } = await scene.connect()
    const before = revoked(scene).length
    open()
    await fetching
    expect(revoked(scene)).toHaveLength(before)
    expect(scene.as.isLive(body.context.token)).toBe(true)
    expect(await token(scene)).toBe(body.context.token)
  })

  test('a deletion of the provider entry wins', async () => {
    await using scene = await startScene()
    await scene.connect()
    const { open, fetching } = await underWay(scene)
    await scene.call('DELETE', '/v1/admin/auth_providers/demo')
    open()
    await fetching
    expect(revoked(scene)).toContain(issued(scene).at(-1))
  })
})

describe('threat 53: a refresh', () => {
  test.each([
    ['more', ['read', 'write'], ['read']],
    ['others', ['admin'], []],
    ['more and less', ['read', 'admin'], ['read']],
  ])('that tells of %s than was granted adds nothing', async (_, scopesOnRefresh, expected) => {
    await using scene = await startScene({ as: { scopesOnRefresh } })
    await scene.connect({ scopes: _ === 'more and less' ? ['read', 'write'] : ['read'] })
    scene.clock.advance(LIFE)
    await scene.authorize({ scopes: [] })
    expect((await connection(scene)).scopes).toEqual(expected)
    expect((await scene.authorize({ scopes: ['admin'] })).body.status).toBe('pending')
    expect(scene.gatepass.logLines.some((line) => line.includes('scopes that were not granted'))).toBe(true)
  })

  test('that tells of less leaves less', async () => {
    await using scene = await startScene({ as: { scopesOnRefresh: ['read'] } })
    await scene.connect({ scopes: ['read', 'write'] })
    scene.clock.advance(LIFE)
    await token(scene)
    expect((await connection(scene)).scopes).toEqual(['read'])
  })

  const idToken = (claims: object) => {
    const part = (of: object) => Buffer.from(JSON.stringify(of)).toString('base64url')
    return `${part({ alg: 'none' })}.${part(claims)}.c2ln`
  }
  const ASKS_AGAIN = (scene: Scene): OAuth2 => ({
    user_info_request: {
      endpoint: scene.as.userInfoUrl,
      triggers: { on_token_grant: true, on_token_refresh: true },
    },
  })

  async function expectRefused(scene: Scene) {
    expect((await scene.authorize()).body).toMatchObject({ status: 'pending', context: {} })
    expect(await connection(scene)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'account_changed',
      account: { id: 'u-1' },
    })
    const fresh = issued(scene).at(-1) ?? ''
    expect(revoked(scene)).toContain(fresh)
    expect(scene.as.isLive(fresh)).toBe(false)
  }

  test('whose ID token is of somebody else is refused, not stored, and revoked', async () => {
    await using scene = await startScene()
    await scene.connect()
    const before = await row(scene)
    scene.as.behaviour.tokenMembers = { id_token: idToken({ sub: 'u-2' }) }
    scene.clock.advance(LIFE)
    await expectRefused(scene)
    expect(await row(scene)).toMatchObject({ access: before.access, refresh: before.refresh, generation: 1 })
  })

  test('whose ID token is of the same user is taken', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.as.behaviour.tokenMembers = { id_token: idToken({ sub: 'u-1' }) }
    scene.clock.advance(LIFE)
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })

  test('whose user info is of somebody else is refused and revoked', async () => {
    await using scene = await startScene()
    await scene.connect()
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: ASKS_AGAIN(scene) })
    const account = scene.as.accountOf((await scene.authorize()).body.context.token)
    if (account) account.sub = 'u-2'
    scene.clock.advance(LIFE)
    await expectRefused(scene)
  })

  test('whose user info tells nothing, or cannot be had, is taken', async () => {
    await using scene = await startScene()
    await scene.connect()
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: ASKS_AGAIN(scene) })
    scene.as.behaviour.userInfo = '500'
    scene.clock.advance(LIFE)
    expect(scene.as.isLive(await token(scene))).toBe(true)
    expect(await connection(scene)).toMatchObject({ account: { id: 'u-1' }, status: 'active' })
  })
})

describe('R19: what is begun twice', () => {
  test('for the same user, entry and scopes is one live authorization', async () => {
    await using scene = await startScene()
    const begun = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        scene.authorize({ scopes: i % 2 === 0 ? ['read', 'write'] : ['write', 'read'] }),
      ),
    )
    expect(new Set(begun.map(({ body }) => body.id)).size).toBe(1)
    expect((await scene.authorize({ scopes: ['read'] })).body.id).not.toBe(begun[0]?.body.id)
    expect((await scene.authorize({ user_id: 'u2', scopes: ['read', 'write'] })).body.id).not.toBe(
      begun[0]?.body.id,
    )
  })

  test('as the same entry of tool metadata is one provider', async () => {
    await using scene = await startScene({ oauth2: false })
    const imported = []
    for (let i = 0; i < 3; i++) imported.push(await importEntry(scene.gatepass, scene.as))
    expect(new Set(imported.map(({ body }) => body.items[0].providers[0].id)).size).toBe(1)
    const { body } = await scene.call('GET', '/v1/admin/auth_providers')
    expect(body.items).toHaveLength(1)
  })
})

describe('R20: two consents of one user that end in reverse order', () => {
  async function reversed(scene: Scene, older: readonly string[], newer: readonly string[]) {
    const first = await scene.approve({ scopes: older })
    scene.clock.advance(5)
    const second = await scene.approve({ scopes: newer })
    await second.browser.get(second.callback.href)
    const stands = await row(scene)
    await first.browser.get(first.callback.href)
    return { first, second, stands }
  }

  test('leave the newer one standing; both are completed, and no token is revoked', async () => {
    await using scene = await startScene()
    const { first, second, stands } = await reversed(scene, ['read'], ['read', 'write'])
    expect(await row(scene)).toMatchObject({
      access: stands.access,
      refresh: stands.refresh,
      scopes: ['read', 'write'],
      generation: 1,
    })
    for (const { id } of [first, second])
      expect((await scene.status(id)).body).toMatchObject({ status: 'completed' })
    expect(scene.as.requestsTo('/revoke')).toEqual([])
    const { body } = await scene.authorize({ scopes: ['write'] })
    expect(scene.as.isLive(body.context.token)).toBe(true)
  })

  test('in order: the later one is written over the earlier', async () => {
    await using scene = await startScene()
    await scene.connect({ scopes: ['read'] })
    scene.clock.advance(5)
    await scene.connect({ scopes: ['read', 'write'] })
    expect(await row(scene)).toMatchObject({
      scopes: expect.arrayContaining(['read', 'write']),
      generation: 2,
    })
  })

  test('of two accounts are two connections, whatever the order', async () => {
    await using scene = await startScene()
    const first = await scene.approve({ scopes: ['read'] })
    scene.clock.advance(5)
    scene.as.account = { ...scene.as.account, sub: 'u-2', email: 'bob@example.test' }
    const second = await scene.approve({ scopes: ['write'] })
    await second.browser.get(second.callback.href)
    await first.browser.get(first.callback.href)
    const { body } = await scene.call('GET', '/v1/connections?user_id=u1')
    expect(body.items.map((one: { account: { id: string } }) => one.account.id).sort()).toEqual([
      'u-1',
      'u-2',
    ])
  })
})
