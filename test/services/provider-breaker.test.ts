import { describe, expect, test } from 'vitest'
import { createProviderBreaker } from '../../src/services/provider-breaker.ts'
import { type Behaviour, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { addProvider, authorize, click, type Scene, startScene } from '../flows/fixtures.ts'
import { asked, LIFE } from '../flows/refresh-fixtures.ts'
import { startGatepass, testClock } from '../gatepass.ts'

const ENTRY = { uid: 'prov_1', id: 'demo' }
const OTHER = { uid: 'prov_2', id: 'other' }

function breaker() {
  const clock = testClock()
  const lines: string[] = []
  const write = (_: object, message: string) => void lines.push(message)
  const log = { debug: write, info: write, warn: write, error: write }
  const subject = createProviderBreaker({ now: clock, log })
  return { clock, lines, subject, states: () => subject.states().map(({ state }) => state) }
}

/** Enters, which must be allowed, and ends like this. */
function tried({ subject }: ReturnType<typeof breaker>, how: 'outage' | 'answered' | 'refreshed', id = 'c') {
  expect(subject.enter(ENTRY, id)).toBe(0)
  subject.ended(ENTRY, id, how)
}

describe('R7: a provider that is down', () => {
  function down() {
    const all = breaker()
    for (let i = 0; i < 5; i++) tried(all, 'outage')
    return all
  }

  test('is not asked any more after five failures in a row, but only it', () => {
    const { subject, states } = down()
    expect(states()).toEqual(['open'])
    expect(subject.enter(ENTRY, 'any')).toBe(10)
    expect(subject.enter(OTHER, 'any')).toBe(0)
  })

  test('is asked on after five failures with an answer between them', () => {
    const all = breaker()
    for (let i = 0; i < 10; i++) {
      tried(all, 'outage')
      if (i % 4 === 3) tried(all, 'answered')
    }
    expect(all.states()).toEqual([])
  })

  test('is tried by one on behalf of all, after pauses of 10, 20, 40, 60, 60 s', () => {
    const all = down()
    const { subject, clock, states } = all
    for (const pause of [10, 20, 40, 60, 60]) {
      clock.advance(pause - 1)
      expect(subject.enter(ENTRY, 'early')).toBe(1)
      clock.advance(1)
      expect(states()).toEqual(['half_open'])
      expect(subject.enter(ENTRY, 'probe')).toBe(0)
      expect(subject.enter(ENTRY, 'another')).toBeGreaterThan(0)
      subject.ended(ENTRY, 'probe', 'outage')
    }
  })

  test.each(['answered', 'refreshed'] as const)('is asked by all again once it has %s', (how) => {
    const all = down()
    all.clock.advance(10)
    tried(all, how)
    expect(all.states()).toEqual([])
    expect(all.subject.enter(ENTRY, 'any')).toBe(0)
    expect(all.lines).toEqual(['a provider is down: its refreshes are held back', 'a provider answers again'])
  })

  test('is not held to be down for longer because of requests that were sent before', () => {
    const { subject } = down()
    for (let i = 0; i < 20; i++) subject.ended(ENTRY, `late ${i}`, 'outage')
    expect(subject.enter(ENTRY, 'any')).toBe(10)
  })

  test('is asked by all as soon as an earlier request is answered, also while one still tries', () => {
    const { subject, clock, states } = down()
    clock.advance(10)
    expect(subject.enter(ENTRY, 'probe')).toBe(0)
    subject.ended(ENTRY, 'sent before', 'refreshed')
    expect(states()).toEqual([])
    expect(subject.enter(ENTRY, 'any')).toBe(0)
  })

  test('is tried by another when the one that tried has died, or has not sent anything', () => {
    const { subject, clock } = down()
    clock.advance(10)
    expect(subject.enter(ENTRY, 'dies')).toBe(0)
    clock.advance(25)
    expect(subject.enter(ENTRY, 'heir')).toBe(0)
    subject.ended(ENTRY, 'heir', 'not_sent')
    expect(subject.enter(ENTRY, 'next')).toBe(0)
  })
})

test('R6: a provider that wants fewer requests is left alone for as long as it says', () => {
  const { subject, clock, states } = breaker()
  subject.ended(ENTRY, 'a', { limitedForSeconds: 30 })
  expect(subject.enter(ENTRY, 'b')).toBe(30)
  expect(states()).toEqual(['limited'])
  clock.advance(30)
  expect(subject.enter(ENTRY, 'b')).toBe(0)
  expect(states()).toEqual([])
})

describe('a clock that is set back', () => {
  test('ends a pause instead of lengthening it', () => {
    const limited = breaker()
    limited.subject.ended(ENTRY, 'a', { limitedForSeconds: 30 })
    limited.clock.advance(-3600)
    expect(limited.states()).toEqual([])
    expect(limited.subject.enter(ENTRY, 'b')).toBe(0)

    const down = breaker()
    for (let i = 0; i < 5; i++) tried(down, 'outage')
    down.clock.advance(-3600)
    expect(down.states()).toEqual(['half_open'])
    tried(down, 'outage', 'probe')
    expect(down.subject.enter(ENTRY, 'c')).toBe(20)
  })

  test('ends a wave of refusals no later than an hour after that, and probes at once', () => {
    const { subject, clock, states } = breaker()
    for (let i = 0; i < 10; i++) subject.refused(ENTRY, `c${i}`)
    clock.advance(-86_400)
    expect(subject.enter(ENTRY, 'new')).toBe(0)
    expect(subject.refused(ENTRY, 'new')).toBe('doubted')
    clock.advance(3600)
    expect(states()).toEqual([])
  })

  test('and results from before it count no more', () => {
    const { subject, clock } = breaker()
    for (let i = 0; i < 5; i++) subject.refused(ENTRY, `c${i}`)
    clock.advance(-3600)
    for (let i = 0; i < 5; i++) expect(subject.refused(ENTRY, `d${i}`)).toBe('believed')
  })
})

describe('threat 55: a provider that refuses the grants of many', () => {
  function wave(count: number, { healthy = 0 } = {}) {
    const all = breaker()
    for (let i = 0; i < healthy; i++) tried(all, 'refreshed', `healthy ${i}`)
    const verdicts = Array.from({ length: count }, (_, i) => all.subject.refused(ENTRY, `c${i}`))
    return { ...all, believed: verdicts.filter((one) => one === 'believed').length }
  }

  test.each([
    [5, 0, 5],
    [6, 0, 5],
    [1000, 0, 5],
    [50, 60, 50],
    [61, 60, 59],
    [100, 60, 59],
  ])('%i refusals beside %i refreshes in a minute: %i are believed', (count, healthy, believed) => {
    expect(wave(count, { healthy }).believed).toBe(believed)
  })

  test('the same connection again and again is one', () => {
    const { subject } = breaker()
    const verdicts = Array.from({ length: 20 }, () => subject.refused(ENTRY, 'c1'))
    expect(new Set(verdicts)).toEqual(new Set(['believed']))
  })

  test('refusals that come slowly are believed', () => {
    const { subject, clock } = breaker()
    for (let i = 0; i < 50; i++) {
      expect(subject.refused(ENTRY, `c${i}`)).toBe('believed')
      clock.advance(12)
    }
  })

  test('is asked by one in 30 s, those not refused before first, and believed again once it honours a grant', () => {
    const { subject, clock, states, lines } = wave(10)
    expect(states()).toEqual(['degraded'])
    expect(subject.enter(ENTRY, 'new')).toBe(30)
    clock.advance(30)
    expect(subject.enter(ENTRY, 'c9')).toBe(30)
    expect(subject.enter(ENTRY, 'new')).toBe(0)
    expect(subject.refused(ENTRY, 'new')).toBe('doubted')
    expect(subject.enter(ENTRY, 'newer')).toBe(30)
    clock.advance(30)
    expect(subject.enter(ENTRY, 'newer')).toBe(0)
    subject.ended(ENTRY, 'newer', 'refreshed')
    expect(states()).toEqual([])
    expect(subject.enter(ENTRY, 'c9')).toBe(0)
    expect(subject.refused(ENTRY, 'c9')).toBe('believed')
    expect(lines).toHaveLength(2)
  })

  test('is not suspected for refusing tokens that it may have replaced, and the next is its probe at once', () => {
    const { subject, states } = breaker()
    for (let i = 0; i < 100; i++) {
      expect(subject.enter(ENTRY, `c${i}`)).toBe(0)
      subject.ended(ENTRY, `c${i}`, 'refused_retry')
    }
    expect(states()).toEqual([])

    const degraded = wave(10)
    degraded.clock.advance(30)
    for (const id of ['new', 'newer', 'newest']) {
      expect(degraded.subject.enter(ENTRY, id)).toBe(0)
      degraded.subject.ended(ENTRY, id, 'refused_retry')
    }
    expect(degraded.states()).toEqual(['degraded'])
  })

  test('is believed after an hour, until it honours a grant', () => {
    const { subject, clock, states } = wave(10)
    clock.advance(3599)
    expect(subject.refused(ENTRY, 'c20')).toBe('doubted')
    clock.advance(1)
    expect(states()).toEqual([])
    for (let i = 0; i < 100; i++) expect(subject.refused(ENTRY, `d${i}`)).toBe('believed')
    subject.ended(ENTRY, 'e', 'refreshed')
    clock.advance(61)
    for (let i = 0; i < 5; i++) expect(subject.refused(ENTRY, `f${i}`)).toBe('believed')
    expect(subject.refused(ENTRY, 'f5')).toBe('doubted')
  })
})

describe('with a real server', () => {
  const users = (count: number) => Array.from({ length: count }, (_, i) => `user ${i}`)
  const connectAll = async (scene: Scene, count: number) => {
    for (const user_id of users(count)) await scene.connect({ user_id })
  }
  const statuses = async (scene: Scene) =>
    (await scene.call('GET', '/v1/connections?limit=100')).body.items.map(
      (one: { status: string }) => one.status,
    )

  test('R7: an outage costs five requests, then one in a while; nobody has to consent again', async () => {
    await using scene = await startScene()
    await connectAll(scene, 20)
    scene.as.behaviour.refresh = 'html-500'
    scene.clock.advance(LIFE)
    for (const user_id of users(20)) {
      const answer = await scene.authorize({ user_id })
      expect(answer).toMatchObject({ status: 503, body: { name: 'provider_unavailable' } })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(asked(scene)).toBe(5)
    expect(scene.gatepass.broker.refreshes.breaker.states()).toMatchObject([
      { providerId: 'demo', state: 'open' },
    ])
    scene.clock.advance(10)
    for (const user_id of users(20)) await scene.authorize({ user_id })
    expect(asked(scene)).toBe(6)
    scene.as.behaviour.refresh = 'static'
    scene.clock.advance(60)
    for (const user_id of users(20)) expect((await scene.authorize({ user_id })).status).toBe(200)
    expect(new Set(await statuses(scene))).toEqual(new Set(['active']))
  })

  test('R7: tokens that still live are given while their provider is down, and another provider is not touched', async () => {
    await using scene = await startScene()
    const second = await startFakeAuthorizationServer({ now: () => scene.clock() * 1000 })
    await addProvider(scene.gatepass, second, {}, { id: 'second' })
    await connectAll(scene, 8)
    await click((await scene.authorize({ provider: 'second' })).body.url)
    scene.as.behaviour.refresh = 'html-500'
    scene.clock.advance(LIFE - 50)
    for (const user_id of users(8)) expect((await scene.authorize({ user_id })).body.status).toBe('completed')
    expect(asked(scene)).toBe(5)
    const fresh = (await scene.authorize({ provider: 'second' })).body.context.token
    expect(second.isLive(fresh)).toBe(true)
    expect(second.tokenRequests('refresh_token')).toHaveLength(1)
    await second.close()
  })

  test('a process that is killed under many refreshes: each token is tried once more, and each user gets a link', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await connectAll(scene, 12)
    scene.clock.advance(LIFE)
    // what a killed process leaves behind: the requests were counted and carried out, and no answer was stored
    const { connections } = scene.gatepass.broker.store
    const { settleRefresh } = connections
    Object.assign(connections, {
      settleRefresh: () => Promise.reject(new Error('the process was killed')),
    })
    for (const user_id of users(12)) await scene.authorize({ user_id })
    Object.assign(connections, { settleRefresh })
    expect(asked(scene)).toBe(12)
    scene.clock.advance(26)
    await using next = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    const ask = () => Promise.all(users(12).map((user_id) => authorize(next, { user_id })))
    for (const answer of await ask())
      expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
    for (const answer of await ask())
      expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
    expect(asked(scene)).toBe(24)
    expect(next.broker.refreshes.breaker.states()).toEqual([])
  })

  test.each<[string, Partial<Behaviour>]>([
    ['invalid_grant for everybody', { refresh: 'refuse' }],
    ['invalid_grant with 403', { refresh: 'refuse-403' }],
  ])('threat 55: %s takes five consents, not all', async (_, behaviour) => {
    await using scene = await startScene()
    await connectAll(scene, 20)
    Object.assign(scene.as.behaviour, behaviour)
    scene.clock.advance(LIFE)
    const answers = []
    for (const user_id of users(20)) answers.push(await scene.authorize({ user_id }))
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(15)
    expect(asked(scene)).toBe(6)
    const flipped = (await statuses(scene)).filter((status: string) => status !== 'active')
    expect(flipped).toHaveLength(5)
    expect(scene.gatepass.logLines.filter((line) => line.includes('refuses many grants'))).toHaveLength(1)

    scene.as.behaviour.refresh = 'static'
    scene.clock.advance(30)
    for (const user_id of users(20).slice(5).reverse())
      expect((await authorize(scene.gatepass, { user_id })).body.status).toBe('completed')
    expect(scene.gatepass.broker.refreshes.breaker.states()).toEqual([])
  })
})
