import { createPolicy, updatePolicy } from '../../../src/features/policies/operations.ts'
import type { ConsolePart } from '../../http/console-part.ts'

const RULE = { id: 'later', effect: 'deny', 'match.users': 'eve' }
const NO_LEAKS = { effect: 'deny', match: { tools: ['Demo.Leak'] } }

export const consoleOfPolicies: ConsolePart = {
  prepare: ({ call }) => call('POST', '/v1/admin/policies', { id: 'no-leaks', ...NO_LEAKS }),
  pages: [
    [() => '/policies', 200],
    [() => '/policies/no-leaks', 200],
    [() => '/policy/new', 200],
    [() => '/policy/dry-run', 200],
    [() => '/policy/dry-run?without=no-leaks', 200],
  ],
  forms: [
    [
      () => '/policy/new',
      { id: 'tried', effect: 'deny', enabled: 'true', 'match.users': 'eve', do: 'set' },
      'policy.set',
    ],
    [
      () => '/policies/tried',
      { effect: 'allow', 'match.users': 'eve\nada', 'match.tools': 'Demo.*', enabled: 'false', do: 'set' },
      'policy.set',
    ],
    [() => '/policies/tried/enabled', { enabled: 'true' }, 'policy.set'],
    [() => '/policies/tried/delete', {}, 'policy.deleted'],
  ],
  bodies: [
    ['createPolicy', { page: () => '/policy/new', body: createPolicy.body }],
    ['updatePolicy', { page: () => '/policies/no-leaks', body: updatePolicy.body }],
  ],
  faults: [
    ['/policy/new', { id: 'a b', effect: 'deny' }, 'letters, digits'],
    ['/policy/new', { id: 'night', effect: 'deny', 'match.time.from': '25:00' }, 'HH:MM'],
    ['/policy/new', { id: 'hooked', effect: 'hook' }, 'needs `hook`'],
    [
      '/policy/new',
      { id: 'often', effect: 'deny', 'match.rate.limit': 'x', 'match.rate.seconds': '1' },
      'match.rate.limit',
    ],
  ],
  endings: [
    {
      path: '/policies/:id/delete',
      make: async ({ call }) =>
        (await call('POST', '/v1/admin/policies', { id: 'twice', ...NO_LEAKS })).body.id,
      list: '/policies',
      said: 'The policy twice was deleted already.',
    },
  ],
  confirmed: [
    ['/policy/new', { ...RULE, do: 'set' }],
    ['/policy/new', RULE],
    ['/policies/none', { ...RULE, do: 'set' }],
    ['/policies/none/enabled', { enabled: 'false' }],
  ],
  unconfirmed: [['/policy/new', { ...RULE, do: 'try' }, 200]],
  // it tries policies
  readonlyForms: ['/policy/dry-run'],
}
