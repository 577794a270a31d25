import { describe, expect, test } from 'vitest'
import { check, LIVENESS_MS } from './check.ts'
import { choices } from './choices.ts'
import type { Fault, History, Refresh, Request } from './history.ts'

// The checker of histories, checked: each history here is forged to break one promise, or to look as if it did.

const CONNECTION = 'conn_ada'

function request(of: Partial<Request> & Pick<Request, 'operation'>): Request {
  return { client: 1, node: 0, user: 'ada', begun: 100, ended: 110, status: 200, requestId: 'r-1', ...of }
}

const connected = request({
  operation: 'connect',
  connection: CONNECTION,
  begun: 10,
  ended: 20,
  requestId: 'r-0',
})
const token = (of: Partial<Request> = {}): Request =>
  request({ operation: 'token', connection: CONNECTION, fingerprint: 'f-1', ...of })
const release = { requestId: 'r-1', user: 'ada', connection: CONNECTION, fingerprint: 'f-1' }

function refresh(of: Partial<Refresh> = {}): Refresh {
  return { refreshToken: 'rt_first', arrived: 50, ended: 60, issued: 'f-1', ...of }
}

/** A call that a person must approve, the approval, and the call after it. */
const asks = (of: Partial<Request> = {}) =>
  request({ operation: 'ask', key: 'approved-1', isSafe: false, ...of })
const decides = (of: Partial<Request> = {}) =>
  request({ operation: 'decide', key: 'approved-1', approves: 'once', begun: 200, ended: 210, ...of })
const denies = request({ operation: 'decide', key: 'approved-1', begun: 200, ended: 210 })
const runs = (of: Partial<Request> = {}) =>
  request({
    operation: 'run approved',
    key: 'approved-1',
    succeeded: true,
    executionId: 'exec_1',
    begun: 300,
    ended: 320,
    ...of,
  })
const ran = { at: 305, key: 'approved-1', isSafe: false }

function fault(of: Partial<Fault> & Pick<Fault, 'kind'>): Fault {
  return { begun: 0, ended: 0, ...of }
}

/** One in which all is well, with what is said of it. */
function history({
  provider,
  trail,
  end,
  ...of
}: {
  readonly [K in keyof History]?: Partial<History[K]>
} = {}): History {
  return {
    requests: [connected, token()],
    faults: [],
    calls: [],
    ...(of as Partial<Pick<History, 'requests' | 'faults' | 'calls'>>),
    provider: { codes: [{ at: 15, code: 'code_1' }], refreshes: [refresh()], reuses: [], ...provider },
    trail: {
      faults: [],
      released: [release],
      refreshed: [{ connection: CONNECTION, fingerprint: 'f-1' }],
      ended: [],
      ...trail,
    },
    end: { connections: [CONNECTION], settledMs: 900, unsettled: [], losses: [0], ...end },
  }
}

test('a history in which all is well has no violation', () => {
  expect(check(history())).toEqual([])
})

