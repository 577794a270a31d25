import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesText } from '../../../src/domain/match-text.ts'
import type { RequestedUse } from '../../../src/domain/requested-use.ts'
import type { Policy, PolicyMatch, PolicyTime } from '../../../src/features/policies/domain.ts'
import { evaluate } from '../../../src/features/policies/evaluate.ts'
import { appliesTo, byProvider } from '../../../src/features/policies/policy-match.ts'
import { createRates } from '../../../src/features/policies/policy-rate.ts'
import { isTimeZone, isWithin } from '../../../src/features/policies/policy-time.ts'
import { propertyRuns } from '../../property-runs.ts'

const NOON = Date.UTC(2026, 10, 18, 12) / 1000 // a Wednesday

function policy(match: PolicyMatch, more: Partial<Policy> = {}): Policy {
  return {
    id: 'rule',
    projectId: 'proj_1',
    enabled: true,
    effect: 'deny',
    match,
    createdAt: 0,
    updatedAt: 0,
    ...more,
  }
}

const NAMES = ['github:star:1.0.0', 'github:star', 'github.star']

function use(more: Partial<RequestedUse> = {}): RequestedUse {
  return {
    projectId: 'proj_1',
    userId: 'ada',
    use: 'tool',
    tool: { id: 'github:star:1.0.0', aliases: NAMES, ownNames: NAMES, hints: [] },
    providers: [{ id: 'github', scopes: ['repo', 'gist'] }],
    hosts: ['api.github.com'],
    ...more,
  }
}

const TOKEN = { use: 'token', tool: undefined, hosts: [] } as const

function matches(rule: Policy, more: Readonly<Record<string, unknown>>, scopes: 'needed' | 'granted') {
  const whole = Object.entries({ ...use(), ...more }).filter(([, value]) => value !== undefined)
  const parts = byProvider(Object.fromEntries(whole) as unknown as RequestedUse) // a use with members taken out
  return parts.some((part) => appliesTo(rule, part, { at: NOON, scopes }))
}

