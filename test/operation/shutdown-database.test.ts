import { expect, test } from 'vitest'
import { startFakeWorker } from '../fake-worker.ts'
import { startPostgres } from '../postgres.ts'
import { serveProcess } from '../served.ts'
import { soonest } from '../shortest.ts'
import { until } from '../until.ts'

test('SIGTERM while the database is away and does not come back: what is still to be written is given up in time', async () => {
  expect(await soonest(giveUp, 29)).toBeLessThan(29)
})

/** Returns the seconds from the signal to the end. */
async function giveUp(): Promise<number> {
  await using cluster = await startPostgres()
  const ending = Promise.withResolvers<void>()
  const secret = 'the secret of the worker'
  const worker = await startFakeWorker({
    secret,
    tools: [
      {
        name: 'Held',
        description: 'Ends when the test says so.',
        async run() {
          await ending.promise
          return { value: 'done' }
        },
      },
    ],
  })
  try {
    await using served = await serveProcess({ database: cluster.url })
    const http = { uri: worker.url, secret, timeout: 60, retry: 0 }
    expect((await served.call('POST', '/v1/workers', { id: 'held', http })).status).toBe(201)
    const run_at = '2020-01-01T00:00:00'
    await served.call('POST', '/v1/tools/execute', { tool_name: 'Demo.Held', run_at })
    const run = served.call('POST', '/v1/tools/run', { toolId: 'Demo:Held' })
    await until(() => worker.invocations.length === 2)
    await cluster.stop()
    const since = performance.now()
    served.child.kill('SIGTERM')
    await until(() => served.log().includes('"ending"'))
    ending.resolve()

    expect((await run).body).toMatchObject({ structured: 'done' })
    expect(await served.ended).toEqual({ code: 0, signal: null })
    const seconds = (performance.now() - since) / 1000
    expect(served.logLines()).toContainEqual(
      expect.objectContaining({ message: 'scheduled runs were cut off at shutdown', runs: 1 }),
    )
    expect(served.logLines().at(-1)).toMatchObject({ message: 'ended' })
    return seconds
  } finally {
    await worker.close()
  }
}