describe('a violation is found, and shown', () => {
  const deletion = request({ operation: 'delete', connection: CONNECTION, begun: 30, ended: 40 })
  const key = (of: Partial<Request>) => request({ operation: 'execute', key: 'run-1', isSafe: false, ...of })
  const called = { at: 105, key: 'run-1', isSafe: false }

  const forged: readonly (readonly [string, string, History, string])[] = [
    ['P4', 'an acknowledged connection that is not there', history({ end: { connections: [] } }), CONNECTION],
    [
      'P5',
      'a second refresh while the first is under way',
      history({
        provider: { refreshes: [refresh({ ended: 90 }), refresh({ arrived: 70, ended: 95 })] },
        trail: { refreshed: [] },
      }),
      'rt_first',
    ],
    [
      'P5',
      'one that only a held answer was there for',
      history({
        provider: { refreshes: [refresh({ ended: 90 }), refresh({ arrived: 70, ended: 95 })] },
        faults: [fault({ kind: 'answer held', begun: 40, ended: 90 })],
        trail: { refreshed: [] },
      }),
      'answer held',
    ],
    [
      'losses',
      'a loss that the process whose record is lost does not notice',
      history({
        faults: [fault({ kind: 'lossy failover', begun: 90, ended: 200 })],
        trail: { released: [] },
      }),
      'node 0',
    ],
    ['losses', 'a loss that is said to be there, although none was', history({ end: { losses: [1] } }), ''],
    [
      'fencing',
      'a refresh token that is sent after its answer was stored',
      history({
        provider: { refreshes: [refresh(), refresh({ arrived: 500, ended: 510 })], reuses: ['rt_first'] },
      }),
      'rt_first',
    ],
    [
      'P6',
      'a consent that nothing cost',
      history({ trail: { ended: [{ connection: CONNECTION, reason: 'refresh_refused' }] } }),
      CONNECTION,
    ],
    [
      'P6',
      'an outcome that is said to be lost although no used token came again',
      history({ trail: { ended: [{ connection: CONNECTION, reason: 'refresh_outcome_lost' }] } }),
      CONNECTION,
    ],
    ['P7', 'a token without a record', history({ trail: { released: [] } }), 'r-1'],
    [
      'P7',
      'a token whose record is of another request',
      history({ trail: { released: [{ ...release, requestId: 'r-2' }] } }),
      'r-1',
    ],
    [
      'P7',
      'a token without a record, released after a standby took over',
      history({ faults: [fault({ kind: 'lossy failover', begun: 5, ended: 70 })], trail: { released: [] } }),
      'r-1',
    ],
    [
      'P4',
      'a connection that is lost although the standby that took over was synchronous',
      history({ faults: [fault({ kind: 'failover', begun: 5, ended: 70 })], end: { connections: [] } }),
      CONNECTION,
    ],
    ['P7', 'a trail that is broken', history({ trail: { faults: ['block 3 is missing'] } }), ''],
    ['P1', 'another user’s token', history({ trail: { released: [{ ...release, user: 'bob' }] } }), 'of ada'],
    [
      'at most once',
      'a code that is sent twice',
      history({
        provider: {
          codes: [
            { at: 1, code: 'code_1' },
            { at: 2, code: 'code_1' },
          ],
        },
      }),
      '',
    ],
    ['at most once', 'a tool that runs twice', history({ calls: [called, { ...called, at: 300 }] }), 'run-1'],
    [
      'at most once',
      'a key with two answers',
      history({
        requests: [
          connected,
          key({ executionId: 'exec_1', requestId: 'r-5' }),
          key({ executionId: 'exec_2', requestId: 'r-6' }),
        ],
        calls: [called],
      }),
      'exec_2',
    ],
    [
      'at most once',
      'a run that is answered and was never called',
      history({ requests: [connected, key({ executionId: 'exec_1', succeeded: true })] }),
      'run-1',
    ],
    [
      'approvals',
      'a call that runs twice by an approval for one',
      history({ requests: [connected, asks(), decides()], calls: [ran, { ...ran, at: 310 }] }),
      'approved-1',
    ],
    [
      'approvals',
      'a call that runs before it is approved',
      history({ requests: [connected, asks(), decides()], calls: [{ ...ran, at: 150 }] }),
      'approved-1',
    ],
    [
      'approvals',
      'a call that was denied',
      history({ requests: [connected, asks(), denies], calls: [ran] }),
      'approved-1',
    ],
    [
      'approvals',
      'a call that is answered as two executions',
      history({
        requests: [
          connected,
          asks({ isSafe: true }),
          decides(),
          runs({ executionId: 'exec_1' }),
          runs({ executionId: 'exec_2' }),
        ],
        calls: [{ ...ran, isSafe: true }],
      }),
      'exec_2',
    ],
    [
      'approvals',
      'calls that what was taken back covers',
      history({
        requests: [
          connected,
          asks({ isSafe: true }),
          decides({ approves: 'hour' }),
          request({ operation: 'take back', key: 'approved-1', begun: 400, ended: 410 }),
          runs({ begun: 420, ended: 430 }),
          runs({ begun: 440, ended: 450 }),
        ],
        calls: [{ ...ran, isSafe: true }],
      }),
      'approved-1',
    ],
    [
      'deny after acknowledgement',
      'a token after its deletion',
      history({ requests: [connected, deletion, token()] }),
      'delete',
    ],
    [
      'deny after acknowledgement',
      'a token by a key that was revoked',
      history({
        requests: [
          connected,
          request({ operation: 'revoke key', apiKey: 'key_1', begun: 30, ended: 40, requestId: 'r-9' }),
          token({ operation: 'token by a key', apiKey: 'key_1' }),
        ],
      }),
      'token by a key',
    ],
    [
      'deny after acknowledgement',
      'a token that a policy denies',
      history({
        requests: [
          connected,
          request({ operation: 'deny', policy: 'no', begun: 30, ended: 40, requestId: 'r-9' }),
          token(),
          request({ operation: 'allow', policy: 'no', begun: 120, ended: 130, requestId: 'r-10' }),
        ],
      }),
      'deny',
    ],
    [
      'liveness',
      'a user who gets no token',
      history({ end: { settledMs: LIVENESS_MS + 1, unsettled: ['ada'] } }),
      'ada',
    ],
    [
      'answers',
      'a bug that is answered',
      history({
        requests: [connected, token(), request({ operation: 'delete', status: 500, requestId: 'r-7' })],
      }),
      'r-7',
    ],
  ]

  test.each(forged)('%s: %s', (promise, _, made, shown) => {
    const violations = check(made)
    expect(violations.map((one) => one.promise)).toContain(promise)
    expect(violations.flatMap(({ excerpt }) => excerpt).join('\n')).toContain(shown)
  })
})