describe('what a rule is about', () => {
  test.each<[string, PolicyMatch, boolean, Readonly<Record<string, unknown>>?]>([
    ['nothing said: everything', {}, true],
    ['the user', { users: ['bob', 'ada'] }, true],
    ['another user', { users: ['Ada'] }, false],
    ['users by a star', { users: ['a*'] }, true],
    ['no user', { users: ['*'] }, false, { userId: undefined }],
    ['a tool by its id', { tools: ['github:star:1.0.0'] }, true],
    ['a tool in another case', { tools: ['GitHub.Star'] }, true],
    ['all tools of a namespace', { tools: ['github:*'] }, true],
    ['another tool', { tools: ['github:unstar'] }, false],
    ['a tool where there is none', { tools: ['*'] }, false, TOKEN],
    ['the provider', { providers: ['github'] }, true],
    ['another provider', { providers: ['gitlab'] }, false],
    [
      'one of several providers',
      { providers: ['google'] },
      true,
      {
        providers: [
          { id: 'github', scopes: [] },
          { id: 'google', scopes: [] },
        ],
      },
    ],
    ['no provider', { providers: ['*'] }, false, { providers: [] }],
    ['a scope', { scopes: ['repo'] }, true],
    ['scopes by a star', { scopes: ['g*'] }, true],
    ['another scope', { scopes: ['admin:org'] }, false],
    [
      'a scope among joined ones',
      { scopes: ['write'] },
      true,
      { providers: [{ id: 'strava', scopes: ['read,write'] }] },
    ],
    ['no scopes', { scopes: ['*'] }, false, { providers: [{ id: 'notion', scopes: [] }] }],
    [
      'provider and scope of one token',
      { providers: ['google'], scopes: ['repo'] },
      false,
      {
        providers: [
          { id: 'github', scopes: ['repo'] },
          { id: 'google', scopes: ['mail'] },
        ],
      },
    ],
    ['a host', { hosts: ['api.github.com'] }, true],
    [
      'a host in another case, with a final dot',
      { hosts: ['API.github.com'] },
      true,
      { hosts: ['api.GitHub.com.'] },
    ],
    ['any port', { hosts: ['localhost'] }, true, { hosts: ['localhost:8080'] }],
    ['its port', { hosts: ['localhost:8080'] }, true, { hosts: ['localhost:8080'] }],
    ['another port', { hosts: ['localhost:8081'] }, false, { hosts: ['localhost:8080'] }],
    ['an IPv6 host', { hosts: ['[::1]'] }, true, { hosts: ['[::1]:8080'] }],
    ['hosts below a domain', { hosts: ['*.github.com'] }, true],
    ['not the domain itself', { hosts: ['*.github.com'] }, false, { hosts: ['github.com'] }],
    ['not a host that ends alike', { hosts: ['*.github.com'] }, false, { hosts: ['evilgithub.com'] }],
    ['any of several hosts', { hosts: ['b.test'] }, true, { hosts: ['a.test', 'b.test'] }],
    ['no host is known', { hosts: ['*'] }, false, TOKEN],
    [
      'the owner',
      { owners: ['project'] },
      true,
      { providers: [{ id: 'crm', scopes: [], owner: 'project' }] },
    ],
    [
      'another owner',
      { owners: ['user'] },
      false,
      { providers: [{ id: 'crm', scopes: [], owner: 'project' }] },
    ],
    ['an owner that is not known', { owners: ['user'] }, true],
    ['no connection', { owners: ['user', 'project'] }, false, { providers: [] }],
    ['the use', { uses: ['tool'] }, true],
    ['another use', { uses: ['proxy', 'token'] }, false],
    ['all members must match', { users: ['ada'], tools: ['github.star'], providers: ['gitlab'] }, false],
  ])('deny, %s', (_, match, expected, more = {}) => {
    expect(matches(policy(match), more, 'granted')).toBe(expected)
  })

  test.each<[string, PolicyMatch, boolean, Readonly<Record<string, unknown>>, ('needed' | 'granted')?]>([
    ['the owner', { owners: ['user'] }, true, { providers: [{ id: 'crm', scopes: [], owner: 'user' }] }],
    ['an owner that is not known', { owners: ['user', 'project'] }, false, {}],
    ['an owner that is not known yet', { owners: ['user', 'project'] }, false, {}, 'needed'],
    ['all scopes of the token', { scopes: ['repo', 'gist', 'user'] }, true, {}],
    ['a token that may do more', { scopes: ['repo'] }, false, {}],
    [
      'a joined scope that has more',
      { scopes: ['read'] },
      false,
      { providers: [{ id: 's', scopes: ['read,write'] }] },
    ],
    [
      'a token of which no scope is known',
      { scopes: ['*'] },
      false,
      { providers: [{ id: 'notion', scopes: [] }] },
    ],
    [
      'no scope is needed, and there is no token yet',
      { scopes: ['repo'] },
      true,
      { providers: [{ id: 'github', scopes: [] }] },
      'needed',
    ],
    ['all hosts', { hosts: ['*.test'] }, true, { hosts: ['a.test', 'b.test'] }],
    ['one of the hosts only', { hosts: ['a.test'] }, false, { hosts: ['a.test', 'b.test'] }],
    ['a token that is handed out, by host', { hosts: ['*'] }, false, TOKEN],
    ['a token that is handed out, by tool', { tools: ['*'] }, false, TOKEN],
  ])('allow, %s', (_, match, expected, more, scopes = 'granted') => {
    expect(matches(policy(match, { effect: 'allow' }), more, scopes)).toBe(expected)
  })

  test('a star stands for what a regular expression says it stands for', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b', '.'), maxLength: 3 })
    const pattern = fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('*'))
    const near = pattern.chain((written) => {
      const fitting = fc.array(letters, { maxLength: 3 }).map((texts) => {
        const left = [...texts]
        return written.replaceAll('*', () => left.pop() ?? '')
      })
      const shorter = fc.tuple(fitting, fc.nat()).map(([text, at]) => {
        const cut = at % (text.length + 1)
        return text.slice(0, cut) + text.slice(cut + 1)
      })
      return fc.tuple(fc.constant(written), fc.oneof(fitting, shorter, letters))
    })
    fc.assert(
      fc.property(near, ([pattern, text]) => {
        const expression = pattern
          .split('*')
          .map((part) => part.replaceAll('.', '\\.'))
          .join('.*')
        expect(matchesText(pattern, text)).toBe(new RegExp(`^(?:${expression})$`).test(text))
      }),
      { numRuns: propertyRuns({ rare: 5 }) },
    )
  })
})

