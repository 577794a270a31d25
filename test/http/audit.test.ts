import Database from 'better-sqlite3'
import { describe, expect, test, vi } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import { verifyAudit } from '../../src/flows/audit/verify-audit.ts'
import { startScene } from '../flows/fixtures.ts'
import { UserAgent } from '../user-agent.ts'
import { metadata, oauthEntry, providerBody, startWorld, type World } from './world.ts'

async function entriesOf({ call }: World, query = '') {
  const { status, body } = await call('GET', `/v1/admin/audit?limit=1000${query}`)
  expect(status).toBe(200)
  return body.items as Record<string, unknown>[]
}

const FETCH = (user_id: string) => ({
  auth_requirement: { id: 'demo', provider_type: 'oauth2', oauth2: { scopes: ['read'] } },
  user_id,
})

describe('the audit trail', () => {
  test('has every release: by whom, of whose token, for which tool and what', async () => {
    await using world = await startWorld()
    const { call, execute, gatepass } = world
    await world.connect('ada')
    const requestId = 'request-of-the-test'
    await call('POST', '/v1/auth/authorize', FETCH('ada'), { headers: { 'x-request-id': requestId } })
    const answer = await execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'x' } })
    expect(answer.body.success).toBe(true)

    const released = await entriesOf(world, '&action=token.released')
    const { items: keys } = {
      items: await gatepass.broker.store.apiKeys.list((await defaultProject(world)).id),
    }
    const connection = (await call('GET', '/v1/connections?user_id=ada')).body.items[0]
    const common = {
      action: 'token.released',
      actor: { kind: 'api_key', id: keys[0]?.id },
      user_id: 'ada',
      provider_id: 'demo',
      connection_id: connection.id,
      fingerprint: expect.stringMatching(/^[\w-]{22}$/),
    }
    expect(released[0]).toMatchObject({
      ...common,
      tool: expect.stringContaining('EchoWithToken'),
      purpose: 'POST /v1/tools/execute',
    })
    expect(released[1]).toMatchObject({
      ...common,
      purpose: 'POST /v1/auth/authorize',
      request_id: requestId,
    })
    expect(released[0]?.fingerprint).toBe(released[1]?.fingerprint)
    expect(released[1]).not.toHaveProperty('tool')
  })

  test('writes a release as one line of JSON, its members in the order of every entry', async () => {
    await using world = await startWorld()
    const user = 'ada "the first" \\ of\u2028two'
    await world.connect(user)
    const headers = { 'x-request-id': 'of-the-test' }
    const { body } = await world.call('POST', '/v1/auth/authorize', FETCH(user), { headers })
    expect(body.status).toBe('completed')
    const { id } = await defaultProject(world)
    const [block] = await world.gatepass.broker.store.audit.blocks(id, { order: 'newest first', limit: 1 })
    const line = block?.text.split('\n').at(-1) ?? ''
    const released = JSON.parse(line)
    expect(JSON.stringify(released)).toBe(line)
    expect(released).toMatchObject({ user_id: user, connection_id: body.id })
    expect(Object.keys(released)).toEqual([
      'at',
      'action',
      'actor',
      'user_id',
      'provider_id',
      'connection_id',
      'fingerprint',
      'purpose',
      'request_id',
    ])
  })

  test('has what administrators do, consents and revocations, each once', async () => {
    await using world = await startWorld()
    const { call, as } = world
    await world.connect('ada')
    await call('PATCH', '/v1/admin/auth_providers/demo', { description: 'changed' })
    await call('POST', '/v1/admin/auth_providers', providerBody('other', as))
    await call('DELETE', '/v1/admin/auth_providers/other')
    await call('POST', '/v1/tools/import', metadata('Read it', { oauth: [oauthEntry('Third', as)] }))
    await call('POST', '/v1/admin/secrets/API_KEY', { value: 'secret-value-of-the-test' })
    const secret = (await call('GET', '/v1/admin/secrets')).body.items[0]
    await call('DELETE', `/v1/admin/secrets/${secret.id}`)
    await call('PATCH', '/v1/workers/demo', { enabled: true })
    await call('DELETE', '/v1/workers/demo')
    const connection = (await call('GET', '/v1/connections?user_id=ada')).body.items[0]
    await call('PATCH', `/v1/connections/${connection.id}`, { default: true })
    await call('DELETE', `/v1/connections/${connection.id}`)

    const entries = await entriesOf(world)
    const told = entries.map(({ action, provider_id, subject }) => [action, provider_id ?? subject].join(' '))
    for (const expected of [
      'provider.added demo',
      'worker.added demo',
      'worker.synced demo',
      'authorization.completed demo',
      'provider.changed demo',
      'provider.added other',
      'provider.deleted other',
      'secret.set API_KEY',
      `secret.deleted ${secret.id}`,
      'worker.changed demo',
      'worker.deleted demo',
      'connection.deleted demo',
    ])
      expect(told.filter((one) => one === expected)).toEqual([expected])
    expect(told).toContain('connection.made_default ')
    expect(told.some((one) => one.startsWith('tool.imported'))).toBe(true)
    expect(entries.find(({ action }) => action === 'authorization.completed')).toMatchObject({
      actor: { kind: 'user' },
      user_id: 'ada',
      scopes: ['read'],
      purpose: expect.stringContaining('/callback/'),
    })
  })

  test('never has a token, a code or a secret', async () => {
    await using world = await startWorld()
    const { call, execute, as, gatepass } = world
    const token = await world.connect('ada')
    await execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'x' } })
    await call('POST', '/v1/admin/secrets/API_KEY', { value: 'secret-value-of-the-test' })
    const { body } = await call('GET', '/v1/admin/audit/export')
    for (const secret of [token, as.clientSecret, 'secret-value-of-the-test', gatepass.apiKey])
      expect(body).not.toContain(secret)
    expect(body.length).toBeGreaterThan(500)
  })

  test('is found by what it tells of, in pages', async () => {
    await using world = await startWorld()
    const { call } = world
    for (const user of ['ada', 'bob', 'a"d\\a']) await world.connect(user)
    for (const user of ['ada', 'bob', 'a"d\\a'])
      expect(
        new Set((await entriesOf(world, `&user_id=${encodeURIComponent(user)}`)).map((one) => one.user_id)),
      ).toEqual(new Set([user]))
    expect(await entriesOf(world, '&user_id=ad')).toEqual([])
    expect(await entriesOf(world, '&until=2020-01-01T00:00:00Z')).toEqual([])
    const all = await entriesOf(world)
    const paged: unknown[] = []
    for (let query = ''; ; ) {
      const { body } = await call('GET', `/v1/admin/audit?limit=3${query}`)
      paged.push(...body.items)
      if (body.next_before === undefined) break
      query = `&before=${body.next_before}`
    }
    expect(paged).toEqual(all)
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, i) => all.length - i))
  })

  test('is exported as JSON lines from where the last export ended', async () => {
    await using world = await startWorld()
    await world.connect('ada')
    const lines = async (query = '') => {
      const { body, headers } = await world.call('GET', `/v1/admin/audit/export${query}`)
      expect(headers.get('content-type')).toContain('application/x-ndjson')
      return (body as string)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    }
    const first = await lines()
    expect(first).toEqual((await entriesOf(world)).reverse())
    await world.call('POST', '/v1/auth/authorize', FETCH('ada'))
    expect(await lines(`?after=${first.at(-1).seq}`)).toMatchObject([{ action: 'token.released' }])
  })

  test('belongs to its project, and no lesser key than a readonly one sees it', async () => {
    await using world = await startWorld()
    const { call, gatepass } = world
    await world.connect('ada')
    const key = await gatepass.makeKey('readonly', 'another')
    expect((await call('GET', '/v1/admin/audit', undefined, { key })).body.items).toEqual([])
    expect((await call('GET', '/v1/admin/audit', undefined, { key: null })).status).toBe(401)
  })
})