describe('what only looks like one is none', () => {
  test.each([
    [
      'a second refresh by a process that took over from one that was stopped',
      history({
        provider: {
          refreshes: [refresh({ ended: 90 }), refresh({ arrived: 70, ended: 95 })],
          reuses: ['rt_first'],
        },
        faults: [fault({ kind: 'stop', begun: 55, ended: 100, connection: CONNECTION })],
        trail: { refreshed: [], ended: [{ connection: CONNECTION, reason: 'refresh_outcome_lost' }] },
      }),
    ],
    [
      'a refresh token that comes again since its answer was lost',
      history({
        provider: { refreshes: [refresh(), refresh({ arrived: 500, ended: 510 })], reuses: ['rt_first'] },
        trail: { refreshed: [] },
      }),
    ],
    [
      'a connection whose deletion was asked for',
      history({
        requests: [
          connected,
          token(),
          {
            ...request({ operation: 'delete', connection: CONNECTION, begun: 120, ended: 130 }),
            status: 503,
          },
        ],
        end: { connections: [] },
      }),
    ],
    [
      'a token that was answered after the policy was lifted',
      history({
        requests: [
          connected,
          request({ operation: 'deny', policy: 'no', begun: 30, ended: 40, requestId: 'r-9' }),
          request({ operation: 'allow', policy: 'no', begun: 105, ended: 108, requestId: 'r-10' }),
          token(),
        ],
      }),
    ],
    [
      'a connection, a release and a deletion that a standby had not received when it took over',
      history({
        requests: [
          connected,
          request({ operation: 'delete', connection: CONNECTION, begun: 30, ended: 40 }),
          token({ begun: 50, ended: 60 }),
        ],
        faults: [fault({ kind: 'lossy failover', begun: 5, ended: 70 })],
        trail: { released: [] },
        end: { connections: [], losses: [1] },
      }),
    ],
    [
      'a loss that no process noticed, because the one whose record is lost was killed',
      history({
        faults: [
          fault({ kind: 'lossy failover', begun: 90, ended: 200 }),
          fault({ kind: 'kill', node: 0, begun: 210, ended: 220 }),
        ],
        trail: { released: [] },
      }),
    ],
    [
      'a tool that is safe to repeat and ran twice',
      history({
        calls: [
          { at: 1, key: 'run-1', isSafe: true },
          { at: 2, key: 'run-1', isSafe: true },
        ],
      }),
    ],
  ])('%s', (_, made) => {
    expect(check(made)).toEqual([])
  })
})

test('a seed repeats the choices, whatever beside them takes how long', () => {
  const of = (seed: number) => {
    const one = choices(seed).branch('faults')
    return Array.from({ length: 20 }, () => one.between(0, 1000))
  }
  expect(of(7)).toEqual(of(7))
  expect(of(7)).not.toEqual(of(8))
  expect(choices(7).branch('a').number()).not.toBe(choices(7).branch('b').number())
})
