import type { IncomingMessage, ServerResponse } from 'node:http'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type FakeWorker, startFakeWorker } from '../fake-worker.ts'
import { connect } from '../faults/clients.ts'
import { oauth2For } from '../flows/fixtures.ts'
import { type Loopback, listen } from '../loopback.ts'
import { API_KEY, type Served, serveProcess } from '../served.ts'
import { soonest } from '../shortest.ts'
import { until } from '../until.ts'

// Real processes that get a signal to end while tools, code and forwarded requests are under way. Their worker and the API
// are in this process, so that it is seen from outside what reaches them.

const SECRET = 'the secret of the worker'

let as: FakeAuthorizationServer
let worker: FakeWorker
let api: Loopback
let asked: ServerResponse[]
let gone: number
beforeEach(async () => {
  ;[as, worker] = await Promise.all([startFakeAuthorizationServer(), startFakeWorker({ secret: SECRET })])
  asked = []
  gone = 0
  api = await listen((_: IncomingMessage, res: ServerResponse) => {
    asked.push(res.writeHead(200, { 'content-type': 'text/plain' }))
    res.on('close', () => gone++).write('begun ')
  })
})
afterEach(async () => {
  await Promise.all([as.close(), worker.close(), api.close()])
})

interface Ended {
  readonly execution_status: string
  readonly outcome: string | null
  readonly entry_point: string
}

/** A run of each kind, all of which need `ms` for their tool, and a forwarded request that the API ends. */
async function begin(served: Served, ms: number) {
  const added = await served.call('POST', '/v1/admin/auth_providers', {
    id: 'demo',
    oauth2: { ...oauth2For(as), api: { base_url: api.url, hosts: [new URL(api.url).host] } },
  })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  await connect(served, 'ada')
  const http = { uri: worker.url, secret: SECRET, timeout: 300, retry: 0 }
  expect((await served.call('POST', '/v1/workers', { id: 'slow', http })).status).toBe(201)

  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const post = (path: string, body: object) =>
    fetch(`${served.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      .then((response) => response.text())
      .catch(() => 'cut off')
  const run_at = '2020-01-01T00:00:00Z'
  const { body } = await served.call('POST', '/v1/tools/execute', {
    tool_name: 'Demo.Slow',
    input: { ms },
    run_at,
  })
  const running = {
    run: post('/v1/tools/run', { toolId: 'Demo:Slow', args: { ms } }),
    stream: post('/v1/tools/run_stream', { toolId: 'Demo:Slow', args: { ms } }),
    chain: post('/v1/tools/run_chain', { steps: [{ toolId: 'Demo:Slow', args: { ms } }] }),
    code: post('/v1/code/execute', {
      code: `return await tools.call('Demo:Slow', { ms: ${ms} })`,
      limits: { timeout_ms: 120_000 },
    }),
    proxy: fetch(`${served.url}/proxy/demo/anything`, { headers: { ...headers, 'x-gatepass-user': 'ada' } })
      .then((response) => response.text())
      .catch(() => 'cut off'),
  }
  await until(() => worker.invocations.length === 5 && asked.length === 1)
  return { scheduledId: body.execution_id as string, ...running }
}

function history({ databasePath }: Served): readonly Ended[] {
  const database = new Database(databasePath, { readonly: true })
  const rows = database
    .prepare('select status as execution_status, outcome, entry_point from executions order by entry_point')
    .all()
  database.close()
  return rows as Ended[] // the columns asked for
}

const KINDS = [
  ['one process', []],
  ['two processes', ['--processes', '2']],
] as const

describe.each(KINDS)('SIGTERM to %s', (_, args) => {
  test('while tools run in every way: all are answered, and what came of them is stored', async () => {
    await using served = await serveProcess({ args })
    const begun = await begin(served, 1_500)
    served.child.kill('SIGTERM')
    await until(() => served.log().includes('"ending"'))
    asked[0]?.end('ended')

    expect(JSON.parse(await begun.run)).toMatchObject({ structured: 'at last' })
    const stream = await begun.stream
    expect(stream.match(/^event: .*$/gm)?.at(-1)).toBe('event: done')
    expect(stream).toContain('at last')
    expect(JSON.parse(await begun.chain)).toMatchObject({ status: 'completed', structured: 'at last' })
    expect(JSON.parse(await begun.code)).toMatchObject({ value: 'at last', toolCalls: [{}] })
    expect(await begun.proxy).toBe('begun ended')
    expect(await served.ended).toEqual({ code: 0, signal: null })
    expect(history(served)).toEqual(
      ['code', 'execute', 'run', 'run_chain', 'run_stream'].map((entry_point) => ({
        execution_status: 'completed',
        outcome: 'value',
        entry_point,
      })),
    )
    expect(worker.invocations).toHaveLength(5)
  })
})

describe('SIGTERM', () => {
  test('while tools run that do not end: they are cut off before 25 seconds are over, and history says so', async () => {
    expect(await soonest(cutOff, 27)).toBeLessThan(27)
  })

  /** Returns the seconds from the signal to the end. */
  async function cutOff(): Promise<number> {
    worker.invocations.length = 0
    asked = []
    gone = 0
    await using served = await serveProcess()
    const begun = await begin(served, 600_000)
    const since = performance.now()
    served.child.kill('SIGTERM')
    expect(await served.ended).toEqual({ code: 0, signal: null })
    const seconds = (performance.now() - since) / 1000

    for (const what of ['run', 'stream', 'chain', 'code', 'proxy'] as const)
      expect(await begun[what], what).toBe('cut off')
    await until(() => gone === 1)
    const told = history(served)
    expect(told.filter(({ entry_point }) => entry_point !== 'execute')).toEqual(
      ['code', 'run', 'run_chain', 'run_stream'].map((entry_point) => ({
        execution_status: 'failed',
        outcome: 'error',
        entry_point,
      })),
    )
    // another process takes it over once its lease has run out
    expect(told.find(({ entry_point }) => entry_point === 'execute')).toMatchObject({
      execution_status: 'running',
    })
    expect(served.logLines()).toContainEqual(
      expect.objectContaining({ message: 'scheduled runs were cut off at shutdown', runs: 1 }),
    )
    expect(served.log()).not.toContain('uncaught error')
    return seconds
  }
})
