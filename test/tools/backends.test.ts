import { expect, test } from 'vitest'
import type { Broker } from '../../src/broker.ts'
import { oxpBackend } from '../../src/features/oxp/backend.ts'
import { createBackends } from '../../src/tools/backends.ts'
import { worker } from '../store/fixtures.ts'

test('two brokers of one process have the backends of their own features only', async () => {
  const server = worker({ projectId: 'p1', type: 'oxp' })
  expect(createBackends(new Map([['oxp', oxpBackend]])).of(server)).toBe(oxpBackend)
  const without = createBackends(new Map()).of(server)
  expect(await without.health({} as Broker, server)).toMatchObject({
    healthy: false,
    message: expect.stringContaining('has no workers of the type "oxp"'),
  })
})
