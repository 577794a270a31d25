import { describe, expect, test } from 'vitest'
import type { Connection } from '../../src/domain/connection.ts'
import { BrokerError } from '../../src/domain/errors.ts'
import { type Decision, decide, type RefreshRequest, type Situation } from '../../src/flows/refresh/decide.ts'
import { ProviderRefusal } from '../../src/providers/provider-refusal.ts'

const NOW = 10_000
const stored = { access: 'sealed', refresh: 'sealed' } as unknown as Connection

/** Received long ago; alive for 50 s more. */
const alive = connection({ expiresAt: NOW + 50 })
const expired = connection({ expiresAt: NOW })
const endless = connection({ expiresAt: undefined })
const justReceived = connection({ receivedAt: NOW - 9, expiresAt: NOW + 50 })
const fromTheFuture = connection({ receivedAt: NOW + 1, expiresAt: NOW + 50 })

function connection(changes: { [K in keyof Connection]?: Connection[K] | undefined }): Connection {
  const common = { id: 'conn_1', status: 'active', generation: 3, unansweredRefreshes: 0, receivedAt: 0 }
  return { ...stored, ...common, ...changes } as Connection // only what `decide` reads
}

const refusal = new ProviderRefusal('invalid_grant', 'No.')
const grantRefused = { kind: 'grant_refused', refusal } as const
const outage = {
  kind: 'provider_failed',
  refusal: new ProviderRefusal('provider_unavailable', 'Down.', { outcome: 'unknown', trouble: 'outage' }),
} as const
const answered = {
  kind: 'provider_failed',
  refusal: new ProviderRefusal('provider_unavailable', 'Later.', { outcome: 'answered' }),
} as const
const limited = { ...answered, retryAfterSeconds: 40 } as const
const misconfigured = {
  kind: 'broker_failed',
  error: new BrokerError('provider_incomplete', 'No client.'),
} as const
const unexpected = { kind: 'unexpected', error: new TypeError() } as const
const paused = { kind: 'provider_paused' } as const
const elsewhere = { kind: 'refreshed_elsewhere' } as const

const leaseOwner = 'this process'
const until = (seconds: number) => NOW + seconds

const read: Situation = { at: 'row_read' }
const held: Situation = { at: 'lease_held' }
const failed = (failure: Extract<Situation, { at: 'failed' }>['failure']): Situation => ({
  at: 'failed',
  failure,
  leaseOwner,
})
const refused = (verdict: 'believed' | 'doubted'): Situation => ({
  at: 'refusal_checked',
  failure: grantRefused,
  leaseOwner,
  verdict,
})

/** Only its presence counts. */
const normal = { refreshRequest: {} } as RefreshRequest['provider']
const strict = { ...normal, strictRotation: true }
const single = { ...normal, rotation: { kind: 'single_use' } } as const
const repeatable = { ...normal, rotation: { kind: 'none' } } as const
const grace = { ...normal, rotation: { kind: 'grace', graceSeconds: 30 } } as const
/** Renews access tokens that are 100 s old. */
const renews = { renewalRequest: { leastAgeSeconds: 100 } } as RefreshRequest['provider']

type Row = readonly [
  situation: string,
  connection: Connection | undefined,
  request: Partial<RefreshRequest>,
  decision: Decided,
]

/** A decision without the connection, which is compared by itself. */
type Decided = Decision extends infer Each ? (Each extends unknown ? Omit<Each, 'connection'> : never) : never

const USE_TOKEN = { next: 'use_token' } as const
const SEND = { next: 'send' } as const
const ASK_USER = { next: 'require_authorization' } as const
const refusesWith = (failure: object, retryAfterSeconds: number) =>
  ({ next: 'report_failure', failure, retryAfterSeconds }) as Decision
const marks = (reason: string, more: object = {}) => ({ next: 'mark_unusable', reason, ...more }) as Decision
const backsOff = (seconds: number, failure: object, more: object) =>
  ({
    next: 'back_off',
    coolDown: { until: until(seconds), failure },
    leaseOwner,
    outcome: 'answered',
    ...more,
  }) as Decision

