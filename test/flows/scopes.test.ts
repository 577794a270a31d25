import { describe, expect, test } from 'vitest'
import { startFakeWorker } from '../fake-worker.ts'
import { oauthEntry, metadata as toolWith } from '../http/world.ts'
import { click, type Scene, startScene } from './fixtures.ts'

const BOTH = ['public_repo', 'repo']

async function scopesOf(scene: Scene): Promise<readonly string[]> {
  return (await scene.call('GET', '/v1/connections?user_id=u1')).body.items[0].scopes
}

describe('where the token response names no scope', () => {
  const silent = { tokenFormat: 'no-scope' } as const

  test('what was asked for counts, whatever the browser brings back', async () => {
    await using scene = await startScene({ as: silent })
    const { browser, callback } = await scene.approve({ scopes: ['read', 'write'] })
    callback.searchParams.set('scope', 'read admin')
    await browser.get(callback.href)
    expect(await scopesOf(scene)).toEqual(['read', 'write'])
  })

  test('an entry may believe the authorization response, which takes scopes away and never adds any', async () => {
    await using scene = await startScene({ as: silent, oauth2: { callback_tells_scopes: true } })
    const { browser, callback } = await scene.approve({ scopes: ['read', 'write'] })
    callback.searchParams.set('scope', 'read,admin')
    await browser.get(callback.href)
    expect(await scopesOf(scene)).toEqual(['read'])
    expect((await scene.authorize({ scopes: ['admin'] })).body.status).toBe('pending')
  })

  test('an entry that believes the authorization response counts all when it says nothing', async () => {
    await using scene = await startScene({ as: silent, oauth2: { callback_tells_scopes: true } })
    await scene.connect({ scopes: ['read', 'write'] })
    expect(await scopesOf(scene)).toEqual(['read', 'write'])
  })
})