describe('refusals are in the audit trail, each once', () => {
  test('a key whose role does not suffice', async () => {
    await using world = await startWorld()
    const key = await world.gatepass.makeKey('readonly')
    for (let i = 0; i < 3; i++) await world.call('POST', '/v1/admin/secrets/KEY', { value: 'v' }, { key })
    const refused = await entriesOf(world, '&action=access.refused')
    expect(refused).toMatchObject([{ reason: 'insufficient_role', purpose: 'POST /v1/admin/secrets/:key' }])
  })

  test('a callback in another browser, and a consent that was not given', async () => {
    await using scene = await startScene()
    const approved = await scene.approve()
    const stranger = new UserAgent()
    for (let i = 0; i < 3; i++) await stranger.get(approved.callback)
    const denied = new URL(approved.callback)
    denied.searchParams.delete('code')
    denied.searchParams.set('error', 'access_denied')
    await approved.browser.get(denied)
    const { body } = await scene.call('GET', '/v1/admin/audit?user_id=u1')
    expect(body.items).toMatchObject([
      { action: 'authorization.failed', reason: 'access_denied', actor: { kind: 'user' } },
      { action: 'authorization.refused', reason: 'wrong_browser', provider_id: 'demo' },
    ])
  })

  test('a callback in another browser, again after the database could not be written', async () => {
    await using scene = await startScene()
    const { callback } = await scene.approve()
    const { authorizations } = scene.gatepass.broker.store
    vi.spyOn(authorizations, 'note').mockRejectedValueOnce(
      new BrokerError('store_unavailable', 'It is down.'),
    )
    const stranger = new UserAgent()
    expect((await stranger.get(callback)).status).toBe(503)
    for (let i = 0; i < 2; i++) await stranger.get(callback)
    const { body } = await scene.call('GET', '/v1/admin/audit?action=authorization.refused')
    expect(body.items).toMatchObject([{ reason: 'wrong_browser' }])
  })

  test('a user whom the caller does not know', async () => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_USER_VERIFIER: 'http://127.0.0.1:9/verify' } },
    })
    const { browser, callback } = await scene.approve()
    const { response } = await browser.get(callback)
    const flow_id = new URL(response.headers.get('location') ?? '').searchParams.get('flow_id')
    await scene.call('POST', '/v1/auth/confirm_user', { flow_id, user_id: 'somebody else' })
    const { body } = await scene.call('GET', '/v1/admin/audit?user_id=u1')
    expect(body.items).toMatchObject([
      { action: 'authorization.failed', reason: 'user_mismatch', purpose: 'POST /v1/auth/confirm_user' },
    ])
  })
})

