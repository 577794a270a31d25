import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type World } from '../../http/world.ts'

// What callers see of packs by the API; the command line is tested in command.test.ts.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('packs are listed with what was checked of them', async () => {
  const { body } = await world.call('GET', '/v1/packs?limit=100')
  expect(body.total_count).toBe(36)
  expect(body.items.find(({ id }: { id: string }) => id === 'gmail')).toMatchObject({
    name: 'Gmail',
    provider_id: 'google',
    tool_count: 20,
    checked_count: 20,
  })
})

test('a pack answers the bodies that add it, which add it', async () => {
  const { body } = await world.call('GET', '/v1/packs/gmail')
  expect(body.policy.match.tools).toContain('Gmail:SendMessage')
  const provider = {
    id: 'google',
    provider_id: 'google',
    oauth2: { client_id: 'client', client_secret: 'secret' },
  }
  expect(await world.call('POST', '/v1/admin/auth_providers', provider)).toMatchObject({ status: 201 })
  const worker = await world.call('POST', '/v1/workers', body.worker)
  expect([worker.status, worker.body.sync_error]).toEqual([201, undefined])
  await world.call('POST', '/v1/admin/keys', { role: 'approver', groups: ['support'] })
  const approve = { by: { group: 'support' } } // users are not verified in this world
  const policy = await world.call('POST', '/v1/admin/policies', { ...body.policy, approve })
  expect([policy.status, policy.body.message]).toEqual([201, undefined])
  const toolset = await world.call('POST', '/v1/toolsets', body.toolset)
  expect([toolset.status, toolset.body.tool_count]).toEqual([201, 20])
  const { body: tool } = await world.call('GET', '/v1/tools/Gmail_SendMessage')
  expect(tool.requirements.authorization.id ?? tool.requirements.authorization.provider_id).toBeDefined()
})

test('a pack for reading asks for scopes to read alone', async () => {
  const { body } = await world.call('GET', '/v1/packs/gmail?read_only=true')
  expect(body.policy).toBeUndefined()
  expect(body.tools.every(({ read_only }: { read_only: boolean }) => read_only)).toBe(true)
  expect(body.scopes.filter((scope: string) => !/readonly|metadata|labels/.test(scope))).toEqual([])
})

test('tools are chosen by name, and an unknown one is named', async () => {
  const { body } = await world.call('GET', '/v1/packs/slack?tools=SendMessage,ListUsers')
  expect(body.tools.map(({ name }: { name: string }) => name)).toEqual(['ListUsers', 'SendMessage'])
  const { status, body: refused } = await world.call('GET', '/v1/packs/slack?tools=SendMesage')
  expect([status, refused.message]).toEqual([400, expect.stringContaining('"SendMessage"')])
  const { status: missing, body: none } = await world.call('GET', '/v1/packs/gmial')
  expect([missing, none.message]).toEqual([404, expect.stringContaining('"gmail"')])
})