describe('a server that lists scopes otherwise than it was asked for them', () => {
  const normalising = { grantedScopes: ['repo'] } as const
  const implies = { scope_implies: { repo: ['public_repo', 'status'], status: ['deep'] } }

  test.each([
    ['by one that includes them', normalising, implies, ['public_repo', 'deep']],
    [
      'by another name',
      { grantedScopes: ['https://example.test/email'] },
      { scope_aliases: { email: 'https://example.test/email' } },
      ['email'],
    ],
    [
      'by another name of one that includes them',
      { grantedScopes: ['https://example.test/all'] },
      { scope_aliases: { all: 'https://example.test/all' }, scope_implies: { all: ['some'] } },
      ['some', 'https://example.test/all'],
    ],
  ])('%s is asked for consent once', async (_, as, oauth2, scopes) => {
    await using scene = await startScene({ as: { consent: 'partial', ...as }, oauth2 })
    expect((await scene.connect({ scopes })).body.status).toBe('completed')
    expect((await scene.authorize({ scopes })).body.status).toBe('completed')
    expect((await scene.authorize({ scopes: [...scopes, 'more'] })).body.status).toBe('pending')
  })

  test('keeps its scopes over a refresh that lists them otherwise', async () => {
    await using scene = await startScene({
      as: { tokenFormat: 'no-scope', refresh: 'rotate' },
      oauth2: implies,
    })
    await scene.connect({ scopes: BOTH })
    scene.as.behaviour.tokenFormat = 'json'
    scene.as.behaviour.scopesOnRefresh = ['repo']
    scene.clock.advance(4000)
    expect((await scene.authorize({ scopes: BOTH })).body.status).toBe('completed')
    expect(await scopesOf(scene)).toEqual(['repo'])
  })

  test('that no setting explains is asked for twice, and then the answer names the scopes and the setting', async () => {
    await using scene = await startScene({ as: { consent: 'partial', ...normalising } })
    for (let consent = 0; consent < 2; consent++)
      expect((await scene.connect({ scopes: BOTH })).body.status).toBe('completed')
    const refused = await scene.authorize({ scopes: BOTH })
    expect([refused.status, refused.body.name]).toEqual([409, 'scopes_not_granted'])
    for (const part of ['"public_repo"', 'oauth2.scope_implies', '/v1/admin/auth_providers/demo'])
      expect(refused.body.message).toContain(part)
    expect(refused.body.message).not.toContain('"repo"')
    // other needs go on
    expect((await scene.authorize({ scopes: ['repo'] })).body.status).toBe('completed')
    expect((await scene.authorize({ scopes: ['repo', 'gist'] })).body.status).toBe('pending')

    const patch = { oauth2: { scope_implies: { repo: ['public_repo'] } } }
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', patch)).status).toBe(200)
    expect((await scene.authorize({ scopes: BOTH })).body.status).toBe('completed')
  })

  test('is believed when it grants a scope after all, and the count begins anew', async () => {
    await using scene = await startScene({ as: { consent: 'partial', ...normalising } })
    await scene.connect({ scopes: BOTH })
    scene.as.behaviour.grantedScopes = BOTH
    expect((await scene.connect({ scopes: BOTH })).body.status).toBe('completed')
    expect((await scene.authorize({ scopes: BOTH })).body.status).toBe('completed')
  })

  test('and that was disconnected is asked anew', async () => {
    await using scene = await startScene({ as: { consent: 'partial', ...normalising } })
    for (let consent = 0; consent < 2; consent++) await scene.connect({ scopes: BOTH })
    const { items } = (await scene.call('GET', '/v1/connections?user_id=u1')).body
    await scene.call('DELETE', `/v1/connections/${items[0].id}`)
    expect((await scene.authorize({ scopes: BOTH })).body.status).toBe('pending')
  })

  test('makes a tool that cannot get them say so instead of asking for ever', async () => {
    await using scene = await startScene({ as: { consent: 'partial', ...normalising } })
    const worker = await startFakeWorker({
      secret: 'secret-of-the-worker',
      requirement: { id: 'demo', scopes: BOTH },
    })
    await using _ = { [Symbol.asyncDispose]: () => worker.close() }
    const http = { uri: worker.url, secret: 'secret-of-the-worker', timeout: 60, retry: 0 }
    expect((await scene.call('POST', '/v1/workers', { id: 'demo', http })).status).toBe(201)
    const run = () =>
      scene.call('POST', '/v1/tools/execute', {
        tool_name: 'Demo.EchoWithToken',
        user_id: 'u1',
        input: { text: 'hello' },
      })
    for (let consent = 0; consent < 2; consent++)
      await click((await run()).body.output.requires_authorization.url)
    const { status, body } = await run()
    expect([status, body.name]).toEqual([409, 'scopes_not_granted'])
  })

  test('may be explained by the tool that is imported', async () => {
    await using scene = await startScene({ oauth2: false, as: { consent: 'partial', ...normalising } })
    const oauth = [oauthEntry('Repos', scene.as, { scopes: BOTH, scopeImplies: { repo: ['public_repo'] } })]
    const imported = await scene.call('POST', '/v1/tools/import', toolWith('Repositories', { oauth }))
    expect(imported.status, JSON.stringify(imported.body)).toBe(200)
    const provider = imported.body.items[0].providers[0].id
    expect((await scene.connect({ provider, scopes: BOTH })).body.status).toBe('completed')
    expect((await scene.authorize({ provider, scopes: BOTH })).body.status).toBe('completed')
    const wrong = [oauthEntry('Repos', scene.as, { scopeImplies: { repo: 'public_repo' } })]
    const refused = await scene.call('POST', '/v1/tools/import', toolWith('Other', { oauth: wrong }))
    expect([refused.status, refused.body.items[0].reason]).toEqual([
      422,
      expect.stringContaining('scopeImplies'),
    ])
  })
})