describe('hours', () => {
  const at = (text: string) => Date.parse(text) / 1000

  test.each<[string, PolicyTime, string, boolean]>([
    ['from its first minute', { from: '09:00', to: '17:00' }, '2026-11-18T09:00:00Z', true],
    ['to its last second', { from: '09:00', to: '17:00' }, '2026-11-18T16:59:59Z', true],
    ['and no longer', { from: '09:00', to: '17:00' }, '2026-11-18T17:00:00Z', false],
    ['not before', { from: '09:00', to: '17:00' }, '2026-11-18T08:59:59Z', false],
    ['open at the end', { from: '22:00' }, '2026-11-18T23:59:59Z', true],
    ['open at the beginning', { to: '06:00' }, '2026-11-18T00:00:00Z', true],
    ['over midnight, before', { from: '22:00', to: '06:00' }, '2026-11-18T23:00:00Z', true],
    ['over midnight, after', { from: '22:00', to: '06:00' }, '2026-11-18T05:59:59Z', true],
    ['over midnight, at noon', { from: '22:00', to: '06:00' }, '2026-11-18T12:00:00Z', false],
    ['to midnight', { from: '22:00', to: '00:00' }, '2026-11-18T23:59:00Z', true],
    ['to midnight and no further', { from: '22:00', to: '00:00' }, '2026-11-18T00:00:00Z', false],
    ['a day', { days: [3] }, '2026-11-18T12:00:00Z', true],
    ['another day', { days: [1, 2, 4, 5] }, '2026-11-18T12:00:00Z', false],
    ['Sunday is 7', { days: [7] }, '2026-11-22T12:00:00Z', true],
    ['the night that Friday begins', { days: [5], from: '22:00', to: '06:00' }, '2026-11-21T05:00:00Z', true],
    ['the morning before it', { days: [5], from: '22:00', to: '06:00' }, '2026-11-20T05:00:00Z', false],
    [
      'the night from Sunday to Monday',
      { days: [7], from: '22:00', to: '06:00' },
      '2026-11-23T01:00:00Z',
      true,
    ],
    [
      'in Berlin, in winter',
      { from: '09:00', to: '10:00', zone: 'Europe/Berlin' },
      '2026-11-18T08:30:00Z',
      true,
    ],
    [
      'in Berlin, in summer',
      { from: '09:00', to: '10:00', zone: 'Europe/Berlin' },
      '2026-07-15T07:30:00Z',
      true,
    ],
    [
      'in Berlin, in summer, by winter time',
      { from: '09:00', to: '10:00', zone: 'Europe/Berlin' },
      '2026-07-15T08:30:00Z',
      false,
    ],
    [
      'a day that has begun in Auckland',
      { days: [4], zone: 'Pacific/Auckland' },
      '2026-11-18T12:00:00Z',
      true,
    ],
    ['a day that has not in Honolulu', { days: [2], zone: 'Pacific/Honolulu' }, '2026-11-18T09:00:00Z', true],
    [
      'a zone of half an hour',
      { from: '05:30', to: '05:31', zone: 'Asia/Kolkata' },
      '2026-11-18T00:00:00Z',
      true,
    ],
    [
      'midnight is 00:00',
      { from: '00:00', to: '00:01', zone: 'America/New_York' },
      '2026-11-18T05:00:30Z',
      true,
    ],
  ])('%s', (_, time, text, expected) => {
    expect(isWithin(time, at(text))).toBe(expected)
  })

  test('zones are those that there are', () => {
    expect(['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia'].filter(isTimeZone)).toHaveLength(3)
    expect(['Berlin', 'Mars/Olympus', '', 'UTC\0'].filter(isTimeZone)).toEqual([])
  })
})

