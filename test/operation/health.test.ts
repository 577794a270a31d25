import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { breakDatabase } from '../broken-database.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { approve, begin, connect, importTool } from '../faults/clients.ts'
import { startGatepass } from '../gatepass.ts'
import { API_KEY, serveProcess } from '../served.ts'
import { until } from '../until.ts'

let as: FakeAuthorizationServer
beforeEach(async () => {
  as = await startFakeAuthorizationServer()
})
afterEach(() => as.close())

test('it is not ready any more as soon as it begins to end, and alive until then', async () => {
  await using gatepass = await startGatepass()
  expect(await gatepass.call('GET', '/ready')).toMatchObject({ status: 200, body: { ready: true } })
  gatepass.broker.waiters.close()
  expect(await gatepass.call('GET', '/ready')).toMatchObject({
    status: 503,
    body: { ready: false, reason: 'shutting_down' },
  })
  expect(await gatepass.call('GET', '/v1/health')).toMatchObject({ status: 503, body: { healthy: false } })
  expect(await gatepass.call('GET', '/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
})

test('it is not ready while the database is held by somebody else, and recovers by itself', async () => {
  await using gatepass = await startGatepass()
  const other = new Database(gatepass.databasePath)
  other.exec('begin immediate')
  expect(await gatepass.call('GET', '/ready')).toMatchObject({
    status: 503,
    body: { ready: false, reason: 'database' },
  })
  expect(await gatepass.call('GET', '/health')).toMatchObject({ status: 200 })
  other.exec('rollback')
  other.close()
  await until(async () => (await gatepass.call('GET', '/ready')).status === 200)
})

test('probes are no load: those of one second share one write', async () => {
  await using gatepass = await startGatepass()
  const { store } = gatepass.broker
  let writes = 0
  const probe = store.probe.bind(store)
  Object.assign(store, {
    probe() {
      writes++
      return probe()
    },
  })
  const begun = performance.now()
  await Promise.all(Array.from({ length: 200 }, () => gatepass.call('GET', '/ready')))
  expect(writes).toBeLessThanOrEqual(2 + (performance.now() - begun) / 1_000)
})

test('with a worker of the database that does not answer it is ready, and names the worker; its address is in the log only', async () => {
  await using gatepass = await startGatepass()
  const ready = async () => (await gatepass.call('GET', '/ready')).body
  let silent = [{ name: 'worker 2', address: 'database-2.internal:5432' }]
  Object.assign(gatepass.broker.store, { findSilentWorkers: async () => silent })
  expect(await ready()).toEqual({ ready: true, unavailable_database_workers: ['worker 2'] })
  expect((await gatepass.call('GET', '/v1/health')).body).toEqual({ healthy: true })
  expect(gatepass.logLines.filter((line) => line.includes('database-2.internal:5432'))).toHaveLength(1)
  silent = []
  await until(async () => (await ready()).unavailable_database_workers === undefined)
  expect(gatepass.logLines.filter((line) => line.includes('answer again'))).toHaveLength(1)
})

test('it is not ready while something is sealed with a master key that it lacks, and the doctor says so', async () => {
  await using gatepass = await startGatepass()
  const { facts } = gatepass.broker.store
  const keys = async () => {
    const { body } = await gatepass.call('GET', '/v1/admin/diagnosis')
    return body.checks.filter(({ name }: { name: string }) => name === 'master key')
  }
  expect(await keys()).toEqual([
    { name: 'master key', status: 'ok', message: 'the server that runs has every key in use' },
  ])
  await facts.put('sealing_keys', '0badc0de') // as a rotation by an older release leaves it, which asks no server
  await until(async () => (await gatepass.call('GET', '/ready')).status === 503)
  expect((await gatepass.call('GET', '/ready')).body).toMatchObject({ ready: false, reason: 'master_key' })
  expect(await keys()).toMatchObject([
    { status: 'failed', message: expect.stringContaining('sealed with key 0badc0de') },
    { status: 'failed', message: expect.stringContaining(`process ${process.pid}`) },
  ])
})

// `ulimit -f` simulates a full disk: writes that would grow a file beyond it, in KiB, are refused. A new installation with a
// connection writes 1,200
const LIMITED = ['bash', '-c', 'ulimit -f 2500; exec "$0" "$@"'] as const

test('on a full disk: not ready, no code is sent to the provider that could not be stored, reads go on', async () => {
  await using served = await serveProcess({ under: LIMITED })
  await importTool(served, as)
  const id = await connect(served)
  const flow = await begin(served, 'eve')
  const callback = await approve(flow)
  const exchanges = as.tokenRequests('authorization_code').length

  // with ever smaller writes, until nothing can be written any more
  for (const length of [4_900, 1])
    await until(async () => {
      const name = `FILL_${Math.random().toString(36).slice(2)}`
      const { status } = await served.call('POST', `/v1/admin/secrets/${name}`, { value: 'x'.repeat(length) })
      return status === 503
    })
  await until(async () => (await served.get('/ready')).status === 503)
  expect(JSON.parse((await served.get('/ready')).body)).toMatchObject({ ready: false, reason: 'database' })
  expect((await served.get('/health')).status).toBe(200)
  expect((await served.call('GET', `/v1/connections/${id}`)).status).toBe(200)
  expect((await served.get('/metrics')).body).toContain('\ngatepass_database_writable 0\n')

  const page = await flow.browser.get(callback)
  expect(page.status).toBe(503)
  expect(as.tokenRequests('authorization_code')).toHaveLength(exchanges)
  served.child.kill('SIGTERM')
  expect(await served.ended).toEqual({ code: 0, signal: null })
  expect(served.log()).not.toContain(API_KEY)
})

test('a database that is broken while somebody waits ends no process', async () => {
  await using served = await serveProcess()
  await importTool(served, as)
  const { id } = await begin(served)
  const waiting = served.call('GET', `/v1/auth/status?id=${id}&wait=5`).catch(() => undefined)
  await until(async () => (await served.get('/metrics')).body.includes('\ngatepass_waiters 1\n'))
  breakDatabase(served.databasePath)
  await waiting
  expect((await served.get('/health')).status).toBe(200)
  expect((await served.get('/ready')).status).toBe(503)
  served.child.kill('SIGTERM')
  expect(await served.ended).toEqual({ code: 0, signal: null })
})