test('an entry says how its server names scopes, in what it shows and takes back', async () => {
  await using scene = await startScene({
    oauth2: { scope_implies: { a: ['b'] }, callback_members: { realmId: '[0-9]+' } },
  })
  const oauth2 = async () => (await scene.call('GET', '/v1/admin/auth_providers/demo')).body.oauth2
  expect(await oauth2()).toMatchObject({
    scope_implies: { a: ['b'] },
    callback_members: { realmId: '[0-9]+' },
  })
  const patch = (changes: object) => scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: changes })
  expect((await patch({ scope_implies: null, scope_aliases: { x: 'y' } })).status).toBe(200)
  expect(await oauth2()).toMatchObject({ scope_aliases: { x: 'y' }, callback_members: { realmId: '[0-9]+' } })
  expect(await oauth2()).not.toHaveProperty('scope_implies')
  for (const wrong of [
    { scope_implies: { 'a b': ['c'] } },
    { scope_implies: { a: 'c' } },
    { scope_aliases: { a: '' } },
    { callback_members: { 'a b': 'x' } },
    { callback_members: { a: '(' } },
    { callback_members: { a: '(?=x)' } },
  ])
    expect([wrong, (await patch(wrong)).status]).toEqual([wrong, 400])
})

describe('more scopes later', () => {
  /** What the provider is asked for when `write` is needed after `read`. */
  async function askedLater(scene: Scene): Promise<readonly string[]> {
    await scene.connect({ scopes: ['write'] })
    return (scene.as.requestsTo('/authorize').at(-1)?.params.scope ?? '').split(' ').sort()
  }
  const keeps = { keeps_earlier_grants: true }

  test.each<[string, Record<string, unknown>, readonly string[]]>([
    ['the union', {}, ['read', 'write']],
    ['only what is new, where the server keeps the rest', keeps, ['write']],
  ])('ask for %s, and the connection has both', async (_, oauth2, asked) => {
    await using scene = await startScene({ oauth2 })
    await scene.connect()
    expect(await askedLater(scene)).toEqual(asked)
    expect([...(await scopesOf(scene))].sort()).toEqual(['read', 'write'])
    const { status, body } = await scene.authorize({ scopes: ['read', 'write'] })
    expect({ status, body: body.status }).toEqual({ status: 200, body: 'completed' })
  })

  test('of a server that keeps grants and lists all are those that it lists', async () => {
    await using scene = await startScene({ oauth2: keeps })
    await scene.connect({ scopes: ['read', 'profile'] })
    scene.as.behaviour.grantedScopes = ['read', 'write']
    expect(await askedLater(scene)).toEqual(['write'])
    expect([...(await scopesOf(scene))].sort()).toEqual(['read', 'write'])
  })

  test('ask for all again when the connection needs a new consent', async () => {
    await using scene = await startScene({ oauth2: keeps })
    await scene.connect()
    scene.clock.advance(3600)
    scene.as.behaviour.refresh = 'refuse'
    await scene.authorize()
    expect(await askedLater(scene)).toEqual(['read', 'write'])
  })

  test('are not added to those of another account', async () => {
    await using scene = await startScene({ oauth2: keeps })
    await scene.connect()
    scene.as.account = { sub: 'u-2', name: 'Grace', email: 'grace@example.test', login: 'grace' }
    await askedLater(scene)
    const { items } = (await scene.call('GET', '/v1/connections?user_id=u1')).body
    expect(items.map((one: { scopes: string[] }) => one.scopes)).toEqual([['read'], ['write']])
  })

  test('may be named by the definition as a truth value alone', async () => {
    await using scene = await startScene()
    const oauth2 = { keeps_earlier_grants: 'yes' }
    const { status, body } = await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })
    expect({ status, path: body.errors[0].path }).toEqual({
      status: 400,
      path: 'oauth2.keeps_earlier_grants',
    })
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: keeps })
    const shown = (await scene.call('GET', '/v1/admin/auth_providers/demo')).body
    expect(shown.oauth2.keeps_earlier_grants).toBe(true)
  })
})
