import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportConnections } from '../../../src/features/imports/export-connections.ts'
import { addProvider, click, importEntry, type Scene, startScene } from '../../flows/fixtures.ts'
import type { Answer } from '../../gatepass.ts'

// POST /v1/admin/user_connections/import on one running Gatepass.

const IMPORT = '/v1/admin/user_connections/import'
let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

const send = (connections: readonly unknown[], more: object = {}) =>
  scene.call('POST', IMPORT, { connections, ...more })
const row = (more: object = {}) => ({
  user_id: 'new',
  provider_id: 'demo',
  access_token: 'an-access-token-of-elsewhere',
  ...more,
})
const later = () => new Date((scene.clock() + 3600) * 1000).toISOString()
const tokenOf = (id: string) => scene.call('POST', `/v1/connections/${id}/token`)

async function imported(connections: readonly unknown[], more: object = {}): Promise<Answer['body']> {
  const { status, body } = await send(connections, more)
  expect(status).toBe(200)
  return body.items
}

/** What Gatepass itself holds for a user, with the tokens. */
async function held(userId: string, { gatepass }: Scene = scene): Promise<Record<string, unknown>> {
  const { broker } = gatepass
  const { id } = await broker.store.projects.ensure('default', 0)
  const counts = { written: 0, leftOut: 0 }
  for await (const one of exportConnections(broker, id, { userId }, counts))
    return one as Record<string, unknown>
  throw new Error(`${userId} has no connection`)
}

