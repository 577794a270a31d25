import { describe, expect, test } from 'vitest'
import type { ApprovalRule } from '../../../src/domain/approval.ts'
import { callDigest, coverDigest } from '../../../src/features/approvals/digest.ts'
import type { CallToApprove } from '../../../src/services/call-approvals.ts'

const AGENT = 'key_1'
const rule: ApprovalRule = {
  id: 'ask',
  version: 'v1',
  by: 'user',
  expiresSeconds: 600,
  useWithinSeconds: 600,
  remember: ['once'],
}
const call: CallToApprove = {
  projectId: 'proj_1',
  userId: 'ada',
  use: 'tool',
  needed: { rules: [rule], versions: [] },
  subject: 'Mail:Send',
  title: 'Send',
  hints: [],
  definition: 'd1',
  workerId: 'mail',
  hosts: ['a.example', 'b.example'],
  input: { to: 'bob', amount: 1, more: { list: [1, 2], note: 'é' } },
  metadata: { tenant: 't1' },
  connections: [
    { id: 'conn_1', provider: 'Demo', account: 'ada' },
    { id: 'conn_2', provider: 'Mail', account: 'ada' },
  ],
  runAt: 1_800_000_000,
  exact: 'a1',
}
const otherRule = (more: Partial<ApprovalRule>) => ({ rules: [{ ...rule, ...more }], versions: [] })
const json = (text: string): CallToApprove['input'] => JSON.parse(text)

/** What else a call can be, with everything else the same. */
const BOUND: readonly (readonly [string, Partial<CallToApprove>])[] = [
  ['project', { projectId: 'proj_2' }],
  ['user', { userId: 'bob' }],
  ['user who is missing', { userId: undefined }],
  ['use', { use: 'proxy' }],
  ['tool', { subject: 'Mail:Sеnd' }],
  ['definition', { definition: 'd2' }],
  ['worker', { workerId: 'mail2' }],
  ['host', { hosts: ['a.example', 'c.example'] }],
  ['connection', { connections: [{ id: 'conn_3', provider: 'Demo', account: 'ada' }] }],
  ['metadata', { metadata: { tenant: 't2' } }],
  ['name of metadata', { metadata: { tenants: 't1' } }],
  ['rule', { needed: otherRule({ id: 'ask2' }) }],
  ['version of a rule', { needed: otherRule({ version: 'v2' }) }],
]

/** What a remembered approval does not fix. */
const OF_ONE_CALL: readonly (readonly [string, Partial<CallToApprove>])[] = [
  ['argument', { input: { ...call.input, to: 'eve' } }],
  ['further argument', { input: { ...call.input, bcc: 'eve' } }],
  ['missing argument', { input: { to: 'bob', amount: 1 } }],
  ['null for a missing argument', { input: { ...call.input, bcc: null } }],
  ['nested argument', { input: { ...call.input, more: { list: [1, 2], note: 'e' } } }],
  ['order of a list', { input: { ...call.input, more: { list: [2, 1], note: 'é' } } }],
  ['text for a number', { input: { ...call.input, amount: '1' } }],
  ['spelling of a character', { input: { ...call.input, more: { list: [1, 2], note: 'e\u0301' } } }],
  ['zero-width space', { input: { ...call.input, to: 'bob\u200b' } }],
  ['number in the last digit', { input: { ...call.input, amount: 1.000_000_000_000_000_2 } }],
  ['time of the run', { runAt: 1_800_000_001 }],
  ['part that people do not see', { exact: 'a2' }],
]

describe('the digest of a call', () => {
  test.each([...BOUND, ...OF_ONE_CALL])('differs for another %s', (_, more) => {
    expect(callDigest({ ...call, ...more }, AGENT)).not.toBe(callDigest(call, AGENT))
  })

  test('differs for another agent', () => {
    expect(callDigest(call, 'key_2')).not.toBe(callDigest(call, AGENT))
    expect(coverDigest(call, 'key_2', ['to'])).not.toBe(coverDigest(call, AGENT, ['to']))
  })

  test.each<[string, Partial<CallToApprove>]>([
    ['order of members', { input: json('{"more":{"note":"é","list":[1,2]},"amount":1,"to":"bob"}') }],
    ['spelling of a number', { input: json('{"to":"bob","amount":1.0,"more":{"list":[1e0,2],"note":"é"}}') }],
    ['escape', { input: json('{"to":"\\u0062ob","amount":1,"more":{"list":[1,2],"note":"\\u00e9"}}') }],
    ['order of hosts', { hosts: call.hosts.toReversed() }],
    ['order of connections', { connections: call.connections.toReversed() }],
    ['title, which people see and nothing runs by', { title: 'Another' }],
  ])('is the same for another %s', (_, more) => {
    expect(callDigest({ ...call, ...more }, AGENT)).toBe(callDigest(call, AGENT))
  })
})

describe('the digest of what a remembered approval covers', () => {
  const cover = (more: Partial<CallToApprove> = {}) => coverDigest({ ...call, ...more }, AGENT, ['to'])

  test.each(BOUND)('differs for another %s', (_, more) => {
    expect(cover(more)).not.toBe(cover())
  })

  test('has the values of the fixed arguments and no others', () => {
    expect(cover({ input: { to: 'bob', amount: 5, more: {} } })).toBe(cover())
    expect(cover({ input: { ...call.input, to: 'eve' } })).not.toBe(cover())
    expect(coverDigest(call, AGENT, [])).not.toBe(cover())
  })

  test('has the names of all arguments', () => {
    expect(cover({ input: { ...call.input, bcc: 'eve' } })).not.toBe(cover())
    expect(cover({ input: { to: 'bob', amount: 1 } })).not.toBe(cover())
  })

  test('has the arguments that are always fixed', () => {
    const always = ['amount']
    expect(cover({ always, input: { to: 'bob', amount: 5 } })).not.toBe(
      cover({ always, input: { to: 'bob', amount: 6 } }),
    )
  })
})