const rows: Record<string, readonly Row[]> = {
  'the row was read': [
    ['it is gone', undefined, {}, ASK_USER],
    ['it needs an authorization already', connection({ status: 'needs_authorization' }), {}, ASK_USER],
    ['the token expires soon', alive, {}, SEND],
    ['the token has expired', expired, {}, SEND],
    ['newer tokens are stored, alive', alive, { foundGeneration: 2 }, USE_TOKEN],
    ['newer tokens are stored, expired', expired, { foundGeneration: 2 }, SEND],
    ['no refresh token, alive', connection({ refresh: undefined, expiresAt: NOW + 1 }), {}, USE_TOKEN],
    ['no refresh token, no known end', connection({ refresh: undefined }), {}, USE_TOKEN],
    [
      'no refresh token, expired',
      connection({ refresh: undefined, expiresAt: NOW }),
      {},
      marks('token_expired'),
    ],
    ['the provider has no refresh request, alive', alive, { provider: {} }, USE_TOKEN],
    ['the provider has no refresh request, expired', expired, { provider: {} }, marks('token_expired')],
  ],
  'an earlier refresh has no known outcome': [
    ['alive', connection({ expiresAt: NOW + 50, unansweredRefreshes: 1 }), {}, SEND],
    [
      'alive, strict rotation',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1 }),
      { provider: strict },
      USE_TOKEN,
    ],
    [
      'expired, strict rotation',
      connection({ expiresAt: NOW, unansweredRefreshes: 1 }),
      { provider: strict },
      SEND,
    ],
    ['none unanswered, alive, strict rotation', alive, { provider: strict }, SEND],
    [
      'rejected, strict rotation',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1 }),
      { provider: strict, rejectedToken: 'stored' },
      SEND,
    ],
  ],
  'what becomes of a used refresh token is known': [
    [
      'single use, alive, no known outcome',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1 }),
      { provider: single },
      USE_TOKEN,
    ],
    [
      'none, alive, no known outcome',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1 }),
      { provider: repeatable },
      SEND,
    ],
    [
      'grace, within it',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1, unansweredSince: NOW - 29 }),
      { provider: grace },
      SEND,
    ],
    [
      'grace, after it',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1, unansweredSince: NOW - 30 }),
      { provider: grace },
      USE_TOKEN,
    ],
    [
      'grace, sent at an unknown time',
      connection({ expiresAt: NOW + 50, unansweredRefreshes: 1 }),
      { provider: grace },
      USE_TOKEN,
    ],
    [
      'grace, after it, expired',
      connection({ expiresAt: NOW, unansweredRefreshes: 1, unansweredSince: NOW - 30 }),
      { provider: grace },
      SEND,
    ],
    [
      'none, refused after a refresh without an outcome: nothing was lost',
      connection({ expiresAt: NOW, unansweredRefreshes: 2 }),
      { provider: repeatable, situation: refused('believed') },
      marks('refresh_refused', { leaseOwner, countAs: 'refused' }),
    ],
  ],
  'the refresh token has an end': [
    ['not yet', connection({ expiresAt: NOW, refreshExpiresAt: NOW + 1 }), {}, SEND],
    ['reached, alive', connection({ expiresAt: NOW + 1, refreshExpiresAt: NOW }), {}, USE_TOKEN],
    [
      'reached, expired: the provider has the last word',
      connection({ expiresAt: NOW, refreshExpiresAt: NOW }),
      {},
      SEND,
    ],
    [
      'reached, and the provider refuses it without a reason',
      connection({ expiresAt: NOW, refreshExpiresAt: NOW }),
      { situation: refused('believed') },
      marks('refresh_token_expired', { leaseOwner, countAs: 'refused' }),
    ],
  ],
  'the access token itself is renewed': [
    ['alive', connection({ refresh: undefined, expiresAt: NOW + 1 }), { provider: renews }, SEND],
    [
      'younger than its least age',
      connection({ refresh: undefined, receivedAt: NOW - 99, expiresAt: NOW + 1 }),
      { provider: renews },
      USE_TOKEN,
    ],
    [
      'expired',
      connection({ refresh: undefined, expiresAt: NOW }),
      { provider: renews },
      marks('token_expired'),
    ],
  ],
  'the caller’s token was rejected': [
    ['it is still stored', alive, { rejectedToken: 'stored' }, SEND],
    ['it is still stored, without a known end', endless, { rejectedToken: 'stored' }, SEND],
    ['it was replaced', alive, { rejectedToken: 'replaced' }, USE_TOKEN],
    ['it was replaced, expired since', expired, { rejectedToken: 'replaced' }, USE_TOKEN],
    ['it was received 9 s ago', justReceived, { rejectedToken: 'stored' }, USE_TOKEN],
    ['it was received in the future', fromTheFuture, { rejectedToken: 'stored' }, SEND],
    ['no refresh token', connection({ refresh: undefined }), { rejectedToken: 'stored' }, USE_TOKEN],
  ],
  'the tokens are in a cool-down': [
    ['alive', alive, { coolDown: { until: until(7), failure: outage } }, USE_TOKEN],
    ['expired', expired, { coolDown: { until: until(7), failure: outage } }, refusesWith(outage, 7)],
    [
      'expired, under a second left',
      expired,
      { coolDown: { until: NOW, failure: outage } },
      refusesWith(outage, 1),
    ],
    [
      'rejected',
      alive,
      { rejectedToken: 'stored', coolDown: { until: until(7), failure: outage } },
      refusesWith(outage, 7),
    ],
    ['after a refusal, alive', alive, { coolDown: { until: until(50), failure: grantRefused } }, USE_TOKEN],
    [
      'after a refusal, rejected',
      alive,
      { rejectedToken: 'stored', coolDown: { until: until(50), failure: grantRefused } },
      SEND,
    ],
  ],
  'the circuit breaker holds requests back': [
    ['alive', alive, { situation: { at: 'provider_paused', seconds: 20 } }, USE_TOKEN],
    ['expired', expired, { situation: { at: 'provider_paused', seconds: 20 } }, refusesWith(paused, 20)],
    [
      'rejected',
      alive,
      { situation: { at: 'provider_paused', seconds: 20 }, rejectedToken: 'stored' },
      refusesWith(paused, 20),
    ],
  ],
  'another process holds the lease': [
    ['alive, 1.9 s', alive, { situation: held, elapsedMs: 1_900 }, { next: 'wait' }],
    [
      'alive, 2 s: the next caller does not wait',
      alive,
      { situation: held, elapsedMs: 2_000 },
      { ...USE_TOKEN, coolDown: { until: until(5), failure: elsewhere } },
    ],
    ['expired, 11.9 s', expired, { situation: held, elapsedMs: 11_900 }, { next: 'wait' }],
    ['expired, 12 s', expired, { situation: held, elapsedMs: 12_000 }, refusesWith(elsewhere, 5)],
    [
      'rejected, 11.9 s',
      alive,
      { situation: held, elapsedMs: 11_900, rejectedToken: 'stored' },
      { next: 'wait' },
    ],
    [
      'rejected, 12 s',
      alive,
      { situation: held, elapsedMs: 12_000, rejectedToken: 'stored' },
      refusesWith(elsewhere, 5),
    ],
    ['alive, and the caller does not wait', alive, { situation: held, waits: false }, USE_TOKEN],
    [
      'expired, and the caller does not wait',
      expired,
      { situation: held, waits: false },
      refusesWith(elsewhere, 5),
    ],
  ],
  'the request was not sent': [
    [
      'the lease had almost lapsed',
      alive,
      { situation: { at: 'lease_lapsed', leaseOwner } },
      { next: 'release_lease', leaseOwner } as Decision,
    ],
    [
      'the tokens cannot be decrypted',
      alive,
      { situation: { at: 'tokens_unreadable' } },
      marks('unreadable'),
    ],
    [
      'the entry demands another kind of tokens by now',
      alive,
      { situation: { at: 'dpop_changed' } },
      marks('provider_changed'),
    ],
    [
      'the client is not configured',
      expired,
      { situation: failed(misconfigured) },
      backsOff(5, misconfigured, { countAs: 'unavailable' }),
    ],
  ],
  'the provider answered with tokens': [
    [
      'stored first of all',
      alive,
      { situation: { at: 'answered', answer: {} as never } },
      { next: 'store', answer: {} } as Decision,
    ],
  ],
  'the request failed': [
    ['answered', alive, { situation: failed(answered) }, backsOff(5, answered, { countAs: 'unavailable' })],
    ['Retry-After', alive, { situation: failed(limited) }, backsOff(40, limited, { countAs: 'unavailable' })],
    [
      'answered, rejected token',
      alive,
      { situation: failed(answered), rejectedToken: 'stored' },
      backsOff(10, answered, { countAs: 'unavailable' }),
    ],
    [
      'answered, after refreshes without an outcome',
      connection({ unansweredRefreshes: 3 }),
      { situation: failed(answered) },
      backsOff(5, answered, { countAs: 'unavailable' }),
    ],
    ...[
      [1, 5],
      [2, 10],
      [4, 40],
      [5, 60],
      [1_000, 60],
    ].map(
      ([unansweredRefreshes = 0, seconds = 0]): Row => [
        `its outcome is unknown, for the ${unansweredRefreshes}. time`,
        connection({ unansweredRefreshes }),
        { situation: failed(outage) },
        backsOff(seconds, outage, { outcome: 'unknown', countAs: 'lost' }),
      ],
    ),
    [
      'for a reason nobody expected',
      connection({ unansweredRefreshes: 1 }),
      { situation: failed(unexpected) },
      backsOff(5, unexpected, { outcome: 'unknown', countAs: 'lost' }),
    ],
    [
      'the grant was refused',
      alive,
      { situation: failed(grantRefused) },
      { next: 'check_refusal', failure: grantRefused, leaseOwner } as Decision,
    ],
  ],
  'the grant was refused': [
    [
      'the connection was deleted meanwhile',
      undefined,
      { situation: { at: 'refusal_superseded' } },
      ASK_USER,
    ],
    ['other tokens are stored meanwhile', alive, { situation: { at: 'refusal_superseded' } }, USE_TOKEN],
    [
      'believed, expired',
      connection({ expiresAt: NOW, unansweredRefreshes: 1 }),
      { situation: refused('believed') },
      marks('refresh_refused', { leaseOwner, countAs: 'refused' }),
    ],
    [
      'believed, expired, after a refresh without an outcome',
      connection({ expiresAt: NOW, unansweredRefreshes: 2 }),
      { situation: refused('believed') },
      marks('refresh_outcome_lost', { leaseOwner, countAs: 'lost' }),
    ],
    [
      'believed, rejected',
      alive,
      { situation: refused('believed'), rejectedToken: 'stored' },
      marks('refresh_refused', { leaseOwner, countAs: 'refused' }),
    ],
    [
      'believed, alive: it takes effect at the end of the token',
      alive,
      { situation: refused('believed') },
      backsOff(50, grantRefused, { countAs: 'refused' }),
    ],
    [
      'believed, no known end',
      endless,
      { situation: refused('believed') },
      backsOff(5, grantRefused, { countAs: 'refused' }),
    ],
    [
      'doubted, expired',
      expired,
      { situation: refused('doubted') },
      backsOff(30, paused, { countAs: 'refused' }),
    ],
    [
      'doubted, alive',
      alive,
      { situation: refused('doubted') },
      backsOff(30, paused, { countAs: 'refused' }),
    ],
  ],
  'the cool-down has begun and the lease is released': [
    ['alive', alive, { situation: backedOff(outage) }, USE_TOKEN],
    ['no known end', endless, { situation: backedOff(outage) }, USE_TOKEN],
    ['expired', expired, { situation: backedOff(outage) }, refusesWith(outage, 30)],
    ['rejected', alive, { situation: backedOff(paused), rejectedToken: 'stored' }, refusesWith(paused, 30)],
  ],
}

function backedOff(failure: typeof outage | typeof paused): Situation {
  return { at: 'backed_off', coolDown: { until: until(30), failure } }
}

describe.each(Object.entries(rows))('%s', (_name, table) => {
  test.each(table)('%s', (_situation, found, request, expected) => {
    const whole: RefreshRequest = {
      situation: read,
      foundGeneration: 3,
      waits: true,
      elapsedMs: 0,
      provider: normal,
      ...request,
    }
    const decision = decide(found, whole, NOW)
    if ('connection' in decision) expect(decision.connection).toBe(found)
    const { connection: _, ...rest } = decision as Decision & { connection?: Connection }
    expect(rest).toEqual(expected)
  })
})