describe('promise P7: no release without its record', () => {
  test.each([
    ['a fetch', (world: World) => world.call('POST', '/v1/auth/authorize', FETCH('ada'))],
    [
      'a tool that runs',
      (world: World) => world.execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'x' } }),
    ],
    [
      'a fetch by the connection',
      async (world: World) => {
        const { body } = await world.call('GET', '/v1/connections?user_id=ada')
        return world.call('POST', `/v1/connections/${body.items[0].id}/token`)
      },
    ],
  ])('%s is refused while the trail cannot be written, and works again afterwards', async (_, act) => {
    await using world = await startWorld()
    const token = await world.connect('ada')
    const database = new Database(world.gatepass.databasePath)
    database.exec(
      "create trigger broken before insert on audit_blocks begin select raise(abort, 'no audit today'); end",
    )
    const invocations = world.worker.invocations?.length
    const refused = await act(world)
    expect(refused.status).toBe(503)
    expect(refused.body.name).toBe('store_unavailable')
    expect(JSON.stringify(refused.body)).not.toContain(token)
    expect(world.worker.invocations?.length).toBe(invocations)
    database.exec('drop trigger broken')
    database.close()
    expect((await act(world)).status).toBe(200)
  })

  test.each([
    ['a consent', (world: World) => world.connect('bob').catch(() => undefined)],
    [
      'a provider',
      (world: World) => world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as)),
    ],
    ['a secret', (world: World) => world.call('POST', '/v1/admin/secrets/KEY', { value: 'v' })],
  ])('threat 49, failure R11: %s is not stored without its record', async (_, act) => {
    await using world = await startWorld()
    const database = new Database(world.gatepass.databasePath)
    const count = () =>
      ['connections', 'providers', 'secrets'].map((table) =>
        database.prepare(`select count(*) from ${table}`).pluck().get(),
      )
    database.exec(
      "create trigger broken before insert on audit_blocks begin select raise(abort, 'no audit today'); end",
    )
    const before = count()
    await act(world)
    expect(count()).toEqual(before)
    database.close()
  })

  test('each of many that come at once has its record', async () => {
    await using world = await startWorld()
    await world.connect('ada')
    const before = await entriesOf(world)
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => world.call('POST', '/v1/auth/authorize', FETCH('ada'))),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const { id } = await defaultProject(world)
    expect((await verifyAudit(world.gatepass.broker, id)).entries).toBe(before.length + 200)
  })
})

