import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startFakeMcpServer } from '../fake-mcp-server.ts'
import { startFakeOxpServer } from '../fake-oxp-server.ts'
import { startFakeWorker } from '../fake-worker.ts'
import { testClock } from '../gatepass.ts'
import { startWorld, type World } from '../http/world.ts'
import { answerJson, listen, record } from '../loopback.ts'
import { defined } from './fixtures.ts'
import { DAMAGES, envelopesOf, overwrite } from './sealed-installation.ts'

// The tests alter or move the encrypted envelopes of hooks, runs, chains and workers of each type in the database, and
// then use them over the API. rotation.test.ts does the same for the other envelopes.

const clock = testClock()
const closing: (() => Promise<unknown>)[] = []
let world: World
let made = 0
const fresh = (what: string) => `${what}-${++made}`

beforeAll(async () => {
  const tools = fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url))
  world = await startWorld({ gatepass: { environment: { GATEPASS_TOOLS: tools }, now: clock } })
})
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
afterAll(() => world[Symbol.asyncDispose]())

/** Overwrites the envelope of the first row, and makes every cache read the database again. */
async function damage(column: string, [one, other]: readonly [string, string], how: string): Promise<void> {
  const { broker, databasePath } = world.gatepass
  const found = (await envelopesOf(broker)).filter(
    (each) => `${each.column.table}.${each.column.column}` === column,
  )
  const of = (row: string) => defined(found.find(({ rowId }) => rowId === row || rowId.endsWith(` ${row}`)))
  overwrite(databasePath, of(one), defined(DAMAGES[how])(of(one).sealed, of(other).sealed))
  broker.store.catchUp()
  await post('/v1/admin/policies', { id: fresh('other'), effect: 'deny', match: { users: ['nobody'] } })
  await post('/v1/workers', { id: fresh('other'), http: { uri: world.worker.url, secret: 's' } })
}