describe('rates', () => {
  const limited = (limit: number, seconds: number, per: 'user' | 'tool' | 'project' = 'user') =>
    policy({ rate: { limit, seconds, per } })

  /** Uses it at these seconds where it may, and says when it did. */
  function used(rule: Policy, times: readonly number[], rates = createRates()): number[] {
    return times.filter((at) => {
      if (rates.secondsUntilWithinRate(rule, use(), at) > 0) return false
      rates.count(rule, use(), at)
      return true
    })
  }

  test('windows of up to a minute slide to the second', () => {
    expect(used(limited(2, 10), [0, 5, 9, 10, 14, 15, 16, 20])).toEqual([0, 5, 10, 15, 20])
  })

  test('says in how many seconds there is room again', () => {
    const rates = createRates()
    const rule = limited(2, 10)
    used(rule, [100, 104], rates)
    expect([
      rates.secondsUntilWithinRate(rule, use(), 104),
      rates.secondsUntilWithinRate(rule, use(), 109),
    ]).toEqual([6, 1])
    expect(rates.secondsUntilWithinRate(rule, use(), 110)).toBe(0)
  })

  test('however uses come, no window ever has more than the limit, and idle time makes room', () => {
    const steps = fc.array(fc.nat({ max: 400 }), { maxLength: 100 })
    fc.assert(
      fc.property(
        steps,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4000 }),
        (steps, limit, seconds) => {
          let at = 1_800_000_000
          const times = steps.map((step) => (at += step))
          const done = used(limited(limit, seconds), times)
          for (const [i, end] of done.entries()) {
            const within = done.slice(0, i + 1).filter((one) => one > end - seconds)
            expect(within.length).toBeLessThanOrEqual(limit)
          }
          // refused only while there were enough within the window and its sixtieth part
          const slack = seconds <= 60 ? 0 : 2 * Math.ceil(seconds / 60)
          for (const refused of new Set(times.filter((one) => !done.includes(one)))) {
            const before = done.filter((one) => one < refused && one > refused - seconds - slack)
            expect(before.length).toBeGreaterThanOrEqual(limit)
          }
        },
      ),
    )
  })

  test.each([
    ['user', use({ userId: 'bob' }), use({ tool: { id: 'other', aliases: [], ownNames: [], hints: [] } })],
    ['tool', use({ tool: { id: 'other', aliases: [], ownNames: [], hints: [] } }), use({ userId: 'bob' })],
  ] as const)('are counted apart for each %s', (per, another, same) => {
    const rates = createRates()
    const rule = limited(1, 60, per)
    rates.count(rule, use(), 0)
    expect(rates.secondsUntilWithinRate(rule, another, 0)).toBe(0)
    expect(rates.secondsUntilWithinRate(rule, same, 0)).toBeGreaterThan(0)
  })

  test('of a project count everybody, and another project apart', () => {
    const rates = createRates()
    const rule = limited(1, 60, 'project')
    rates.count(rule, use(), 0)
    expect(rates.secondsUntilWithinRate(rule, use({ userId: 'bob' }), 0)).toBeGreaterThan(0)
    expect(rates.secondsUntilWithinRate({ ...rule, projectId: 'proj_2' }, use(), 0)).toBe(0)
    expect(rates.secondsUntilWithinRate({ ...rule, id: 'other' }, use(), 0)).toBe(0)
  })

  test('a clock that was set back refuses nobody until it is where it was', () => {
    const rates = createRates()
    const rule = limited(1, 60)
    rates.count(rule, use(), 1_900_000_000)
    expect(rates.secondsUntilWithinRate(rule, use(), 1_899_999_990)).toBeGreaterThan(0)
    expect(rates.secondsUntilWithinRate(rule, use(), 1_800_000_000)).toBe(0)
  })

  test('remember no more than they may, and who was counted last', () => {
    const rates = createRates(100)
    const rule = limited(1, 60)
    for (let i = 0; i < 1_000; i++) rates.count(rule, use({ userId: `user-${i}` }), 0)
    expect(rates.size).toBe(100)
    expect(rates.secondsUntilWithinRate(rule, use({ userId: 'user-999' }), 0)).toBeGreaterThan(0)
    expect(rates.secondsUntilWithinRate(rule, use({ userId: 'user-1' }), 0)).toBe(0)
  })
})

