import { expect, onTestFinished, test, vi } from 'vitest'
import { startFakeOxpServer } from '../../fake-oxp-server.ts'
import { startGatepass } from '../../gatepass.ts'
import { worker } from '../../store/fixtures.ts'

vi.mock(import('../../../src/features/features.ts'), async (original) => {
  const { oxp } = await import('../../../src/features/oxp/feature.ts')
  return { features: (await original()).features.filter((feature) => feature !== oxp) }
})

test('without the feature, an OXP server is no type of worker, and a stored one says so', async () => {
  const server = await startFakeOxpServer()
  onTestFinished(() => server.close())
  await using gatepass = await startGatepass()
  const { call, broker } = gatepass
  const refused = await call('POST', '/v1/workers', { id: 'new', oxp: { uri: server.url } })
  expect([refused.status, refused.body.errors]).toMatchObject([
    400,
    [{ path: 'oxp', code: 'unknown_member' }],
  ])
  expect((await call('GET', '/v1/formatted_tools?format=oxp')).status).toBe(400)
  expect((await call('GET', '/oxp/tools')).status).toBe(404)

  const { id: projectId } = await broker.store.projects.ensure('default', 1)
  await broker.store.workers.add(worker({ projectId, id: 'old', type: 'oxp', uri: server.url }))
  const message = expect.stringContaining('This Gatepass has no workers of the type "oxp"')
  const old = { id: 'old', type: 'oxp', managed: false }
  expect((await call('GET', '/v1/workers/old')).body).toMatchObject(old)
  expect((await call('GET', '/v1/workers')).body.items).toMatchObject([old])
  expect((await call('GET', '/v1/workers/old/health')).body).toMatchObject({ healthy: false, message })
  expect((await call('PATCH', '/v1/workers/old', { enabled: false })).body).toMatchObject({
    status: 'inactive',
  })
  expect(server.calls).toEqual([])
  expect((await call('DELETE', '/v1/workers/old')).status).toBe(204)
})
