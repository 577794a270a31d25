import { setTimeout } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type Receiver, startReceiver } from '../features/webhooks/receiver.ts'
import { authorize, click } from '../flows/fixtures.ts'
import { startGatepass, testClock } from '../gatepass.ts'
import { metadata, oauthEntry, startWorld, type World } from './world.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

/** Runs `meanwhile` once, after the next call of this method of the store has read its row. */
function afterNextRead<Noun extends object>(
  noun: Noun,
  method: keyof Noun & string,
  meanwhile: () => Promise<unknown>,
) {
  const read = noun[method] as (...args: unknown[]) => Promise<unknown>
  let isNext = true
  vi.spyOn(noun as Record<string, (...args: unknown[]) => unknown>, method).mockImplementation(
    async (...args) => {
      const isThis = isNext
      isNext = false
      const row = await read(...args)
      if (isThis) await meanwhile()
      return row
    },
  )
}

async function expectOk(answer: ReturnType<World['call']>): Promise<void> {
  const { status, body } = await answer
  expect([status, body]).toEqual([200, expect.anything()])
}

test('a worker that is switched off while its catalogue is read stays off', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { workers } = gatepass.broker.store
  world.worker.behaviour.catalogue = '500'
  afterNextRead(workers, 'findByUid', () => expectOk(call('PATCH', '/v1/workers/demo', { enabled: false })))
  await syncWorkers(gatepass.broker)
  const { body } = await call('GET', '/v1/workers/demo')
  expect(body).toMatchObject({ enabled: false, sync_error: expect.any(String) })
})

test('two changes of one worker both last', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  afterNextRead(gatepass.broker.store.workers, 'find', () =>
    expectOk(call('PATCH', '/v1/workers/demo', { http: { timeout: 9 } })),
  )
  await expectOk(call('PATCH', '/v1/workers/demo', { enabled: false }))
  expect((await call('GET', '/v1/workers/demo')).body).toMatchObject({ enabled: false, http: { timeout: 9 } })
})

test('two acceptances of what a worker names both last, if its catalogue changes between them', async () => {
  const tool = (key: string) => ({
    name: 'Named',
    description: 'Names a secret.',
    secrets: [key],
    run: async () => ({ value: 'done' }),
  })
  await using world = await startWorld()
  const { call, gatepass, worker } = world
  const list = async (key: string) => {
    worker.tools = [tool(key)]
    await syncWorkers(gatepass.broker)
  }
  const accept = () => expectOk(call('POST', '/v1/workers/demo/accept'))
  await list('FIRST')
  afterNextRead(gatepass.broker.store.workers, 'find', async () => {
    await accept()
    await list('SECOND')
  })
  await accept()
  const { acceptance } = (await call('GET', '/v1/workers/demo')).body
  expect(acceptance.accepted.secrets).toEqual(expect.arrayContaining(['first', 'second']))
})

test('two changes of one toolset both last', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { toolsets } = gatepass.broker.store
  await call('POST', '/v1/toolsets', { id: 'mail', tags: ['mail'] })
  const { change } = toolsets
  vi.spyOn(toolsets, 'change').mockImplementationOnce(async (...args) => {
    await expectOk(call('PATCH', '/v1/toolsets/mail', { instructions: 'Ask first.' }))
    return change(...args)
  })
  await expectOk(call('PATCH', '/v1/toolsets/mail', { tags: ['post'] }))
  const { body } = await call('GET', '/v1/toolsets/mail')
  expect(body).toMatchObject({ tags: ['post'], instructions: 'Ask first.' })
})

test('a tool that is bound keeps what an import changes meanwhile, and is not brought back when it was deleted', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { tools } = gatepass.broker.store
  const { bind } = tools
  const bindAfter = (meanwhile: () => Promise<unknown>) => {
    vi.spyOn(tools, 'bind').mockImplementationOnce(async (...args) => {
      await meanwhile()
      return bind(...args)
    })
    return call('POST', '/v1/tools/Repeat/binding', { worker_id: 'demo', tool: 'Echo' })
  }
  await call('POST', '/v1/tools/import', metadata('Repeat'))
  await expectOk(
    bindAfter(() => call('POST', '/v1/tools/import', metadata('Repeat', { description: 'Newer.' }))),
  )
  expect((await call('GET', '/v1/tools/Repeat')).body).toMatchObject({ description: 'Newer.' })
  expect((await bindAfter(() => call('DELETE', '/v1/tools/Repeat'))).status).toBe(404)
  expect((await call('GET', '/v1/tools/Repeat')).status).toBe(404)
})

