import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { issueApiKey } from '../../../src/domain/api-key.ts'
import { sha256 } from '../../../src/domain/ids.ts'
import { type Answer, type CallOptions, type Gatepass, startGatepass, testClock } from '../../gatepass.ts'
import { STAINLESS, startWorld, type World } from '../../http/world.ts'

// Runs that are put off, and the history of all runs. The scheduler looks every second of real time for what is due by
// the clock that tests move.

const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../../fixtures/run-tools.ts', import.meta.url)) }
const PATIENCE = { timeout: 300_000, interval: 100 }
const clock = testClock()

let world: World
let made = 0
const fresh = (what: string) => `scheduled-${what}-${++made}`

beforeAll(async () => {
  world = await startWorld({ gatepass: { environment, now: clock } })
})
afterEach(() => {
  world.worker.behaviour.invoke = 'ok'
})
afterAll(() => world[Symbol.asyncDispose]())

type Callable = Pick<Gatepass, 'call'>

const inSeconds = (seconds: number) => new Date((clock() + seconds) * 1000).toISOString()

function schedule(
  tool_name: string,
  input: object,
  {
    key,
    headers,
    at = 60,
    from = world,
    ...more
  }: CallOptions & { at?: number; from?: Callable; user_id?: string } = {},
): Promise<Answer> {
  const body = { tool_name, input, run_at: inSeconds(at).slice(0, 19), ...more }
  const options = { ...(key !== undefined && { key }), ...(headers && { headers }) }
  return from.call('POST', '/v1/tools/execute', body, options)
}

/** Schedules it and answers its id. */
async function scheduled(...args: Parameters<typeof schedule>): Promise<string> {
  const { status, body } = await schedule(...args)
  expect([status, body.success]).toEqual([200, true])
  return body.execution_id
}

const look = async (id: string, from: Callable = world) =>
  (await from.call('GET', `/v1/scheduled_tools/${id}`)).body
const statusOf = async (id: string, from?: Callable) => (await look(id, from)).execution_status

async function settled(id: string, from?: Callable) {
  await expect.poll(() => statusOf(id, from), PATIENCE).toMatch(/completed|failed|cancelled/)
  return look(id, from)
}

async function ran(key: string, from: Callable = world): Promise<number> {
  const { body } = await from.call('POST', '/v1/tools/run', { toolId: 'Run:Ran', args: { key } })
  return body.structured
}

