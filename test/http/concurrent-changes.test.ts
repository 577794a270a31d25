import { afterEach, expect, test, vi } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { authorize, click } from '../flows/fixtures.ts'
import { startGatepass, testClock } from '../gatepass.ts'
import { afterNextRead, expectOk } from './meanwhile.ts'
import { metadata, oauthEntry, startWorld } from './world.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

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