test('two changes of one provider both last', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const path = '/v1/admin/auth_providers/demo'
  const { providers } = gatepass.broker.store
  afterNextRead(providers, 'findById', () =>
    expectOk(call('PATCH', path, { oauth2: { client_id: 'newer' } })),
  )
  await expectOk(call('PATCH', path, { description: 'The newer one' }))
  const { body } = await call('GET', path)
  expect(body).toMatchObject({ description: 'The newer one', oauth2: { client_id: 'newer' } })
})

test('a change of a provider that is deleted meanwhile is answered 404, and is not in the audit trail', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const path = '/v1/admin/auth_providers/demo'
  afterNextRead(gatepass.broker.store.providers, 'findById', () => call('DELETE', path))
  expect((await call('PATCH', path, { description: 'Gone' })).status).toBe(404)
  expect((await call('GET', '/v1/admin/audit?action=provider.changed')).body.items).toEqual([])
})

test('a provider that other requests keep changing is not changed: 503, and the caller can try again', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { providers } = gatepass.broker.store
  const { findById } = providers
  let changes = 0
  vi.spyOn(providers, 'findById').mockImplementation(async (...args) => {
    const entry = (await findById(...args)) ?? expect.fail('no entry')
    await providers.change(entry, { ...entry, description: `${++changes}` })
    return entry
  })
  const { status, body, headers } = await call('PATCH', '/v1/admin/auth_providers/demo', { description: 'x' })
  expect([status, body.name, headers.get('retry-after')]).toEqual([503, 'store_unavailable', '1'])
  expect(body.message).toContain('The provider "demo" was changed by other requests')
})

test('a change of a provider is kept by the update of its issuer’s metadata', async () => {
  await using as = await startFakeAuthorizationServer()
  const clock = testClock()
  await using gatepass = await startGatepass({ now: clock })
  const { call } = gatepass
  const client = { client_id: as.clientId, client_secret: as.clientSecret }
  const added = await call('POST', '/v1/admin/auth_providers', {
    id: 'demo',
    oauth2: { ...client, issuer: as.url },
  })
  expect(added.status).toBe(201)
  as.behaviour.metadata = { token_endpoint: `${as.url}/elsewhere` }
  const path = '/v1/admin/auth_providers/demo'
  const patch = () => expectOk(call('PATCH', path, { description: 'Changed' }))
  afterNextRead(gatepass.broker.store.providers, 'findByUid', patch)
  clock.advance(700) // the metadata is read again after ten minutes
  await click((await authorize(gatepass)).body.url)
  expect((await call('GET', path)).body).toMatchObject({
    description: 'Changed',
    oauth2: { token_request: { endpoint: `${as.url}/elsewhere` } },
  })
})

test('deliveries are signed with the secrets that two rotations at the same time have shown', async () => {
  await using receiver = await startReceiver()
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const { id } = (await call('POST', '/v1/webhooks', { url: receiver.url })).body
  const shown: string[] = []
  const rotate = async () => {
    const { status, body } = await call('POST', `/v1/webhooks/${id}/rotate`, {})
    expect(status).toBe(200)
    shown.push(body.secret)
  }
  afterNextRead(gatepass.broker.store.webhooks, 'find', rotate)
  await rotate()
  receiver.secret = shown[1] ?? ''
  await call('POST', `/v1/webhooks/${id}/test`)
  const [{ headers, body }] = receiver.taken as [Receiver['taken'][number]]
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  const sign = (secret: string) => new Webhook(secret).sign(String(headers['webhook-id']), sentAt, body)
  expect(String(headers['webhook-signature']).split(' ').toSorted()).toEqual(shown.map(sign).toSorted())
})

