import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startGatepass, testClock } from '../../gatepass.ts'

const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../../fixtures/run-tools.ts', import.meta.url)) }
const PATIENCE = { timeout: 300_000, interval: 100 }

test('a process whose clock is put forward during a scheduled run does not take its own run for lost', async () => {
  const clock = testClock()
  await using gatepass = await startGatepass({ environment, now: clock })
  const schedule = async (key: string): Promise<string> => {
    const input = { key, ms: 2_500 }
    const run_at = new Date(clock() * 1000).toISOString()
    const { body } = await gatepass.call('POST', '/v1/tools/execute', {
      tool_name: 'Run.Pause',
      input,
      run_at,
    })
    return body.execution_id
  }
  const ran = async (key: string) =>
    (await gatepass.call('POST', '/v1/tools/run', { toolId: 'Run:Ran', args: { key } })).body.structured
  const id = await schedule('before')
  await expect.poll(() => ran('before'), PATIENCE).toBe(1)
  clock.advance(3600)
  const later = await schedule('later') // claimed after the clock was put forward
  await expect.poll(() => ran('later'), PATIENCE).toBe(1)

  for (const one of [id, later]) {
    const look = async () => (await gatepass.call('GET', `/v1/scheduled_tools/${one}`)).body
    await expect.poll(async () => (await look()).execution_status, PATIENCE).not.toBe('running')
    expect(await look()).toMatchObject({ execution_status: 'completed', attempts: [{ success: true }] })
  }
  expect(await ran('before')).toBe(1)
})
