import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { windowAt } from '../../../src/features/policies/store-quota-window.ts'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'

const clock = testClock(Date.UTC(2026, 10, 18, 12) / 1000) // Wednesday, noon in UTC

let world: World
beforeAll(async () => {
  world = await startWorld({ gatepass: { now: clock }, as: { now: () => clock() * 1000 } })
  await world.connect('ada', ['read'])
  await world.connect('bob', ['read'])
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
  world.worker.invocations.length = 0
})

async function make(id: string, quota: object, more: object = {}) {
  const body = { id, effect: 'deny', match: { quota, ...more } }
  const made = await world.call('POST', '/v1/admin/policies', body)
  expect([made.status, made.body.message]).toEqual([201, undefined])
}

const run = (user_id: string, tool: string) => world.execute(tool, { user_id, input: { text: 'x' } })

async function outcomesOf(calls: readonly ReturnType<typeof run>[]) {
  const answers = await Promise.all(calls)
  const kinds = answers.map(({ body, headers }) =>
    body.success === true ? 'run' : (headers.get('x-gatepass-error-kind') ?? body.status),
  )
  return { run: kinds.filter((kind) => kind === 'run').length, kinds: new Set(kinds) }
}

const quotas = async (query = '') => (await world.call('GET', `/v1/admin/quotas${query}`)).body.items

test.each(['Demo.Echo', 'Demo.EchoWithToken'])(
  'runs of %s beyond the quota are refused until the window ends',
  async (tool) => {
    const id = `five-${tool.toLowerCase()}` // a new policy of an id goes on with the counts of the former
    await make(id, { limit: 5, per: 'user', window: 'day' }, { tools: [tool] })
    const { run: ran, kinds } = await outcomesOf(Array.from({ length: 12 }, () => run('ada', tool)))
    expect([ran, kinds]).toEqual([5, new Set(['run', 'CONTEXT_DENIED'])])
    expect(world.worker.invocations).toHaveLength(5)
    expect((await outcomesOf([run('bob', tool)])).run).toBe(1)

    const refused = await run('ada', tool)
    expect(refused.body.output.error.message).toContain(`"${id}"`)
    expect(refused.body.output.error.retry_after_ms).toBe(12 * 3_600_000)
    const { body } = await world.call('GET', '/v1/admin/audit?action=policy.refused&limit=1')
    expect(body.items[0]).toMatchObject({ subject: id, reason: 'quota' })
    expect(await quotas()).toEqual([
      {
        policy_id: id,
        per: 'user',
        subject: 'ada',
        used: 5,
        limit: 5,
        window_start: new Date((clock() - 12 * 3600) * 1000).toISOString(),
        window_end: new Date((clock() + 12 * 3600) * 1000).toISOString(),
      },
      expect.objectContaining({ subject: 'bob', used: 1 }),
    ])
    expect(await quotas('?user_id=bob')).toHaveLength(1)
    clock.advance(24 * 3600)
    expect((await outcomesOf([run('ada', tool)])).run).toBe(1)
  },
)

test('a token that is handed out counts when it leaves', async () => {
  await make('two', { limit: 2, per: 'project', window: 'hour' }, { uses: ['token'] })
  const id = (await world.call('GET', '/v1/connections?user_id=ada')).body.items[0].id
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) statuses.push((await world.call('POST', `/v1/connections/${id}/token`)).status)
  expect(statuses).toEqual([200, 200, 403])
  const refused = await world.call('POST', `/v1/connections/${id}/token`)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3600)
  expect(await quotas()).toMatchObject([{ policy_id: 'two', per: 'project', used: 2 }])
})

test('what never reaches a worker is not counted', async () => {
  await make('one', { limit: 1, per: 'user', window: 'day' }, { tools: ['Demo.EchoWithToken'] })
  await world.execute('Demo.EchoWithToken', { user_id: 'carol', input: {} }) // needs a consent
  await world.execute('Demo.EchoWithToken', { user_id: 'carol', input: { count: 'no number' } })
  expect(await quotas('?user_id=carol')).toEqual([])
})

test('agents are counted apart, by their API keys', async () => {
  await make('agents', { limit: 1, per: 'agent', window: 'day' }, { tools: ['Demo.Echo'] })
  expect((await outcomesOf([run('ada', 'Demo.Echo'), run('bob', 'Demo.Echo')])).run).toBe(1)
  const [count] = await quotas()
  expect(count).toMatchObject({ per: 'agent', used: 1, subject: expect.stringMatching(/^key_/) })
})

test('the test of policies and the dry run show quotas', async () => {
  for (let i = 0; i < 3; i++) await run('bob', 'Demo.EchoWithToken')
  const policy = {
    id: 'q',
    effect: 'deny',
    match: {
      tools: ['Demo.EchoWithToken'],
      users: ['bob'],
      quota: { limit: 2, per: 'user', window: 'hour' },
    },
  }
  const dry = await world.call('POST', '/v1/admin/policies/dry_run', {
    policies: [policy],
    since: new Date((clock() - 60) * 1000).toISOString(),
  })
  expect(dry.body).toMatchObject({ refused: 1, samples: [{ reason: 'quota', policies: ['q'] }] })
  await world.call('POST', '/v1/admin/policies', policy)
  const { body } = await world.call('POST', '/v1/admin/policies/test', {
    tool_name: 'Demo.EchoWithToken',
    user_id: 'bob',
  })
  expect(body).toMatchObject({ decision: 'depends', undecided: [{ id: 'q', by: 'quota' }] })
})

test.each<[string, object, string]>([
  [
    'an allow rule',
    { effect: 'allow', match: { quota: { limit: 1, per: 'user', window: 'day' } } },
    'match.quota',
  ],
  [
    'a rate beside it',
    {
      effect: 'deny',
      match: { rate: { limit: 1, seconds: 1, per: 'user' }, quota: { limit: 1, per: 'user', window: 'day' } },
    },
    'match.quota',
  ],
  [
    'no zone',
    { effect: 'deny', match: { quota: { limit: 1, per: 'user', window: 'day', zone: 'Mars' } } },
    'match.quota.zone',
  ],
])('%s is refused', async (_, body, path) => {
  const refused = await world.call('POST', '/v1/admin/policies', { id: 'bad', ...body })
  expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, path])
})

test.each<[string, 'hour' | 'day', string, string, string]>([
  ['UTC', 'day', '2026-11-18T12:34:56Z', '2026-11-18T00:00:00Z', '2026-11-19T00:00:00Z'],
  ['UTC', 'hour', '2026-11-18T12:34:56Z', '2026-11-18T12:00:00Z', '2026-11-18T13:00:00Z'],
  ['Europe/Berlin', 'day', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'], // 25 hours
  ['Europe/Berlin', 'day', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'], // 23 hours
  ['Asia/Kolkata', 'hour', '2026-11-18T12:34:56Z', '2026-11-18T12:30:00Z', '2026-11-18T13:30:00Z'],
  ['Europe/Berlin', 'hour', '2026-10-25T00:30:00Z', '2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z'], // 2 a.m. twice
])('in %s the %s of %s is from %s to %s', (zone, window, at, start, end) => {
  const seconds = (time: string) => Date.parse(time) / 1000
  const quota = { limit: 1, per: 'user', window, zone } as const
  const found = { start: seconds(start), end: seconds(end) }
  expect(windowAt(quota, seconds(at))).toEqual(found)
  expect([windowAt(quota, found.start), windowAt(quota, found.end - 1)]).toEqual([found, found])
  expect(windowAt(quota, found.end).start).toBe(found.end)
  expect(windowAt(quota, found.start - 1).end).toBe(found.start)
})