describe('an imported connection', () => {
  test('is used as one of a consent: fetched, refreshed when it expires, and audited', async () => {
    await scene.connect({ user_id: 'mover' })
    const { refresh_token } = await held('mover')
    const [one] = await imported([
      row({
        user_id: 'moved',
        refresh_token,
        expires_at: later(),
        scopes: 'read, write',
        account: { id: 'acc-1', name: 'moved@example.test' },
      }),
    ])
    expect(one).toEqual({ index: 0, result: 'created', connection_id: expect.stringMatching(/^conn_/) })
    expect((await tokenOf(one.connection_id)).body).toMatchObject({
      access_token: 'an-access-token-of-elsewhere',
      token_type: 'Bearer',
      scopes: ['read', 'write'],
    })
    expect((await scene.call('GET', `/v1/connections/${one.connection_id}`)).body).toMatchObject({
      user_id: 'moved',
      provider_id: 'demo',
      account: { id: 'acc-1', name: 'moved@example.test' },
      default: true,
      status: 'active',
    })
    scene.clock.advance(3600)
    const { body } = await tokenOf(one.connection_id)
    expect(body.access_token).not.toBe('an-access-token-of-elsewhere')
    const trail = await scene.call('GET', '/v1/admin/audit?action=connection.imported')
    expect(trail.body.items[0]).toMatchObject({ user_id: 'moved', connection_id: one.connection_id })
    expect(JSON.stringify(trail.body)).not.toContain('an-access-token-of-elsewhere')
  })

  test('of a user, provider and account that is there stays as it is, unless it is to be replaced', async () => {
    const account = { id: 'same' }
    const [first] = await imported([row({ user_id: 'twice', account })])
    const [again] = await imported([row({ user_id: 'twice', account, access_token: 'the-second' })])
    expect(again).toEqual({ index: 0, result: 'present', connection_id: first.connection_id })
    expect((await tokenOf(first.connection_id)).body.access_token).toBe('an-access-token-of-elsewhere')
    const [replaced] = await imported([row({ user_id: 'twice', account, access_token: 'the-third' })], {
      replace: true,
    })
    expect(replaced).toEqual({ index: 0, result: 'replaced', connection_id: first.connection_id })
    expect((await tokenOf(first.connection_id)).body.access_token).toBe('the-third')
  })

  test('beside others of its user: the first is the default, unless a row says so', async () => {
    const of = (id: string, more: object = {}) => row({ user_id: 'several', account: { id }, ...more })
    await imported([
      of('a'),
      of('b'),
      of('c', { default: true }),
      of('a', { access_token: 'twice-in-one-file' }),
    ])
    const { items } = (await scene.call('GET', '/v1/connections?user_id=several')).body
    expect(items.map((one: Answer['body']) => [one.account.id, one.default]).sort()).toEqual([
      ['a', false],
      ['b', false],
      ['c', true],
    ])
  })

  test.each(['any', 'its'])('without an account id gets it by a new consent of %s account', async (which) => {
    const user_id = `unnamed-${which}`
    const [one] = await imported([row({ user_id, account: { name: 'ada of elsewhere' } })])
    const account = which === 'any' ? {} : { account: one.connection_id }
    const asked = (await scene.authorize({ user_id, scopes: ['write'], ...account })).body
    await click(asked.url)
    expect((await scene.status(asked.id)).body.status).toBe('completed')
    const { items } = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body
    expect(items).toMatchObject([{ id: one.connection_id, account: { id: scene.as.account.sub } }])
  })

  test('without an account id is told apart by its name, and a consent takes the one of its name', async () => {
    const rows = ['elsewhere', scene.as.account.email, ''].map((name) =>
      row({ user_id: 'names', account: { id: '', name } }),
    )
    const results = (items: Answer['body']) => items.map((one: { result: string }) => one.result)
    const first = await imported(rows)
    expect(results(first)).toEqual(['created', 'created', 'created'])
    expect(results(await imported(rows))).toEqual(['present', 'present', 'present'])
    expect(results(await imported(rows, { replace: true }))).toEqual(['replaced', 'replaced', 'replaced'])
    await scene.connect({ user_id: 'names', scopes: ['write'] })
    const { items } = (await scene.call('GET', '/v1/connections?user_id=names')).body
    expect(items).toHaveLength(3)
    const named = items.filter(({ account }: Answer['body']) => account.id === scene.as.account.sub)
    expect(named).toMatchObject([{ id: first[1].connection_id }])
  })

  test.each([
    ['had expired', -86_400],
    ['soon expires', 300],
  ])('whose token %s has the entry’s lifetime after a refresh that tells none', async (_, seconds) => {
    await using own = await startScene({ oauth2: { default_expires_in: 3600 } })
    await own.connect({ user_id: 'mover' })
    const { refresh_token } = await held('mover', own)
    own.as.behaviour.tokenMembers = { expires_in: undefined }
    const expires_at = own.clock() + seconds
    const moved = row({ user_id: 'moved', refresh_token, expires_at })
    const { items } = (await own.call('POST', IMPORT, { connections: [moved] })).body
    own.clock.advance(300)
    for (const after of [0, 3000]) {
      own.clock.advance(after)
      const { body } = await own.call('POST', `/v1/connections/${items[0].connection_id}/token`)
      expect(Date.parse(body.expires_at) / 1000).toBe(own.clock() - after + 3600)
      expect(own.as.tokenRequests('refresh_token')).toHaveLength(1)
    }
  })

  test('that cannot be checked, because the client is wrong, stays active and says why', async () => {
    await using own = await startScene()
    await own.connect({ user_id: 'mover' })
    const { refresh_token } = await held('mover', own)
    const entry = '/v1/admin/auth_providers/demo'
    await own.call('PATCH', entry, { oauth2: { client_secret: 'a wrong one' } })
    const moved = { connections: [row({ user_id: 'moved', refresh_token })], check: true }
    const [one] = (await own.call('POST', IMPORT, moved)).body.items
    expect(one).toMatchObject({ check: 'unavailable', reason: expect.stringMatching(/invalid_client/) })
    await own.call('PATCH', entry, { oauth2: { client_secret: own.as.clientSecret } })
    const [again] = (await own.call('POST', IMPORT, { ...moved, replace: true })).body.items
    expect(again).toMatchObject({ connection_id: one.connection_id, check: 'refreshed' })
  })

  test('is refreshed at once if that is asked: what the provider refuses needs a new consent', async () => {
    await scene.connect({ user_id: 'checked' })
    const good = await held('checked')
    const items = await imported(
      [
        row({ user_id: 'good', refresh_token: good.refresh_token }),
        row({ user_id: 'bad', refresh_token: 'never-issued' }),
        row({ user_id: 'without' }),
      ],
      { check: true },
    )
    expect(items.map((one: Answer['body']) => one.check)).toEqual(['refreshed', 'refused', 'not_possible'])
    const { body } = await scene.call('GET', `/v1/connections/${items[1].connection_id}`)
    expect(body).toMatchObject({ status: 'needs_authorization', status_reason: 'refresh_refused' })
    expect((await tokenOf(items[0].connection_id)).body.access_token).not.toBe('an-access-token-of-elsewhere')
  })
})