describe('how rules combine', () => {
  const named = (id: string, effect: Policy['effect'], match: PolicyMatch = {}) =>
    policy(match, { id, effect })
  const context = { at: NOON, scopes: 'granted' } as const

  test.each<[string, readonly Policy[], string | undefined]>([
    ['none: permitted', [], undefined],
    ['a deny that matches', [named('no', 'deny')], 'denied no'],
    ['a deny that does not', [named('no', 'deny', { users: ['bob'] })], undefined],
    ['an allow that matches', [named('yes', 'allow', { users: ['ada'] })], undefined],
    ['one of several allows', [named('a', 'allow', { users: ['bob'] }), named('b', 'allow')], undefined],
    [
      'no allow that matches',
      [named('a', 'allow', { users: ['bob'] }), named('b', 'allow', { users: ['eve'] })],
      'not_allowed a,b',
    ],
    ['deny wins over allow', [named('yes', 'allow'), named('no', 'deny')], 'denied no'],
    [
      'deny wins over a missing allow',
      [named('yes', 'allow', { users: ['bob'] }), named('no', 'deny')],
      'denied no',
    ],
  ])('%s', (_, policies, expected) => {
    const { refusal } = evaluate(policies, use(), context)
    expect(refusal && `${refusal.reason} ${refusal.by.map((hit) => hit.policy.id)}`).toBe(expected)
  })

  test('each provider of a use must be allowed', () => {
    const both = use({
      providers: [
        { id: 'github', scopes: [] },
        { id: 'google', scopes: [] },
      ],
    })
    const github = named('github', 'allow', { providers: ['github'] })
    const google = named('google', 'allow', { providers: ['google'] })
    expect(evaluate([github], both, context).refusal).toMatchObject({
      reason: 'not_allowed',
      by: [{ provider: { id: 'google' } }],
    })
    expect(evaluate([github, google], both, context).refusal).toBeUndefined()
  })

  test('a deny says because of which provider', () => {
    const both = use({
      providers: [
        { id: 'github', scopes: ['repo'] },
        { id: 'google', scopes: ['mail'] },
      ],
    })
    const { refusal } = evaluate([named('no', 'deny', { scopes: ['mail'] })], both, context)
    expect(refusal?.by).toMatchObject([{ provider: { id: 'google' } }])
  })

  test('limits and hooks come after, in order', () => {
    const rate = { limit: 1, seconds: 60, per: 'user' } as const
    const policies = [
      named('ask', 'hook'),
      named('few', 'deny', { rate }),
      named('other', 'hook', { users: ['bob'] }),
    ]
    const { limits, hooks } = evaluate(policies, use(), context)
    expect([limits, hooks].map((hits) => hits.map((hit) => hit.policy.id))).toEqual([['few'], ['ask']])
  })
})
