import { expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'

// An approval that can never be given is refused when its policy is set.

const ISSUER = {
  GATEPASS_DASHBOARD_ISSUER: 'https://login.example.test',
  GATEPASS_DASHBOARD_CLIENT_ID: 'console',
}

const start = (roles?: string) =>
  startGatepass({ environment: roles === undefined ? {} : { ...ISSUER, GATEPASS_DASHBOARD_ROLES: roles } })

const set = ({ call }: Gatepass, approve: object, more: object = {}) =>
  call('POST', '/v1/admin/policies', { id: 'ask', effect: 'approve', match: {}, approve, ...more })

const refused = (path: string, message: string) => ({
  status: 400,
  body: { errors: [expect.objectContaining({ path, message: expect.stringContaining(message) })] },
})

test.each<[string, string | undefined, object, string, string]>([
  ['a group of no one', undefined, { by: { group: 'security' } }, 'approve.by.group', '"security"'],
  [
    'a group of another project',
    'groups=sec approver:security on acme',
    { by: { group: 'security' } },
    'approve.by.group',
    'GATEPASS_DASHBOARD_ROLES',
  ],
  [
    'another group',
    'groups=sec approver:legal, sub=a admin',
    { by: { group: 'security' } },
    'approve.by.group',
    'gatepass keys create --role approver --group security',
  ],
  [
    'more people than the rules name',
    'sub=a approver:security, email=b@example.test approver:security',
    { by: { group: 'security', count: 3 } },
    'approve.by.count',
    'fewer than 3',
  ],
  ['a user whom no one verifies', undefined, { by: 'user' }, 'approve.by', 'GATEPASS_USER_VERIFIER'],
  ['the default, which is the user', undefined, {}, 'approve.by', 'GATEPASS_USER_VERIFIER'],
  [
    'nothing to remember',
    'groups=sec approver:security',
    { by: { group: 'security' }, remember: [] },
    'approve.remember',
    'names nothing',
  ],
])('a policy that asks %s is refused', async (_, roles, approve, path, message) => {
  await using gatepass = await start(roles)
  expect(await set(gatepass, approve)).toMatchObject(refused(path, message))
})

test('a call that may destroy something is not approved for good', async () => {
  await using gatepass = await start('groups=sec approver:security on *')
  const approve = { by: { group: 'security' }, remember: ['once', 'standing'] }
  const match = { hints: ['destructive'] }
  expect(await set(gatepass, approve, { match })).toMatchObject(refused('approve.remember', 'destroy'))
  expect((await set(gatepass, { ...approve, remember: ['hour'] }, { match })).status).toBe(201)
  expect((await set(gatepass, approve, { id: 'other' })).status).toBe(201)
  const changed = await gatepass.call('PATCH', '/v1/admin/policies/other', { match })
  expect(changed).toMatchObject(refused('approve.remember', 'destroy'))
})

test.each([
  ['a claim that any number of people may have', 'groups=sec approver:security', 5],
  ['a rule for all projects', 'groups=sec approver:security on *', 1],
  ['as many rules for one person each', 'sub=a approver:security, sub=b approver:security', 2],
])('a group is reached by %s', async (_, roles, count) => {
  await using gatepass = await start(roles)
  expect((await set(gatepass, { by: { group: 'security', count } })).status).toBe(201)
})

test('a group is reached by a key of approvers, as long as that is valid', async () => {
  await using gatepass = await start()
  const make = (body: object) => gatepass.call('POST', '/v1/admin/keys', { role: 'approver', ...body })
  await make({ groups: ['legal'] })
  const by = { group: 'security', count: 2 }
  expect(await set(gatepass, { by })).toMatchObject(refused('approve.by.group', '"security"'))
  const { body: key } = await make({ groups: ['security', 'legal'] })
  expect((await set(gatepass, { by })).status).toBe(201)

  await gatepass.call('DELETE', `/v1/admin/keys/${key.id}`)
  const change = (body: object) => gatepass.call('PATCH', '/v1/admin/policies/ask', body)
  expect((await change({ enabled: false, description: 'Its approvers are gone' })).status).toBe(200)
  expect(await change({ enabled: true })).toMatchObject(refused('approve.by.group', '"security"'))
  expect(await change({ approve: { by: { group: 'security' } } })).toMatchObject(
    refused('approve.by.group', '"security"'),
  )
  await make({})
  expect((await change({ enabled: true })).status).toBe(200)
})