describe('a row that cannot be stored', () => {
  test.each<[string, object, string, RegExp]>([
    ['has no user', { user_id: undefined }, 'user_id', /user_id/],
    ['names an unknown provider', { provider_id: 'dema' }, 'provider_id', /Did you mean "demo"/],
    ['has no token', { access_token: '' }, 'access_token', /access_token/],
    ['has a token with a line break', { access_token: 'a\r\nx: y' }, 'access_token', /visible ASCII/],
    ['has a misspelled member', { refreshtoken: 'x' }, 'refreshtoken', /did you mean refresh_token/],
    ['has a time that is none', { expires_at: 'tomorrow' }, 'expires_at', /not a time/],
    ['has a number of seconds as its time', { expires_at: '3599' }, 'expires_at', /not a time/],
    ['has a time without a zone', { expires_at: '2999-11-21 08:00:00' }, 'expires_at', /not a time/],
    ['has expired without a refresh token', { expires_at: 1_700_000_000 }, 'expires_at', /has passed/],
    ['names a value that is not kept', { kept_values: { realm: 'x' } }, 'kept_values.realm', /keeps/],
  ])('%s', async (situation, more, member, reason) => {
    const secret = 'a-token-that-no-message-quotes'
    const [good, refused] = await imported([
      row({ user_id: `beside one that ${situation}` }),
      row({ user_id: 'refused', refresh_token: undefined, extra: { secret }, ...more }),
    ])
    expect(good.result).toBe('created')
    expect(refused).toMatchObject({
      index: 1,
      result: 'refused',
      member,
      reason: expect.stringMatching(reason),
    })
    expect(JSON.stringify(refused)).not.toContain(secret)
    expect((await scene.call('GET', '/v1/connections?user_id=refused')).body.items).toEqual([])
  })

  test('is of a provider without its client, to which tokens are bound', async () => {
    const entry = { name: 'Bare', clientId: '', clientSecret: '' }
    const { body } = await importEntry(scene.gatepass, scene.as, entry)
    const [{ id: provider_id }] = body.items[0].providers
    const [refused] = await imported([row({ provider_id })])
    expect(refused).toMatchObject({ result: 'refused', member: 'provider_id' })
    expect(refused.reason).toMatch(/client_id/)
  })
})

test('kept values are given by their names and checked by their patterns', async () => {
  const kept_values = { realm: { from: 'authorization_response', at: 'realmId', pattern: '[0-9]{1,20}' } }
  await addProvider(scene.gatepass, scene.as, { kept_values }, { id: 'keeping' })
  const items = await imported([
    row({ provider_id: 'keeping', kept_values: { realm: '4711' } }),
    row({ provider_id: 'keeping', user_id: 'other', kept_values: { realm: 'evil.example/' } }),
  ])
  expect(items).toMatchObject([{ result: 'created' }, { result: 'refused', member: 'kept_values.realm' }])
})

test('accounts without a name are told apart by the values that their users gave', async () => {
  const variables = { site: { pattern: '[a-z]{1,20}', example: 'acme', ask: 'user' } }
  const token_request = { endpoint: `${scene.as.tokenUrl}/{{site}}` }
  const requests = { token_request, refresh_request: token_request }
  await addProvider(scene.gatepass, scene.as, { variables, ...requests }, { id: 'asking' })
  const of = (site: string) =>
    row({ user_id: 'both', provider_id: 'asking', access_token: `of-${site}`, kept_values: { site } })
  const rows = [of('one'), of('two')]
  expect((await imported(rows)).map(({ result }: { result: string }) => result)).toEqual([
    'created',
    'created',
  ])
  expect((await imported(rows)).map(({ result }: { result: string }) => result)).toEqual([
    'present',
    'present',
  ])
  const [lacking] = await imported([row({ provider_id: 'asking', refresh_token: 'rt' })])
  expect(lacking).toMatchObject({ result: 'refused', member: 'kept_values' })
})

test('only administrators import, at most 500 rows at a time, and 50 with a check', async () => {
  const key = await scene.gatepass.makeKey('caller')
  expect((await scene.call('POST', IMPORT, { connections: [row()] }, { key })).status).toBe(403)
  expect((await send(Array.from({ length: 501 }, () => row()))).status).toBe(400)
  expect(
    (
      await send(
        Array.from({ length: 51 }, () => row()),
        { check: true },
      )
    ).status,
  ).toBe(400)
})

test('500 rows are stored, and a second run skips them all', async () => {
  const rows = Array.from({ length: 500 }, (_, index) => row({ user_id: `bulk-${index}` }))
  const first = await imported(rows)
  expect(new Set(first.map((one: Answer['body']) => one.result))).toEqual(new Set(['created']))
  const second = await imported(rows)
  expect(second.map((one: Answer['body']) => one.connection_id)).toEqual(
    first.map((one: Answer['body']) => one.connection_id),
  )
  expect(new Set(second.map((one: Answer['body']) => one.result))).toEqual(new Set(['present']))
})