describe('threat 49: the chain of the audit trail', () => {
  async function scene() {
    const world = await startWorld()
    await world.connect('ada')
    for (let i = 0; i < 5; i++) await world.call('POST', '/v1/auth/authorize', FETCH('ada'))
    const { id } = await defaultProject(world)
    const database = new Database(world.gatepass.databasePath)
    const verify = (known?: { lastSeq: number; hash: string }) =>
      verifyAudit(world.gatepass.broker, id, known)
    return {
      world,
      database,
      verify,
      async [Symbol.asyncDispose]() {
        database.close()
        await world[Symbol.asyncDispose]()
      },
    }
  }

  test('is whole as it was written', async () => {
    await using on = await scene()
    const verdict = await on.verify()
    expect(verdict).toMatchObject({ faults: [], head: { lastSeq: verdict.entries } })
    expect(await on.verify(verdict.head)).toMatchObject({ faults: [] })
    await on.world.call('POST', '/v1/auth/authorize', FETCH('ada'))
    expect(await on.verify(verdict.head)).toMatchObject({ faults: [] })
  })

  test.each([
    [
      'a changed word',
      "update audit_blocks set text = replace(text, 'demo', 'omed') where first_seq = 3",
      /3 to 3 were altered/,
    ],
    ['a changed time', 'update audit_blocks set at = at - 60 where first_seq = 3', /3 to 3 were altered/],
    ['an entry taken out', 'delete from audit_blocks where first_seq = 3', /entry 3 is missing/],
    ['the first taken out', 'delete from audit_blocks where first_seq = 1', /entry 1 is missing/],
    [
      'two exchanged',
      'update audit_blocks set text = case first_seq when 3 then (select text from audit_blocks where first_seq = 4) else (select text from audit_blocks where first_seq = 3) end where first_seq in (3, 4)',
      /were altered/,
    ],
    [
      'a new hash',
      "update audit_blocks set hash = case when hash like 'x%' then 'y' else 'x' end || substr(hash, 2) where first_seq = 3",
      /3 to 3 were altered/,
    ],
  ])('shows %s', async (_, sql, fault) => {
    await using on = await scene()
    on.database.exec(sql)
    expect((await on.verify()).faults.join('\n')).toMatch(fault)
  })

  test('shows an end that was cut off to whoever has kept the head', async () => {
    await using on = await scene()
    const { head } = await on.verify()
    on.database.exec('delete from audit_blocks where first_seq = (select max(first_seq) from audit_blocks)')
    expect((await on.verify(head)).faults.join()).toMatch(/does not contain the end you know/)
  })
})

async function defaultProject({ gatepass }: World) {
  const project = await gatepass.broker.store.projects.findByName('default')
  if (project === undefined) throw new Error('there is no default project')
  return project
}
