import { afterEach, describe, expect, test } from 'vitest'
import { builtIn } from '../../src/providers/catalogue/registry.ts'
import { readGrant } from '../../src/providers/grant.ts'
import { click, oauth2For, type Scene, startScene } from './fixtures.ts'

let scene: Scene
afterEach(() => scene?.[Symbol.asyncDispose]())

const connections = async () =>
  (await scene.call('GET', '/v1/connections?user_id=u1')).body.items.map(
    (one: { id: string; account: { id: string }; default: boolean }) => one,
  )

describe('a provider that does not name the account', () => {
  test('one more is one more, and each goes on being itself', async () => {
    scene = await startScene({ oauth2: { user_info_request: null } })
    await scene.connect()
    await click((await scene.authorize({ account: 'new' })).body.url)
    const [first, second] = await connections()
    expect(await connections()).toHaveLength(2)
    expect([first.default, second.default]).toEqual([true, false])

    // more scopes for the second leave the first alone
    await click((await scene.authorize({ account: second.id, scopes: ['write'] })).body.url)
    const after = await connections()
    expect(after.map((one: { id: string }) => one.id)).toEqual([first.id, second.id])
    expect(after[1].scopes).toContain('write')
    expect(after[0].scopes).not.toContain('write')
  })

  test('another consent renews the connection there is', async () => {
    scene = await startScene({ oauth2: { user_info_request: null } })
    await scene.connect()
    await scene.connect({ scopes: ['write'] })
    expect(await connections()).toHaveLength(1)
  })

  test('and does so later, names the connection that was asked for, and no other', async () => {
    scene = await startScene({ oauth2: { user_info_request: null } })
    await scene.connect()
    await click((await scene.authorize({ account: 'new' })).body.url)
    const [first, second] = await connections()
    const { user_info_request } = oauth2For(scene.as)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { user_info_request } })
    await click((await scene.authorize({ account: second.id, scopes: ['write'] })).body.url)
    expect(await connections()).toMatchObject([
      { id: first.id, account: { id: '' }, scopes: ['read'] },
      { id: second.id, account: { id: 'u-1' } },
    ])
  })
})

test('the connections of a provider that is switched off are listed all the same', async () => {
  scene = await startScene()
  await scene.connect()
  await scene.call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })
  expect(await scene.call('GET', '/v1/connections?provider_id=demo')).toMatchObject({
    status: 200,
    body: { total_count: 1 },
  })
})

test('a connection that needs the user again says why, by its id as an authorization', async () => {
  scene = await startScene({ as: { accessTokenLifetime: 100 } })
  await scene.connect()
  const { id } = (await scene.authorize()).body
  scene.as.behaviour.refresh = 'refuse'
  scene.clock.advance(101)
  expect((await scene.status(id)).body).toMatchObject({ id, status: 'failed', reason: 'invalid_grant' })
})

/** Connects the user at a provider whose tokens live for 100 seconds and whose user info follows each refresh. */
async function connectAskingAgain(): Promise<void> {
  scene = await startScene({ as: { accessTokenLifetime: 100 } })
  await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: {
      user_info_request: {
        ...Object(oauth2For(scene.as).user_info_request),
        triggers: { on_token_refresh: true },
      },
    },
  })
  await scene.connect()
}

test('user info that comes late after a refresh does not lengthen the life of the token', async () => {
  await connectAskingAgain()
  scene.clock.advance(95)
  const refreshedAt = scene.clock()
  scene.as.behaviour.onUserInfo = () => scene.clock.advance(9)
  expect((await scene.authorize()).body.status).toBe('completed')
  expect(scene.clock()).toBe(refreshedAt + 9)
  const { items } = (await scene.call('GET', '/v1/connections?user_id=u1')).body
  expect(Date.parse(items[0].expires_at) / 1000).toBe(refreshedAt + 100)
})

