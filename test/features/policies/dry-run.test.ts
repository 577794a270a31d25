import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'

// Wednesday, 18 November 2026, noon in UTC.
const NOON = Date.UTC(2026, 10, 18, 12) / 1000
const clock = testClock(NOON)
const PATH = '/v1/admin/policies/dry_run'

let world: World
/** Last week, each two hours after the one before: ada's token, handed out, and her tool; bob's token and his tool. */
beforeAll(async () => {
  world = await startWorld({ gatepass: { now: clock }, as: { now: () => clock() * 1000 } })
  const scopes = { ada: ['read'], bob: ['read', 'write'] }
  for (const user of ['ada', 'bob'] as const) {
    clock.advance(7200)
    await world.connect(user, scopes[user]) // hands out the token
    clock.advance(7200)
    const ran = await world.execute('Demo.EchoWithToken', { user_id: user, input: { text: 'hello' } })
    expect(ran.body.success).toBe(true)
  }
  clock.advance(24 * 3600)
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
})

async function dryRun(body: object) {
  const answer = await world.call('POST', PATH, body)
  expect([answer.status, answer.body.message]).toEqual([200, undefined])
  return answer.body
}

const rule = (effect: string, match: object, more: object = {}) => ({ id: 'rule', effect, match, ...more })
const approve = { by: { group: 'security', count: 2 } }
const hook = { url: 'https://hooks.example.com/ask' }
const ABOUT_TEXT = { tools: ['Demo.EchoWithToken'], arguments: [{ at: '/text', one_of: ['hello'] }] }

/** Users and uses of the samples, oldest first, with what is said of each. */
function said(body: { samples: Record<string, unknown>[] }) {
  return body.samples
    .map(
      ({ user_id, use, decision, reason, because }) => `${user_id} ${use} ${reason ?? because ?? decision}`,
    )
    .reverse()
}

