import { expect, onTestFinished, test, vi } from 'vitest'
import { startFakeWorker } from '../../fake-worker.ts'
import { startGatepass } from '../../gatepass.ts'

vi.mock(import('../../../src/features/features.ts'), async (original) => {
  const { scheduledRuns } = await import('../../../src/features/scheduled-runs/feature.ts')
  return { features: (await original()).features.filter((feature) => feature !== scheduledRuns) }
})

test('without the feature, run_at is refused, and the tool is not run', async () => {
  const secret = 'worker-secret'
  const worker = await startFakeWorker({ secret })
  onTestFinished(() => worker.close())
  await using gatepass = await startGatepass()
  const { call } = gatepass
  await call('POST', '/v1/workers', { id: 'demo', http: { uri: worker.url, secret, timeout: 60, retry: 0 } })
  const run = { tool_name: 'Demo.Echo', input: { text: 'hello' } }
  const later = await call('POST', '/v1/tools/execute', { ...run, run_at: '2099-01-01T00:00:00' })
  expect([later.status, later.body.errors, worker.invocations]).toEqual([
    400,
    [expect.objectContaining({ path: 'run_at', code: 'not_allowed' })],
    [],
  ])
  expect((await call('POST', '/v1/tools/execute', run)).body.output).toEqual(
    expect.objectContaining({ value: expect.anything() }),
  )
  expect((await call('GET', '/v1/scheduled_tools')).status).toBe(404)
})
