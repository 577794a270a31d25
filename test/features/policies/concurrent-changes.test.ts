import { afterEach, expect, test, vi } from 'vitest'
import { gate } from '../../gate.ts'
import { afterNextRead, expectOk } from '../../http/meanwhile.ts'
import { startWorld } from '../../http/world.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

const policies = '/v1/admin/policies'
const denyBob = { id: 'no-bob', effect: 'deny', match: { users: ['bob'] } }

test('of two policies of one id that are added at once, one is stored, and the other is answered 409', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const { find } = gatepass.broker.store.policies
  // a look for the id before the policy is added finds it free in both requests
  const bothLooked = gate()
  let looks = 0
  const look = vi.spyOn(gatepass.broker.store.policies, 'find').mockImplementation(async (...args) => {
    const policy = await find(...args)
    if (++looks === 2) bothLooked.open()
    await bothLooked.opened
    return policy
  })
  const answers = await Promise.all([
    call('POST', policies, denyBob),
    call('POST', policies, { ...denyBob, match: { users: ['eve'] } }),
  ])
  look.mockRestore()
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  const added = answers.find(({ status }) => status === 201)
  expect((await call('GET', `${policies}/no-bob`)).body).toEqual(added?.body)
})

test('a deny that is switched on while another request changes the policy stays on', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const path = `${policies}/no-bob`
  expect((await call('POST', policies, { ...denyBob, enabled: false })).status).toBe(201)
  afterNextRead(gatepass.broker.store.policies, 'find', () =>
    expectOk(call('PATCH', path, { enabled: true })),
  )
  await expectOk(call('PATCH', path, { description: 'Not Bob' }))
  expect((await call('GET', path)).body).toMatchObject({ enabled: true, description: 'Not Bob' })
})

test('a policy that is deleted while another request changes it stays deleted: 404', async () => {
  await using world = await startWorld()
  const { call, gatepass } = world
  const path = `${policies}/no-bob`
  expect((await call('POST', policies, denyBob)).status).toBe(201)
  afterNextRead(gatepass.broker.store.policies, 'find', () => call('DELETE', path))
  expect((await call('PATCH', path, { description: 'Gone' })).status).toBe(404)
  expect((await call('GET', policies)).body.items).toEqual([])
})
