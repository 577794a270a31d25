import { afterEach, expect, test, vi } from 'vitest'
import { freePort } from './ports.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('a port is one of those that the run has claimed, also if it claimed them after the module was loaded', async () => {
  const claimed = 30_600 // no run has it
  vi.stubEnv('TEST_FIRST_PORT', String(claimed))
  expect(await freePort()).toBeGreaterThan(claimed)
})
