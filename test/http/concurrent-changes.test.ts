import { afterEach, expect, test, vi } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { startWorld, type World } from './world.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

/** Runs `meanwhile` once, after the next call of this method of the store has read its row. */
function afterNextRead<Noun extends object>(
  noun: Noun,
  method: keyof Noun & string,
  meanwhile: () => Promise<unknown>,
) {
  const read = noun[method] as (...args: unknown[]) => Promise<unknown>
  let isNext = true
  vi.spyOn(noun as Record<string, (...args: unknown[]) => unknown>, method).mockImplementation(
    async (...args) => {
      const isThis = isNext
      isNext = false
      const row = await read(...args)
      if (isThis) await meanwhile()
      return row
    },
  )
}

async function expectOk(answer: ReturnType<World['call']>): Promise<void> {
  const { status, body } = await answer
  expect([status, body]).toEqual([200, expect.anything()])
}

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
