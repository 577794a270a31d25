import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../../cli/gatepass.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { UserAgent } from '../../user-agent.ts'

let gatepass: Gatepass
beforeAll(async () => {
  gatepass = await startGatepass()
})
afterAll(() => gatepass.close())

const run = (...args: string[]) =>
  runHere({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }, ...args)

test('portal prints a link to the page of a user, and says what a link cannot have', async () => {
  const { code, stdout } = await run('portal', 'ada', '--name', 'Ada L.', '--may', 'disconnect,erase')
  expect(code).toBe(0)
  expect(stdout).toContain('This link opens the page of ada once, until')
  const url = /http:\S+ticket=gpp_[\w-]{86}/.exec(stdout)?.[0] ?? ''
  expect((await new UserAgent().get(url)).body).toContain('Ada L.')
  const json = JSON.parse((await run('portal', 'ada', '--seconds', '60', '--json')).stdout)
  expect(json).toEqual({ url: expect.stringContaining('/me/enter?ticket='), expires_at: expect.any(String) })
  const refused = await run('portal', 'ada', '--may', 'everything')
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('may')
})
