import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type ServedMcp, serveMcp } from '../../../src/sdk/mcp/mcp.ts'
import { runConformanceSuite } from '../../conformance-suite.ts'
import { conformanceApp, LOGGED_FAILURE } from './conformance-app.ts'

// The official suite, in a process of its own, against an app on a port.

let served: ServedMcp
beforeAll(async () => {
  served = await serveMcp(conformanceApp(), { port: 0 })
})
afterAll(async () => {
  await served.close()
})

test.each(['2025-11-25', '2026-07-28'])(
  'passes every scenario that %s requires',
  { timeout: 300_000 },
  async (revision) => {
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const args = ['server', '--url', served.url ?? '', '--requirements', revision]
    const { code, output } = await runConformanceSuite(args)
    expect(code, output).toBe(0)
    expect(logged.mock.calls).toEqual([LOGGED_FAILURE])
    logged.mockRestore()
  },
)