async function post(path: string, body: object) {
  const answer = await world.call('POST', path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body
}

const run = (toolId: string, more: object = {}) => world.call('POST', '/v1/tools/run', { toolId, ...more })

async function ran(key: string): Promise<number> {
  return (await run('Run:Ran', { args: { key } })).body.structured
}

async function expectUnreadableInAudit(subject: string): Promise<void> {
  // the audit entry is written after the answer
  const subjects = async () => {
    const { body } = await world.call('GET', '/v1/admin/audit?action=envelope.unreadable&limit=1000')
    return body.items.map((entry: { subject: string }) => entry.subject)
  }
  await expect.poll(subjects).toContain(subject)
  expect(world.gatepass.logLines.join('\n')).toContain('an envelope does not open')
  expect(world.gatepass.logLines.join('\n')).not.toContain('internal_error')
}

describe.each(Object.keys(DAMAGES))('%s', (how) => {
  test("a hook's secret: runs that need the hook are refused, even with on_failure allow, and the hook gets no request", async () => {
    const hookCalls: (string | undefined)[] = []
    const hook = await listen(async (req, res) => {
      hookCalls.push((await record(req)).headers.authorization)
      answerJson(res, 200, { code: 'OK' })
    })
    closing.push(() => hook.close())
    const ids = [fresh('hook'), fresh('hook')] as const
    for (const id of ids)
      await post('/v1/admin/policies', {
        id,
        effect: 'hook',
        match: { users: [`user of ${id}`] },
        hook: { url: hook.url, secret: `the-secret-of-${id}`, on_failure: 'allow' },
      })
    const { broker } = world.gatepass
    const project = defined(await broker.store.projects.findByName('default')).id
    await damage('policies.hook_secret', ids, how)

    const key = fresh('count')
    const used = (which: 0 | 1) => run('Run:Count', { args: { key }, user_id: `user of ${ids[which]}` })
    expect((await used(0)).body).toMatchObject({
      error: { kind: 'CONTEXT_CHECK_FAILED', message: expect.stringContaining(ids[0]) },
    })
    expect([hookCalls, await ran(key)]).toEqual([[], 0])
    expect((await used(1)).body.structured).toEqual({ times: 1 })
    expect(hookCalls).toEqual([`Bearer the-secret-of-${ids[1]}`])
    const refused = (await world.call('GET', '/v1/admin/audit?action=policy.refused&limit=1')).body.items
    expect(refused).toMatchObject([{ subject: ids[0], reason: 'hook_failed' }])
    await expectUnreadableInAudit(`policies.hook_secret ${project} ${ids[0]}`)
    // an administrator can still set the secret again
    const again = { hook: { url: hook.url, secret: 'a-secret-set-again' } }
    expect((await world.call('PATCH', `/v1/admin/policies/${ids[0]}`, again)).status).toBe(200)
    expect((await used(0)).body.structured).toEqual({ times: 2 })
    for (const id of ids) await world.call('DELETE', `/v1/admin/policies/${id}`)
  })

  test("a scheduled run's input: that run fails with the reason, and the other run completes", async () => {
    const keys = [fresh('put-off'), fresh('put-off')] as const
    const run_at = new Date((clock() + 60) * 1000).toISOString()
    const schedule = async (key: string): Promise<string> =>
      (await post('/v1/tools/execute', { tool_name: 'Run.Count', input: { key }, run_at })).execution_id
    const ids = [await schedule(keys[0]), await schedule(keys[1])] as const
    await damage('executions.request', ids, how)

    const look = async (id: string) => (await world.call('GET', `/v1/scheduled_tools/${id}`)).body
    expect(await look(ids[0])).toMatchObject({ execution_status: 'scheduled', unreadable: ['input'] })
    clock.advance(60)
    await expect.poll(async () => (await look(ids[0])).execution_status).toBe('failed')
    await expect.poll(async () => (await look(ids[1])).execution_status).toBe('completed')
    const failed = await look(ids[0])
    expect(failed).toMatchObject({
      outcome: 'error',
      unreadable: ['input'],
      attempts: [{ success: false, system_error_message: expect.stringContaining('executions.request') }],
    })
    expect(failed).not.toHaveProperty('input')
    expect(await look(ids[1])).toMatchObject({ input: { key: keys[1] } })
    expect([await ran(keys[0]), await ran(keys[1])]).toEqual([0, 1])
    await expectUnreadableInAudit(`executions.request ${ids[0]}`)
  })

  test("a run's input or results: the run is shown without them, and the other run is shown whole", async () => {
    for (const [column, member] of [
      ['request', 'input'],
      ['result', 'attempts'],
    ] as const) {
      const keep = async () =>
        (await run('Run:Count', { args: { key: fresh('kept') }, keep_content: true })).body.executionId
      const ids: readonly [string, string] = [await keep(), await keep()]
      await world.call('GET', `/v1/executions/${ids[0]}`) // the runs are in the database after this
      await damage(`executions.${column}`, ids, how)
      const shown = await world.call('GET', `/v1/executions/${ids[0]}`)
      expect(shown).toMatchObject({
        status: 200,
        body: { id: ids[0], outcome: 'value', unreadable: [member] },
      })
      expect(shown.body).not.toHaveProperty(member)
      expect(Object.keys(shown.body)).toContain(member === 'input' ? 'attempts' : 'input')
      const whole = (await world.call('GET', `/v1/executions/${ids[1]}`)).body
      expect(Object.keys(whole)).toEqual(expect.arrayContaining(['input', 'attempts']))
      expect(whole).not.toHaveProperty('unreadable')
      const { status, body } = await world.call('GET', '/v1/executions?limit=100')
      expect([status, body.items.map(({ id }: { id: string }) => id)]).toEqual([
        200,
        expect.arrayContaining([...ids]),
      ])
      await expectUnreadableInAudit(`executions.${column} ${ids[0]}`)
    }
  })

  test("the results of a run's earlier attempts: the run is repeated only if its tool is safe to repeat", async () => {
    const run_at = new Date((clock() + 60) * 1000).toISOString()
    const keys = [fresh('tried'), fresh('tried')] as const
    const ids: string[] = []
    for (const [i, tool] of ['Run.Count', 'Run.CountSafely'].entries())
      ids.push(
        (await post('/v1/tools/execute', { tool_name: tool, input: { key: keys[i] }, run_at })).execution_id,
      )
    // each has one failed attempt
    const { store, sealer } = world.gatepass.broker
    const { id: projectId } = defined(await store.projects.findByName('default'))
    const claimed = await store.scheduledRuns.claimDue({ owner: 'earlier', seconds: 30 }, clock() + 60, 10)
    expect(claimed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
    for (const record of claimed) {
      const place = { table: 'executions', column: 'result', rowId: record.id, projectId }
      const tries = [{ id: 'exec_1', startedAt: 1, finishedAt: 1, success: false }]
      const result = sealer.seal(JSON.stringify(tries), place)
      await store.scheduledRuns.settle(
        { ...record, status: 'scheduled', runAt: clock() + 70, result },
        'earlier',
      )
    }
    const [unsafe = '', safe = ''] = ids
    await damage('executions.result', [unsafe, safe], how)
    if (how !== 'taken from another row')
      await damage('executions.result', [safe, safe], 'no envelope at all')
    clock.advance(70)
    const end = async (id: string) => (await world.call('GET', `/v1/scheduled_tools/${id}`)).body
    await expect.poll(async () => (await end(unsafe)).execution_status).toBe('failed')
    await expect.poll(async () => (await end(safe)).execution_status).toBe('completed')
    expect((await end(unsafe)).attempts.at(-1)).toMatchObject({ success: false })
    expect([await ran(keys[0]), await ran(keys[1])]).toEqual([0, 1])
    await expectUnreadableInAudit(`executions.result ${unsafe}`)
  })

  test("a paused chain's state: the chain is not resumed and runs no step, and the other chain is resumed", async () => {
    const keys = [fresh('chain'), fresh('chain')] as const
    const user_id = fresh('chained')
    const pause = async (key: string): Promise<string> => {
      const steps = [
        { toolId: 'Run:Count', args: { key } },
        { toolId: 'Run:Acts', args: { key } },
      ]
      return (await post('/v1/tools/run_chain', { user_id, steps })).resume
    }
    const handles = [await pause(keys[0]), await pause(keys[1])] as const
    await world.connect(user_id)
    await damage('chains.state', handles, how)

    const resume = (which: 0 | 1) =>
      world.call('POST', '/v1/tools/run_chain', { user_id, resume: handles[which] })
    expect(await resume(0)).toMatchObject({
      status: 503,
      body: { name: 'store_unavailable', message: expect.stringContaining('Run the chain again') },
    })
    expect((await resume(1)).body).toMatchObject({ status: 'completed' })
    expect([await ran(keys[0]), await ran(keys[1])]).toEqual([1, 2])
    await expectUnreadableInAudit(`chains.state ${handles[0]}`)
  })

  test.each(['http', 'oxp', 'mcp'] as const)(
    'the secret of a worker of the type %s: only its own tools cannot be run, until the secret is set again',
    async (type) => {
      const [one, other] = [await addWorker(type), await addWorker(type)]
      const { store } = world.gatepass.broker
      const { id: project } = defined(await store.projects.findByName('default'))
      const uidOf = async (id: string) => defined(await store.workers.find(project, id)).uid
      await damage('workers.secret', [await uidOf(one.id), await uidOf(other.id)], how)

      const runs = (worker: typeof one) => run(worker.tool, { args: worker.args })
      const before = one.calls()
      expect(await runs(one)).toMatchObject({ status: 503, body: { name: 'store_unavailable' } })
      expect(one.calls()).toBe(before)
      expect((await runs(other)).body.error).toBeUndefined()
      expect(await world.call('GET', `/v1/workers/${one.id}`)).toMatchObject({ status: 200 })
      const list = await world.call('GET', '/v1/workers?limit=100')
      expect([list.status, list.body.items?.map(({ id }: { id: string }) => id)]).toEqual([
        200,
        expect.arrayContaining([one.id, other.id]),
      ])
      await expectUnreadableInAudit(`workers.secret ${await uidOf(one.id)}`)
      expect(await world.call('PATCH', `/v1/workers/${one.id}`, { [type]: one.secret })).toMatchObject({
        status: 200,
      })
      expect((await runs(one)).body).toMatchObject({ structured: expect.anything() })
      for (const { id } of [one, other])
        expect((await world.call('DELETE', `/v1/workers/${id}`)).status).toBeLessThan(300)
    },
  )
})

/** A worker of that type that answers only requests with its secret. */
async function addWorker(type: 'http' | 'oxp' | 'mcp') {
  const id = fresh(type)
  const name = `Sealed${made}`
  const secret = `the-secret-of-${id}`
  const server = await serve(type, name, secret)
  closing.push(() => server.close())
  await post('/v1/workers', {
    id,
    [type]: { uri: server.url, retry: 0, ...server.settings, ...server.secret },
  })
  return { id, tool: `${name}:${server.tool}`, args: server.args, secret: server.secret, calls: server.calls }
}

async function serve(type: 'http' | 'oxp' | 'mcp', name: string, secret: string) {
  switch (type) {
    case 'http': {
      const worker = await startFakeWorker({ secret, toolkit: { name, version: '1.0.0' } })
      const { url, close } = worker
      return {
        url,
        close,
        settings: {},
        secret: { secret },
        tool: 'Echo',
        args: { text: 'a' },
        calls: () => worker.invocations.length,
      }
    }
    case 'oxp': {
      const worker = await startFakeOxpServer({ toolkit: name, auth: { kind: 'api_key', key: secret } })
      const { url, close } = worker
      return {
        url,
        close,
        settings: {},
        secret: { api_key: secret },
        tool: 'Echo',
        args: { text: 'a' },
        calls: () => worker.calls.length,
      }
    }
    case 'mcp': {
      const worker = await startFakeMcpServer()
      const { url, close } = worker
      worker.behaviour.intercept = ({ headers }, res) => {
        if (headers['x-api-key'] === secret) return false
        res.writeHead(403).end()
        return true
      }
      const settings = { namespace: name, headers: { 'x-api-key': `\${secret:KEY}` } }
      return {
        url,
        close,
        settings,
        secret: { secrets: { KEY: secret } },
        tool: 'add',
        args: { a: 1, b: 2 },
        calls: () => worker.calls.length,
      }
    }
  }
}