describe('a run that is put off', () => {
  test('is not run before its time, then once; what came of it can be asked for', async () => {
    const [key, later] = [fresh('once'), fresh('later')]
    const answer = await schedule('Run.Count', { key })
    expect(answer.body).toEqual({
      execution_id: expect.stringMatching(/^exec_/),
      duration: 0,
      finished_at: expect.any(String),
      success: true,
    })
    const id = answer.body.execution_id
    const waiting = await scheduled('Run.Count', { key: later }, { at: 3600 })
    expect(await look(id)).toEqual({
      id,
      tool_id: 'Run:Count',
      tool_name: 'Count',
      toolkit_name: 'Run',
      execution_type: 'scheduled',
      execution_status: 'scheduled',
      entry_point: 'execute',
      run_at: inSeconds(60),
      created_at: inSeconds(0),
      updated_at: inSeconds(0),
      api_key_id: expect.stringMatching(/^key_/),
      input: { key },
      attempts: [],
    })
    const at = inSeconds(60)
    clock.advance(60)
    expect(await settled(id)).toMatchObject({
      execution_status: 'completed',
      outcome: 'value',
      started_at: at,
      finished_at: at,
      duration: expect.any(Number),
      attempts: [
        {
          id: expect.any(String),
          started_at: at,
          finished_at: at,
          success: true,
          output: { value: { times: 1 } },
        },
      ],
    })
    expect([await statusOf(waiting), await ran(key), await ran(later)]).toEqual(['scheduled', 1, 0])
    await world.call('DELETE', `/v1/scheduled_tools/${waiting}`)

    const { body } = await world.call('GET', '/v1/scheduled_tools?limit=2')
    expect(body).toMatchObject({ offset: 0, limit: 2, page_count: 2, items: [{ id: waiting }, { id }] })
    for (const item of body.items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(['input']))
  })

  test("in Arcade's words, and with an offset or in the past", async () => {
    const key = fresh('arcade')
    const body = { tool_name: 'Run.Count', input: { key }, run_at: '2020-01-01T00:00:00+02:00' }
    const answer = await world.call('POST', '/v1/tools/execute', body, { headers: STAINLESS })
    expect(answer.body).toMatchObject({
      id: answer.body.execution_id,
      execution_type: 'scheduled',
      status: 'scheduled',
      success: true,
      run_at: '2019-12-31T22:00:00.000Z',
    })
    expect((await settled(answer.body.id)).execution_status).toBe('completed')
  })

  test.each<[string, string, object, object, string]>([
    ['a time that is none', 'Run.Add', { a: 1 }, { run_at: 'tomorrow' }, 'invalid_request'],
    ['a day that there is not', 'Run.Add', { a: 1 }, { run_at: '2027-13-41T00:00:00' }, 'invalid_request'],
    [
      'a day that its month has not',
      'Run.Add',
      { a: 1 },
      { run_at: '2027-02-31T00:00:00' },
      'invalid_request',
    ],
    ['input that its schema refuses', 'Run.Add', { a: 'one' }, {}, 'invalid_input'],
    ['no user for a tool that acts for one', 'Run.Acts', {}, {}, 'invalid_request'],
    [
      'an account at a provider it does not need',
      'Run.Add',
      { a: 1 },
      { accounts: { github: 'x' } },
      'invalid_request',
    ],
  ])('refuses %s', async (_, tool_name, input, more, name) => {
    const body = { tool_name, input, run_at: inSeconds(60), ...more }
    expect(await world.call('POST', '/v1/tools/execute', body)).toMatchObject({ status: 400, body: { name } })
  })

  test('that lacks consent is not put off: the link comes at once', async () => {
    const user_id = fresh('user')
    const before = (await world.call('GET', '/v1/scheduled_tools')).body.total_count
    const plain = await schedule('Run.Acts', {}, { user_id })
    expect(plain.body).toMatchObject({
      success: false,
      output: { requires_authorization: { url: expect.stringContaining('/connect/'), status: 'pending' } },
    })
    const arcade = await schedule('Run.Acts', {}, { user_id, headers: STAINLESS })
    expect(arcade).toMatchObject({
      status: 403,
      body: { output: { authorization: { id: plain.body.output.requires_authorization.id } } },
    })
    expect((await world.call('GET', '/v1/scheduled_tools')).body.total_count).toBe(before)
    await world.connect(user_id)
    const id = await scheduled('Run.Acts', { key: user_id }, { user_id })
    clock.advance(60)
    expect(await settled(id)).toMatchObject({
      user_id,
      execution_status: 'completed',
      attempts: [{ success: true, output: { value: { user: user_id } } }],
    })
  })

  test('whose consent was revoked meanwhile has failed, with the link', async () => {
    const user_id = fresh('user')
    await world.connect(user_id)
    const key = fresh('revoked')
    const id = await scheduled('Run.Acts', { key }, { user_id })
    const [connection] = (await world.call('GET', `/v1/connections?user_id=${user_id}`)).body.items
    await world.call('DELETE', `/v1/connections/${connection.id}`)
    clock.advance(60)
    expect(await settled(id)).toMatchObject({
      execution_status: 'failed',
      outcome: 'requires_authorization',
      attempts: [
        {
          success: false,
          output: { authorization: { status: 'pending', url: expect.stringContaining('/connect/') } },
        },
      ],
    })
    expect(await ran(key)).toBe(0)
  })

  test('whose key was revoked meanwhile is not run; one whose key was rotated is', async () => {
    const { apiKeys } = world.gatepass.broker.store
    const [revoked, rotated] = [fresh('revoked'), fresh('rotated')]
    const keys = [await world.gatepass.makeKey('caller'), await world.gatepass.makeKey('caller')] as const
    const ids = [
      await scheduled('Run.Count', { key: revoked }, { key: keys[0] }),
      await scheduled('Run.Count', { key: rotated }, { key: keys[1] }),
    ] as const
    const [first, second] = await Promise.all(keys.map((one) => apiKeys.findByHash(sha256(one))))
    if (first === undefined || second === undefined) throw new Error('no keys')
    const { projectId } = first
    await apiKeys.revoke(projectId, first.id, clock())
    const { record } = issueApiKey({ projectId, name: 'next', role: 'caller', createdAt: clock() })
    expect(await apiKeys.rotate(second, clock() + 10, record)).toBe(true)
    clock.advance(60)
    expect(await settled(ids[0])).toMatchObject({
      execution_status: 'failed',
      attempts: [{ success: false, system_error_message: expect.stringContaining('key') }],
    })
    expect(await settled(ids[1])).toMatchObject({ execution_status: 'completed' })
    expect([await ran(revoked), await ran(rotated)]).toEqual([0, 1])
  })

  test('whose key was rotated and then revoked, as after a leak, is not run', async () => {
    const leaked = fresh('leaked')
    const secret = await world.gatepass.makeKey('caller')
    const id = await scheduled('Run.Count', { key: leaked }, { key: secret })
    const { apiKeys } = world.gatepass.broker.store
    const key = await apiKeys.findByHash(sha256(secret))
    const rotated = await world.call('POST', `/v1/admin/keys/${key?.id}/rotate`, { grace: 0 })
    expect(rotated.status).toBe(201)
    expect((await world.call('DELETE', `/v1/admin/keys/${key?.id}`)).status).toBe(204)
    clock.advance(60)
    expect(await settled(id)).toMatchObject({
      execution_status: 'failed',
      attempts: [{ success: false, system_error_message: expect.stringContaining('key') }],
    })
    expect(await ran(leaked)).toBe(0)
  })

  test('whose key has expired meanwhile is not run', async () => {
    const { store } = world.gatepass.broker
    const { id: projectId } = await store.projects.ensure('default', clock())
    const expiresAt = clock() + 30
    const { key: apiKey, record } = issueApiKey({
      ...{ projectId, name: 'short', role: 'caller', createdAt: clock(), expiresAt },
    })
    await store.apiKeys.add(record)
    const key = fresh('expired')
    const id = await scheduled('Run.Count', { key }, { key: apiKey })
    clock.advance(60)
    expect(await settled(id)).toMatchObject({
      execution_status: 'failed',
      attempts: [{ success: false, system_error_message: expect.stringContaining('has expired') }],
    })
    expect(await ran(key)).toBe(0)
  })

  test('can be cancelled until it has begun', async () => {
    const key = fresh('cancelled')
    const id = await scheduled('Run.Count', { key })
    const cancel = () => world.call('DELETE', `/v1/scheduled_tools/${id}`)
    expect(await cancel()).toMatchObject({ status: 200, body: { id, execution_status: 'cancelled' } })
    expect(await cancel()).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
    expect((await world.call('DELETE', '/v1/scheduled_tools/exec_nothing')).status).toBe(404)
    const done = await scheduled('Run.Count', { key: fresh('done') })
    clock.advance(60)
    await settled(done)
    expect([await statusOf(id), await ran(key)]).toEqual(['cancelled', 0])
    expect((await world.call('DELETE', `/v1/scheduled_tools/${done}`)).status).toBe(400)
    const { body } = await world.call('GET', '/v1/admin/audit?limit=100')
    const told = body.items.map(
      ({ action, subject }: { action: string; subject?: string }) => `${action} ${subject}`,
    )
    expect(told).toEqual(expect.arrayContaining([`tool.scheduled ${id}`, `tool.cancelled ${id}`]))
  })

  test('with an Idempotency-Key is put off once', async () => {
    const key = fresh('idempotent')
    const run_at = inSeconds(60)
    const ask = () =>
      world.call(
        'POST',
        '/v1/tools/execute',
        { tool_name: 'Run.Count', input: { key }, run_at },
        {
          headers: { 'idempotency-key': key },
        },
      )
    const answers = [...(await Promise.all([ask(), ask()])), await ask()]
    expect(new Set(answers.map(({ body }) => body.execution_id)).size).toBe(1)
    clock.advance(60)
    await settled(answers[0]?.body.execution_id)
    expect(await ran(key)).toBe(1)
  })

  test('fails as its tool does, and is not tried again', async () => {
    const key = fresh('fails')
    const id = await scheduled('Run.Fails', { key })
    clock.advance(60)
    expect(await settled(id)).toMatchObject({
      execution_status: 'failed',
      outcome: 'error',
      error_kind: 'TOOL_RUNTIME_FATAL',
      attempts: [{ success: false, output: { error: { kind: 'TOOL_RUNTIME_FATAL' } } }],
    })
    clock.advance(3600)
    expect([await statusOf(id), await ran(key)]).toEqual(['failed', 1])
  })

  test('whose worker is unavailable is tried again later', async () => {
    const text = fresh('unavailable')
    const { behaviour } = world.worker
    const id = await scheduled('Demo.Echo', { text })
    behaviour.invoke = '503'
    clock.advance(60)
    await expect.poll(async () => (await look(id)).attempts.length, PATIENCE).toBe(1)
    expect(await look(id)).toMatchObject({
      execution_status: 'scheduled',
      run_at: inSeconds(10),
      attempts: [{ success: false, output: { error: { can_retry: true } } }],
    })
    behaviour.invoke = 'ok'
    clock.advance(10)
    expect(await settled(id)).toMatchObject({
      execution_status: 'completed',
      attempts: [{ success: false }, { success: true, output: { value: { inputs: { text } } } }],
    })
  })

  test('whose provider is down is tried again later, and given up at last', async () => {
    await using own = await startWorld({
      gatepass: { environment, now: clock },
      as: { accessTokenLifetime: 30 },
    })
    await own.connect('ada')
    const [passing, lasting] = [fresh('passing'), fresh('lasting')]
    const ids = [
      await scheduled('Run.Acts', { key: passing }, { from: own, user_id: 'ada' }),
      await scheduled('Run.Acts', { key: lasting }, { from: own, user_id: 'ada', at: 30 * 24 * 3600 }),
    ] as const
    own.as.behaviour.refresh = '503'
    clock.advance(60)
    await expect.poll(async () => (await look(ids[0], own)).attempts.length, PATIENCE).toBe(1)
    expect(await look(ids[0], own)).toMatchObject({
      execution_status: 'scheduled',
      attempts: [{ success: false, system_error_message: expect.any(String) }],
    })
    own.as.behaviour.refresh = 'static'
    clock.advance(600)
    expect(await settled(ids[0], own)).toMatchObject({
      execution_status: 'completed',
      attempts: [{ success: false }, { success: true }],
    })

    own.as.behaviour.refresh = '503'
    clock.advance(30 * 24 * 3600)
    for (let tries = 1; tries <= 8; tries++) {
      await expect.poll(async () => (await look(ids[1], own)).attempts.length, PATIENCE).toBe(tries)
      clock.advance(3600)
    }
    expect(await look(ids[1], own)).toMatchObject({ execution_status: 'failed' })
    expect([await ran(passing), await ran(lasting)]).toEqual([1, 0])
  })

  test('under a process that has died is taken over: run again only where that is safe', async () => {
    const [safe, unsafe] = [fresh('safe'), fresh('unsafe')]
    const ids = [
      await scheduled('Run.CountSafely', { key: safe }),
      await scheduled('Run.Count', { key: unsafe }),
    ] as const
    // a process whose clock runs ahead claims both, and is not heard of again
    const lease = { owner: 'a dead process', seconds: 30 }
    const claimed = await world.gatepass.broker.store.scheduledRuns.claimDue(lease, clock() + 60, 10)
    expect(claimed.map(({ id }) => id).toSorted()).toEqual([...ids].toSorted())
    expect(await Promise.all(ids.map((id) => statusOf(id)))).toEqual(['running', 'running'])
    expect((await world.call('DELETE', `/v1/scheduled_tools/${ids[0]}`)).status).toBe(400)
    clock.advance(91)
    expect(await settled(ids[0])).toMatchObject({
      execution_status: 'completed',
      attempts: [{ success: true }],
    })
    expect(await settled(ids[1])).toMatchObject({
      execution_status: 'failed',
      attempts: [{ success: false, system_error_message: expect.stringContaining('not run again') }],
    })
    expect([await ran(safe), await ran(unsafe)]).toEqual([1, 0])
  })
})