test('user info asked for again after a refresh is kept, and its failure is not missed', async () => {
  await connectAskingAgain()
  const asked = () => scene.as.requestsTo('/userinfo').length
  const before = asked()
  scene.clock.advance(95)
  expect((await scene.authorize()).body.context.user_info).toEqual(scene.as.account)
  expect(asked()).toBe(before + 1)

  scene.as.behaviour.userInfo = '500'
  scene.clock.advance(95)
  expect((await scene.authorize()).body).toMatchObject({
    status: 'completed',
    context: { user_info: scene.as.account },
  })
  expect(asked()).toBe(before + 2)
  expect(scene.as.tokenRequests('refresh_token')).toHaveLength(2)
})

test('scopes that Google lists under their long names count as those it was asked for', () => {
  const scope = 'openid https://www.googleapis.com/auth/userinfo.email'
  const granted = {
    tokens: { access_token: 'at', token_type: 'bearer', scope },
    claims: undefined,
    extra: {},
  }
  const google = builtIn('google')?.provider
  if (google === undefined) throw new Error('Google is not in the catalogue')
  expect(readGrant({ provider: google, client: { clientId: 'c' } }, granted).scopes).toEqual([
    ...scope.split(' '),
    'email',
  ])
})

test('an account is stored without characters that a database refuses', async () => {
  scene = await startScene()
  const email = `${'x'.repeat(199)}\u{1F600}` // the cut after 200 halves it
  scene.as.account = { ...scene.as.account, sub: 'u\0-\ud800', email }
  await scene.connect()
  expect((await connections())[0].account).toEqual({
    id: 'u -\ufffd',
    name: `${'x'.repeat(199)}\ufffd`,
  })
})

test('another account than the one that was asked for stores nothing', async () => {
  scene = await startScene()
  await scene.connect()
  const asked = (await scene.authorize({ account: 'ada@example.test', scopes: ['write'] })).body
  scene.as.account = { ...scene.as.account, sub: 'u-2', email: 'bob@example.test' }
  await click(asked.url)
  expect((await scene.status(asked.id)).body).toMatchObject({ status: 'failed', reason: 'account_mismatch' })
  expect((await connections()).map((one: { account: { id: string } }) => one.account.id)).toEqual(['u-1'])
  expect(scene.as.requestsTo('/revoke').length).toBeGreaterThan(0)
})

test.each([{}, { account: 'u-1' }, { account: 'bob@example.test' }])(
  'user info that fails at a consent replaces no account’s tokens: %o',
  async (need) => {
    scene = await startScene()
    await scene.connect()
    const asked = (await scene.authorize({ ...need, scopes: ['write'] })).body
    scene.as.account = { ...scene.as.account, sub: 'u-2', email: 'bob@example.test' }
    scene.as.behaviour.userInfo = '500'
    await click(asked.url)
    expect((await scene.status(asked.id)).body).toMatchObject({
      status: 'failed',
      reason: 'provider_bad_response',
      message: expect.stringMatching(/did not say which account approved/),
    })
    expect(await connections()).toMatchObject([{ account: { id: 'u-1' }, scopes: ['read'] }])
    expect(scene.as.requestsTo('/revoke')).toEqual([])
  },
)

test('another account than the one that was asked for, which is connected too, stays connected', async () => {
  scene = await startScene()
  await scene.connect()
  const ada = scene.as.account
  scene.as.account = { ...ada, sub: 'u-2', email: 'bob@example.test' }
  await click((await scene.authorize({ account: 'new' })).body.url)
  const asked = (await scene.authorize({ account: 'u-1', scopes: ['write'] })).body
  await click(asked.url)
  expect((await scene.status(asked.id)).body).toMatchObject({ status: 'failed', reason: 'account_mismatch' })
  expect(await connections()).toMatchObject([{ status: 'active' }, { status: 'active' }])
  expect(scene.as.requestsTo('/revoke')).toEqual([])
})

test('two first consents of one account that finish together are one connection', async () => {
  scene = await startScene()
  const first = await scene.approve({ scopes: ['read'] })
  const second = await scene.approve({ scopes: ['write'] })
  await Promise.all([first, second].map(({ browser, callback }) => browser.follow(callback)))
  for (const { id } of [first, second]) expect((await scene.status(id)).body.status).toBe('completed')
  expect(await connections()).toHaveLength(1)
})
