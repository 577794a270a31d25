import { expect, test, vi } from 'vitest'
import { createExecuteOnce, type Executed } from '../../src/http/endpoint/idempotency.ts'
import { startGatepass } from '../gatepass.ts'
import { until } from '../until.ts'

// What HTTP requests cannot show: an answer that breaks off while it is kept, and waits of minutes.

async function start() {
  const gatepass = await startGatepass()
  const { broker } = gatepass
  const project = await broker.store.projects.findByName('default')
  if (project === undefined) throw new Error('there is always a project of this name')
  const executeOnce = createExecuteOnce(broker)
  const caller = {
    id: 'key_1',
    projectId: project.id,
    name: 'a key',
    role: 'caller',
    hash: '',
    createdAt: 0,
  } as const
  let executed = 0
  return {
    executed: () => executed,
    claims: () => vi.spyOn(broker.store.idempotencyKeys, 'claim'),
    send: (execute: () => Promise<Response>) =>
      executeOnce(
        {
          caller,
          key: ['/x', 'k'],
          content: '{}',
          kind: 'Idempotency-Key',
          signal: new AbortController().signal,
        },
        async (): Promise<Executed> => {
          executed++
          return { response: await execute(), mayBeRepeated: false }
        },
      ),
    [Symbol.asyncDispose]: () => gatepass[Symbol.asyncDispose](),
  }
}

test('a request whose answer breaks off is not executed again', async () => {
  await using world = await start()
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('cut off')) })
  await expect(world.send(async () => new Response(broken))).rejects.toThrow('cut off')
  const repeated = await world.send(async () => new Response('again'))
  expect([repeated.status, (await repeated.json()).name]).toEqual([410, 'answer_not_kept'])
  expect(world.executed()).toBe(1)
})

test('a repetition waits five minutes for the first request, and is then refused', async () => {
  await using world = await start()
  const { promise, resolve } = Promise.withResolvers<Response>()
  const first = world.send(() => promise)
  await until(() => world.executed() === 1)
  const now = performance.now.bind(performance)
  let ahead = 0
  const claims = world.claims()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  try {
    const repeated = expect(world.send(() => promise)).rejects.toMatchObject({ code: 'rate_limited' })
    await until(() => claims.mock.calls.length === 1)
    ahead = 5 * 60_000
    await repeated
  } finally {
    clock.mockRestore()
  }
  resolve(new Response('done'))
  expect(await (await first).text()).toBe('done')
  expect(await (await world.send(() => promise)).text()).toBe('done')
  expect(world.executed()).toBe(1)
})
