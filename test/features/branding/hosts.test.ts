import { expect, test } from 'vitest'
import { atOwnDomains } from '../../../src/features/branding/hosts.ts'

// Which requests wait for a database that does not answer, while this process does not know whether a project has proved
// or lost a domain.

const never = new Promise<void>(() => {})
const silent = { of: () => undefined, projectAt: () => undefined, settled: () => never }

test.each([
  ['the API at the public URL', 1, 'http://gate.example/v1/tools', false],
  ['the probe at any host', 1, 'http://10.0.0.7/health', false],
  ['any host where no project has a domain', 0, 'http://gatepass.svc/v1/tools', false],
  ['a host that may be a domain', 1, 'http://auth.acme.example/me', true],
] as const)('%s', (_, size, url, waits) => {
  const settings = { publicUrl: new URL('http://gate.example') }
  const broker = { sites: { ...silent, size }, settings } as unknown as Parameters<typeof atOwnDomains>[1]
  const serve = atOwnDomains(() => new Response('served'), broker, [])
  const answer = serve(new Request(url, { headers: { host: new URL(url).host } }), {})
  expect(answer instanceof Promise).toBe(waits)
})