test('two changes of one branding both last, and so do the first two', async () => {
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const change = (body: object) => expectOk(call('PATCH', '/v1/admin/projects/default/branding', body))
  const { brandings } = gatepass.broker.store
  afterNextRead(brandings, 'find', () => change({ app_name: 'Acme' }))
  await change({ lang: 'de' })
  vi.restoreAllMocks()
  afterNextRead(brandings, 'find', () => change({ app_name: 'Acme Assistant' }))
  await change({ accent: '#0b57d0' })
  const { body } = await call('GET', '/v1/admin/projects/default/branding')
  expect(body).toMatchObject({ app_name: 'Acme Assistant', lang: 'de', accent: '#0b57d0' })
})

const policies = '/v1/admin/policies'
const denyBob = { id: 'no-bob', effect: 'deny', match: { users: ['bob'] } }

test('of two policies of one id that are added at once, one is stored, and the other is answered 409', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { find } = gatepass.broker.store.policies
  // slow, so that a look for the id before the policy is added finds it free in both requests
  vi.spyOn(gatepass.broker.store.policies, 'find').mockImplementation(async (...args) => {
    const policy = await find(...args)
    await setTimeout(50)
    return policy
  })
  const answers = await Promise.all([
    call('POST', policies, denyBob),
    call('POST', policies, { ...denyBob, match: { users: ['eve'] } }),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  const added = answers.find(({ status }) => status === 201)
  expect((await call('GET', `${policies}/no-bob`)).body).toEqual(added?.body)
})

test('a deny that is switched on while another request changes the policy stays on', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const path = `${policies}/no-bob`
  expect((await call('POST', policies, { ...denyBob, enabled: false })).status).toBe(201)
  afterNextRead(gatepass.broker.store.policies, 'find', () =>
    expectOk(call('PATCH', path, { enabled: true })),
  )
  await expectOk(call('PATCH', path, { description: 'Not Bob' }))
  expect((await call('GET', path)).body).toMatchObject({ enabled: true, description: 'Not Bob' })
})

test('a policy that is deleted while another request changes it stays deleted: 404', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const path = `${policies}/no-bob`
  expect((await call('POST', policies, denyBob)).status).toBe(201)
  afterNextRead(gatepass.broker.store.policies, 'find', () => call('DELETE', path))
  expect((await call('PATCH', path, { description: 'Gone' })).status).toBe(404)
  expect((await call('GET', policies)).body.items).toEqual([])
})

test('two changes of one webhook both last', async () => {
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const { id } = (await call('POST', '/v1/webhooks', { url: 'https://a.example/' })).body
  const path = `/v1/webhooks/${id}`
  afterNextRead(gatepass.broker.store.webhooks, 'find', () =>
    expectOk(call('PATCH', path, { types: ['connection.created'] })),
  )
  await expectOk(call('PATCH', path, { description: 'The chat' }))
  expect((await call('GET', path)).body).toMatchObject({
    types: ['connection.created'],
    description: 'The chat',
  })
})

test('a webhook that is disabled while another request enables it is disabled', async () => {
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const url = 'https://a.example/'
  const { id } = (await call('POST', '/v1/webhooks', { url, enabled: false })).body
  const path = `/v1/webhooks/${id}`
  afterNextRead(gatepass.broker.store.webhooks, 'find', () =>
    expectOk(call('PATCH', path, { enabled: true })),
  )
  await expectOk(call('PATCH', path, { enabled: false }))
  expect((await call('GET', path)).body).toMatchObject({ enabled: false })
})

test.each([1, 2])(
  'an administrator’s change of a provider is kept by an import of %i tools that has read it before',
  async (count) => {
    await using world = await startWorld()
    const { call, gatepass, as } = world
    const documents = (scope: string) =>
      Array.from({ length: count }, (_, i) =>
        metadata(`Notes ${i}`, { oauth: [oauthEntry('notes', as, { scopes: [scope, `extra-${i}`] })] }),
      )
    const imported = (scope: string) => expectOk(call('POST', '/v1/tools/import', documents(scope)))
    await imported('read')
    const path = '/v1/admin/auth_providers/notes'
    const { tools } = gatepass.broker.store
    const { change } = tools
    vi.spyOn(tools, 'change').mockImplementationOnce(async (...args) => {
      await expectOk(call('PATCH', path, { description: 'Ours' }))
      return change(...args)
    })
    await imported('write')
    const { body } = await call('GET', path)
    expect(body).toMatchObject({
      description: 'Ours',
      oauth2: { default_scopes: expect.arrayContaining(['write']) },
    })
  },
)