describe('a dry run of policies', () => {
  test.each([
    ['no rule', {}, []],
    ['of a user', { policies: [rule('deny', { users: ['a*'] })] }, ['ada token denied', 'ada tool denied']],
    [
      'of a tool',
      { policies: [rule('deny', { tools: ['demo.*'] })] },
      ['ada tool denied', 'bob tool denied'],
    ],
    [
      'of a use',
      { policies: [rule('allow', { uses: ['tool'] })] },
      ['ada token not_allowed', 'bob token not_allowed'],
    ],
    [
      'of granted scopes',
      { policies: [rule('deny', { scopes: ['write'] })] },
      ['bob token denied', 'bob tool denied'],
    ],
    ['of hours', { policies: [rule('deny', { time: { from: '15:00', to: '17:00' } })] }, ['ada tool denied']],
    [
      'of a host',
      { policies: [rule('deny', { hosts: ['127.0.0.1', 'localhost'] })] },
      ['ada tool denied', 'bob tool denied'],
    ],
    ['of another host', { policies: [rule('deny', { hosts: ['example.com'] })] }, []],
    [
      'with a rate',
      { policies: [rule('deny', { rate: { limit: 1, seconds: 86_400, per: 'user' } })] },
      ['ada tool rate', 'bob tool rate'],
    ],
    [
      'with a quota',
      { policies: [rule('deny', { quota: { limit: 1, per: 'user', window: 'day' } })] },
      ['ada tool quota', 'bob tool quota'],
    ],
    [
      'that asks people',
      { policies: [rule('approve', { tools: ['demo.*'] }, { approve })] },
      ['ada tool asked', 'bob tool asked'],
    ],
    [
      'that asks people, and a refusal',
      { policies: [rule('approve', {}, { approve }), { ...rule('deny', { users: ['ada'] }), id: 'no' }] },
      ['bob token asked', 'bob tool asked', 'ada token denied', 'ada tool denied'],
    ],
    [
      'that asks people about arguments, which are not stored',
      { policies: [rule('approve', ABOUT_TEXT, { approve })] },
      ['ada tool arguments', 'bob tool arguments'],
    ],
    ['switched off', { policies: [rule('deny', {}, { enabled: false })] }, []],
    [
      'with a hook',
      { policies: [rule('hook', { users: ['bob'] }, { hook })] },
      ['bob token hook', 'bob tool hook'],
    ],
    [
      'of a hook and a refusal',
      { policies: [rule('hook', {}, { hook }), { ...rule('deny', {}), id: 'no' }] },
      ['ada token denied', 'ada tool denied', 'bob token denied', 'bob tool denied'],
    ],
  ])('%s', async (_, body, expected) => {
    const result = await dryRun(body)
    expect(said(result)).toEqual(expected)
    const undecided = expected.filter((one) => /(hook|arguments)$/.test(one)).length
    const asked = expected.filter((one) => one.endsWith('asked')).length
    const refused = expected.length - undecided - asked
    expect(result).toMatchObject({
      uses: 4,
      refused,
      asked,
      undecided,
      permitted: 4 - refused - asked - undecided,
      complete: true,
    })
  })

  test('names the rules that refuse, with the entries of the trail', async () => {
    const result = await dryRun({
      policies: [
        rule('deny', { users: ['bob'], uses: ['token'] }),
        { ...rule('deny', { uses: ['tool'] }), id: 'tools' },
      ],
    })
    expect(result.refused_by).toEqual([
      { id: 'tools', refused: 2 },
      { id: 'rule', refused: 1 },
    ])
    const [newest] = result.samples
    expect(newest).toMatchObject({
      user_id: 'bob',
      use: 'tool',
      tool: 'Demo:EchoWithToken:1.0.0',
      providers: ['demo'],
      policies: ['tools'],
    })
    const entries = (await world.call('GET', '/v1/admin/audit?action=token.released')).body.items
    expect(newest.seq).toBe(entries[0].seq)
    expect(JSON.stringify(result)).not.toContain('fingerprint')
  })

  test('names the rules that ask, and whom', async () => {
    const result = await dryRun({
      policies: [
        rule('approve', { uses: ['tool'] }, { approve }),
        { ...rule('approve', { users: ['bob'] }, { approve: { by: { group: 'legal' } } }), id: 'legal' },
      ],
    })
    expect(result.asked_by).toEqual([
      { id: 'legal', asked: 2, by: { group: 'legal', count: 1 } },
      { id: 'rule', asked: 2, by: approve.by },
    ])
    expect(result.samples[0]).toMatchObject({
      user_id: 'bob',
      decision: 'asked',
      policies: ['legal', 'rule'],
    })
  })

  test('of rules in force: as they are, changed, and left out', async () => {
    await world.call('POST', '/v1/admin/policies', rule('deny', { users: ['ada'] }))
    expect((await dryRun({})).refused).toBe(2)
    expect(said(await dryRun({ policies: [rule('deny', { users: ['bob'], uses: ['tool'] })] }))).toEqual([
      'bob tool denied',
    ])
    expect((await dryRun({ without: ['rule'] })).refused).toBe(0)
    const list = await world.call('GET', '/v1/admin/policies')
    expect(list.body.items).toMatchObject([{ id: 'rule', match: { users: ['ada'] } }])
  })

  test('changes nothing: nothing is counted, recorded or refused', async () => {
    const entries = async () => (await world.call('GET', '/v1/admin/audit')).body.items
    const before = await entries()
    await dryRun({ policies: [rule('deny', {})] })
    expect(await entries()).toEqual(before)
  })

  test('looks at the time that is asked for, a week by default', async () => {
    const since = new Date((NOON + 3 * 3600) * 1000).toISOString()
    const until = new Date((NOON + 7 * 3600) * 1000).toISOString()
    const all = [rule('deny', {})]
    expect(said(await dryRun({ policies: all, since, until }))).toEqual([
      'ada tool denied',
      'bob token denied',
    ])
    clock.advance(7 * 24 * 3600)
    expect((await dryRun({ policies: all })).uses).toBe(0)
    clock.advance(-7 * 24 * 3600)
  })

  test('cannot say what depends on scopes or hosts that are not known any more', async () => {
    await world.connect('eve', ['read'])
    const { body } = await world.call('GET', '/v1/connections?user_id=eve')
    await world.execute('Demo.EchoWithToken', { user_id: 'eve', input: { text: 'hello' } })
    await world.call('DELETE', `/v1/connections/${body.items[0].id}`)
    const ofEve = (match: object) => ({ policies: [rule('deny', { users: ['eve'], ...match })] })
    expect(said(await dryRun(ofEve({ scopes: ['write'] })))).toEqual(['eve token scopes', 'eve tool scopes'])
    expect(said(await dryRun(ofEve({})))).toEqual(['eve token denied', 'eve tool denied'])
    await world.call('PATCH', '/v1/workers/demo', { enabled: false })
    expect(said(await dryRun(ofEve({ hosts: ['127.0.0.1'] })))).toEqual(['eve tool hosts'])
    await world.call('PATCH', '/v1/workers/demo', { enabled: true })
  })

  test.each([
    [
      'a rule that contradicts itself',
      { policies: [rule('allow', { rate: { limit: 1, seconds: 1, per: 'user' } })] },
      'match.rate',
    ],
    ['two rules of one id', { policies: [rule('deny', {}), rule('deny', {})] }, 'policies'],
    ['an unknown rule to leave out', { without: ['nope'] }, 'without'],
    ['a time that is too long', { since: '2026-01-01T00:00:00Z' }, 'since'],
    [
      'a hook at a private address',
      { policies: [rule('hook', {}, { hook: { url: 'http://10.0.0.1/' } })] },
      '10.0.0.1',
    ],
    ['an unknown member', { policy: [] }, 'policy'],
  ])('%s is refused', async (_, body, member) => {
    const { status, body: answer } = await world.call('POST', PATH, body)
    expect([status, answer.message]).toEqual([400, expect.stringContaining(member)])
  })

  test('a key of the role readonly may ask, and sees no other project', async () => {
    const key = await world.gatepass.makeKey('readonly')
    const answer = await world.call('POST', PATH, { policies: [rule('deny', {})] }, { key })
    expect(answer.status).toBe(200)
    expect(answer.body.uses).toBeGreaterThan(0)
    const other = await world.gatepass.makeKey('admin', 'another')
    expect((await world.call('POST', PATH, {}, { key: other })).body.uses).toBe(0)
  })

  test('looks at the last 20,000 tokens, and says that there were more', async () => {
    const { broker } = world.gatepass
    const key = await world.gatepass.makeKey('readonly', 'crowded')
    const { id: projectId } = await broker.store.projects.ensure('crowded', 0)
    for (let first = 0; first < 20_500; first += 500) {
      const at = NOON + first
      const lines = Array.from({ length: 500 }, (_, i) =>
        JSON.stringify({
          at,
          action: 'token.released',
          actor: { kind: 'system' },
          user_id: `user-${(first + i) % 7}`,
          provider_id: 'demo',
        }),
      )
      await broker.store.audit.append({ projectId, at, lines, link: broker.audit.link })
    }
    const rate = { limit: 100, seconds: 86_400, per: 'user' }
    const until = new Date((NOON + 86_400) * 1000).toISOString()
    const order = { policies: [rule('deny', { users: ['user-1', 'user-2'], rate })], until }
    const { body } = await world.call('POST', PATH, order, { key })
    expect(body).toMatchObject({
      uses: 20_000,
      complete: false,
      undecided: 0,
      since: new Date((NOON + 500) * 1000).toISOString(),
    })
    expect(body.refused + body.permitted).toBe(20_000)
    expect(body.refused).toBeGreaterThan(5_000)
    expect(body.samples).toHaveLength(50)
  })
})
