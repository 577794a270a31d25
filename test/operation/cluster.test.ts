import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { breakDatabase } from '../broken-database.ts'
import { runHere } from '../cli/gatepass.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { approve, authorize, begin, connect, importTool } from '../faults/clients.ts'
import { freshDatabase } from '../postgres.ts'
import { type Served, serveProcess } from '../served.ts'
import { until } from '../until.ts'
import { isAlive, keptConnection, workersOf } from './process.ts'

// `gatepass serve --processes`: a real primary with real workers on one SQLite file.

let as: FakeAuthorizationServer
beforeEach(async () => {
  as = await startFakeAuthorizationServer()
})
afterEach(() => as.close())

/**
 * The sum over all label values. For a process that does not answer within a second it contains what that process sent
 * last, so a test polls until it is as expected.
 */
async function figure(served: Served, name: string, labels = ''): Promise<number> {
  const { body } = await served.get('/metrics')
  const lines = body.split('\n').filter((line) => line.startsWith(name) && line.includes(labels))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

const start = () => serveProcess({ args: ['--processes', '2', '--json'] })

describe('serve --processes 2', () => {
  test('says as JSON where it serves, one wakes whoever waits at the other, and they refresh a token once', async () => {
    await using served = await start()
    // after the line of the log for which `serveProcess` waits
    await until(() => served.printed().endsWith('\n'))
    expect(JSON.parse(served.printed())).toEqual({
      url: served.url,
      host: '127.0.0.1',
      port: served.port,
      pid: served.child.pid,
      processes: 2,
    })
    const workers = workersOf(served)
    expect([...workers.keys()].sort()).toEqual([1, 2])

    await importTool(served, as)
    const flow = await begin(served)
    const callback = await approve(flow)
    // connections go round: these are at both
    const waiting = Array.from({ length: 8 }, async () => {
      const { body } = await keptConnection(served).get(`/v1/auth/status?id=${flow.id}&wait=59`)
      return [JSON.parse(body).status, performance.now()] as const
    })
    await until(async () => (await figure(served, 'gatepass_waiters')) === 8)
    await flow.browser.get(callback)
    const answers = await Promise.all(waiting)
    expect(answers.map(([status]) => status)).toEqual(Array(8).fill('completed'))
    const at = answers.map(([, at]) => at)
    expect(Math.max(...at) - Math.min(...at)).toBeLessThan(30_000)
    const { body } = await authorize(served, flow.user)
    expect(body).toMatchObject({ status: 'completed' })

    // a refresh that both are asked for is one token request
    as.behaviour.refresh = 'rotate-strict'
    as.behaviour.accessTokenLifetime = 1
    const id = await connect(served, 'refreshed')
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    as.behaviour.accessTokenLifetime = 3600
    as.behaviour.refreshDelayMs = 300
    const tokens = await Promise.all(
      Array.from({ length: 40 }, () => served.call('POST', `/v1/connections/${id}/token`)),
    )
    expect(tokens.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(new Set(tokens.map(({ body }) => body.access_token)).size).toBe(1)
    expect(as.tokenRequests('refresh_token')).toHaveLength(1)
    expect(as.familyRevoked).toBe(false)
    await expect.poll(() => figure(served, 'gatepass_refreshes_total', 'outcome="refreshed"')).toBe(1)
  })

  test('a worker that gets SIGTERM finishes what it has begun and is replaced, one that is killed too, and no figure falls', async () => {
    await using served = await start()
    await importTool(served, as)
    const flow = await begin(served)
    const callback = await approve(flow)
    as.behaviour.exchangeDelayMs = 2_000
    const page = flow.browser.get(callback)
    await until(() => as.tokenRequests('authorization_code').length === 1)
    const old = workersOf(served)
    for (const pid of old.values()) process.kill(pid, 'SIGTERM')
    expect((await page).status).toBe(303)
    await until(() =>
      [...old].every(([number, pid]) => workersOf(served).get(number) !== pid && !isAlive(pid)),
    )
    expect((await authorize(served, flow.user)).body).toMatchObject({ status: 'completed' })
    expect(served.logLines().filter(({ level }) => level === 'error')).toEqual([])

    for (let i = 0; i < 20; i++) await served.call('GET', '/v1/tools')
    const requests = () => figure(served, 'gatepass_http_requests_total', 'route="/v1/tools"')
    await expect.poll(requests).toBe(20)
    const first = workersOf(served).get(1) ?? 0
    process.kill(first, 'SIGKILL')
    await until(() => !isAlive(first))
    for (let i = 0; i < 20; i++) expect((await served.call('GET', '/v1/tools')).status).toBe(200)
    await until(() => workersOf(served).get(1) !== first)
    expect(served.logLines()).toContainEqual(
      expect.objectContaining({ level: 'error', worker: 1, signal: 'SIGKILL' }),
    )
    await until(async () => (await figure(served, 'gatepass_processes')) === 2)
    await expect.poll(requests).toBe(40)

    served.child.kill('SIGTERM')
    expect(await served.ended).toEqual({ code: 0, signal: null })
    for (const pid of workersOf(served).values()) expect(isAlive(pid)).toBe(false)
  })

  test('when the primary is killed, the workers finish what they have begun and end', async () => {
    await using served = await start()
    await importTool(served, as)
    const flow = await begin(served)
    const callback = await approve(flow)
    as.behaviour.exchangeDelayMs = 1_000
    const page = flow.browser.get(callback)
    await until(() => as.tokenRequests('authorization_code').length === 1)
    served.child.kill('SIGKILL')
    expect((await page).status).toBe(303)
    await until(() => [...workersOf(served).values()].every((pid) => !isAlive(pid)))
  })

  test('workers that end as soon as they have started are given up with one line', async () => {
    await using served = await start()
    breakDatabase(served.databasePath)
    for (const pid of workersOf(served).values()) process.kill(pid, 'SIGKILL')
    expect(await served.ended).toEqual({ code: 1, signal: null })
    const said = served
      .log()
      .split('\n')
      .filter((line) => line.startsWith('The processes end'))
    expect(said).toEqual([expect.stringContaining('exit code 6')])
  })
})

test('several processes on PostgreSQL are one Gatepass too', async () => {
  await using database = await freshDatabase()
  await using served = await serveProcess({
    args: ['--processes', '2'],
    database: database.url,
  })
  await importTool(served, as)
  const flow = await begin(served)
  const callback = await approve(flow)
  const waiting = Array.from({ length: 8 }, () =>
    keptConnection(served).get(`/v1/auth/status?id=${flow.id}&wait=59`),
  )
  await until(async () => (await figure(served, 'gatepass_waiters')) === 8)
  await flow.browser.get(callback)
  for (const { body } of await Promise.all(waiting)) expect(JSON.parse(body).status).toBe('completed')
  await expect.poll(() => figure(served, 'gatepass_database_connections')).toBeGreaterThan(1)
  await expect.poll(() => figure(served, 'gatepass_authorizations_completed_total')).toBe(1)
  served.child.kill('SIGTERM')
  expect(await served.ended).toEqual({ code: 0, signal: null })
  expect(served.logLines().filter(({ level }) => level === 'error')).toEqual([])
})

test('a port that is taken is told once, whatever the number of processes', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const address = taken.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  const refused = serveProcess({ args: ['--processes', '3'], port })
  const { message } = await refused.then(
    () => new Error('it serves'),
    (error: Error) => error,
  )
  expect(message.match(/The address is already in use/g)).toHaveLength(1)
  taken.close()
})

test.each(['0', '65', 'two', '1.5', '-1'])('serve --processes %s is refused', async (processes) => {
  const refused = await runHere({}, 'serve', `--processes=${processes}`)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain('whole number from 1 to 64')
})