describe('over restarts and nodes', () => {
  test('outlives the process, whose end waits for what is under way', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-'))
    const options = { environment, now: clock, databasePath: join(folder, 'gatepass.db') }
    try {
      const key = fresh('restart')
      const first = await startGatepass(options)
      const id = await scheduled('Run.Count', { key }, { from: first })
      await first.close()
      clock.advance(60)
      const second = await startGatepass(options)
      expect(await settled(id, second)).toMatchObject({ execution_status: 'completed' })
      expect(await ran(key, second)).toBe(1)

      const slow = fresh('slow')
      const last = await scheduled('Run.Pause', { key: slow, ms: 1500 }, { from: second })
      clock.advance(60)
      await expect.poll(() => ran(slow, second), PATIENCE).toBe(1)
      await second.close()
      await using third = await startGatepass(options)
      expect(await look(last, third)).toMatchObject({
        execution_status: 'completed',
        attempts: [{ success: true, output: { value: 'paused' } }],
      })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('several processes share the work, and each run is run once', async () => {
    const { databasePath } = world.gatepass
    await using other = await startGatepass({ environment, now: clock, databasePath })
    const keys = Array.from({ length: 24 }, () => fresh('shared'))
    const ids = await Promise.all(
      keys.map((key, i) => scheduled('Demo.Echo', { text: key }, { from: i % 2 ? world : other })),
    )
    clock.advance(60)
    for (const id of ids) expect((await settled(id)).execution_status).toBe('completed')
    const texts = world.worker.invocations.map(({ call }) => String(call.inputs?.text))
    expect(texts.filter((text) => keys.includes(text)).toSorted()).toEqual([...keys].toSorted())
  })
})

describe('history', () => {
  const list = async (query: string, key?: string) =>
    (await world.call('GET', `/v1/executions?${query}`, undefined, key === undefined ? {} : { key })).body

  test('of a user, of a tool by any of its names, by type and status, in pages', async () => {
    const user = fresh('user')
    await world.execute('Run.Add', { user_id: user, input: { a: 1 } })
    await world.call('POST', '/v1/tools/run', { user_id: user, toolId: 'Run:Fails' })
    await world.call('POST', '/v1/tools/run_chain', {
      user_id: user,
      steps: [{ toolId: 'Run:Add', args: { a: 2 } }],
    })
    await world.execute('Run.Acts', { user_id: user })
    const id = await scheduled('Run.Add', { a: 3 }, { user_id: user })

    const all = await list(`user_id=${user}`)
    expect(all).toMatchObject({ total_count: 5, offset: 0 })
    expect(all.items).toMatchObject([
      { id, execution_type: 'scheduled', execution_status: 'scheduled', tool_id: 'Run:Add:1.0.0' },
      {
        tool_name: 'Acts',
        execution_status: 'failed',
        outcome: 'requires_authorization',
        entry_point: 'execute',
      },
      {
        tool_name: 'Add',
        toolkit_name: 'Run',
        toolkit_version: '1.0.0',
        outcome: 'value',
        entry_point: 'run_chain',
      },
      { tool_name: 'Fails', outcome: 'error', error_kind: 'TOOL_RUNTIME_FATAL', entry_point: 'run' },
      { tool_name: 'Add', execution_status: 'completed', user_id: user, duration: expect.any(Number) },
    ])
    const totals = [
      ['tool=Run.Add', 3],
      ['tool=run_add@1.0.0', 3],
      ['tool=Run:Gone', 0],
      ['type=scheduled', 1],
      ['type=immediate&status=completed', 2],
      ['status=failed', 2],
      ['status=failed&tool=Acts', 1],
    ] as const
    for (const [query, total] of totals)
      expect((await list(`user_id=${user}&${query}`)).total_count, query).toBe(total)
    expect((await list(`user_id=${user}&limit=2&offset=4`)).items).toHaveLength(1)
    expect((await list('status=odd')).name).toBe('invalid_request')
    await world.call('DELETE', `/v1/scheduled_tools/${id}`)
  })

  test('has what went in and came out only where that was asked for, and sealed', async () => {
    const [plain, kept] = [fresh('not-kept'), fresh('kept')]
    const run = async (text: string, more: object) =>
      (await world.call('POST', '/v1/tools/run', { toolId: 'Demo.Echo', args: { text }, ...more })).body
        .executionId
    const [without, withIt] = [await run(plain, {}), await run(kept, { keep_content: true })]
    const get = async (id: string) => (await world.call('GET', `/v1/executions/${id}`)).body
    const bare = await get(without)
    expect(bare).toMatchObject({ id: without, outcome: 'value' })
    for (const member of ['input', 'attempts']) expect(bare).not.toHaveProperty(member)
    expect(await get(withIt)).toMatchObject({
      input: { text: kept },
      attempts: [{ id: withIt, success: true, output: { value: { inputs: { text: kept } } } }],
    })
    const waiting = fresh('waiting')
    const id = await scheduled('Demo.Echo', { text: waiting })
    expect(JSON.stringify(await list('limit=100'))).not.toMatch(new RegExp([plain, kept, waiting].join('|')))
    const files = await Promise.all(
      ['', '-wal'].map((suffix) =>
        readFile(`${world.gatepass.databasePath}${suffix}`).catch(() => Buffer.alloc(0)),
      ),
    )
    const bytes = Buffer.concat(files)
    for (const one of [without, withIt, id]) expect(bytes.includes(one), one).toBe(true)
    for (const one of [plain, kept, waiting]) expect(bytes.includes(one), one).toBe(false)
    expect(world.gatepass.logLines.join('\n')).not.toMatch(new RegExp([plain, kept, waiting].join('|')))
    await world.call('DELETE', `/v1/scheduled_tools/${id}`)
  })

  test("is its project's alone; its contents are not for keys that only read", async () => {
    const { body } = await world.execute('Run.Add', { input: { a: 1 } })
    const id = await scheduled('Run.Add', { a: 1 })
    const stranger = { key: await world.gatepass.makeKey('admin', 'stranger') }
    expect((await list('', stranger.key)).total_count).toBe(0)
    expect((await world.call('GET', '/v1/scheduled_tools', undefined, stranger)).body.total_count).toBe(0)
    for (const [method, path] of [
      ['GET', `/v1/executions/${body.execution_id}`],
      ['GET', `/v1/executions/${id}`],
      ['GET', `/v1/scheduled_tools/${id}`],
      ['DELETE', `/v1/scheduled_tools/${id}`],
    ] as const)
      expect((await world.call(method, path, undefined, stranger)).status, path).toBe(404)
    expect(await statusOf(id)).toBe('scheduled')

    const reader = { key: await world.gatepass.makeKey('readonly') }
    expect((await world.call('GET', '/v1/executions', undefined, reader)).status).toBe(200)
    expect((await world.call('GET', `/v1/executions/${id}`, undefined, reader)).status).toBe(403)
    expect((await world.call('GET', `/v1/scheduled_tools/${id}`, undefined, reader)).status).toBe(403)
    expect((await world.call('GET', `/v1/scheduled_tools/${body.execution_id}`)).status).toBe(404)
    await world.call('DELETE', `/v1/scheduled_tools/${id}`)
  })
})
