import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from '../../cli/gatepass.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'

let gatepass: Gatepass
beforeAll(async () => {
  gatepass = await startGatepass()
})
afterAll(() => gatepass.close())

const run = (...args: string[]) =>
  runHere({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }, ...args)

test('packs are listed and shown with what their tools do and need', async () => {
  const listed = await run('packs')
  expect(listed).toMatchObject({ code: 0, stderr: '' })
  expect(listed.stdout).toMatch(/gmail +20 +description 20, client 9 +google/)
  const shown = await run('packs', 'show', 'gmail', '--read-only')
  expect(shown.stdout).toMatch(/SearchMessages +reads .*gmail\.readonly/)
  expect(shown.stdout).not.toContain('SendMessage')
})

test('a pack whose approvals nobody could give is not added', async () => {
  const refused = await run('packs', 'add', 'slack')
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--approvers <group>'),
  })
  expect((await gatepass.call('GET', '/v1/workers/slack')).status).toBe(404)
  expect((await gatepass.call('GET', '/v1/admin/auth_providers/slack')).status).toBe(404)
})

test('a pack is added with its provider, a toolset and a policy, and updated', async () => {
  await run('keys', 'create', '--role', 'approver', '--group', 'support')
  const added = await run(
    'packs',
    'add',
    'gmail',
    '--approvers',
    'support',
    '--tool',
    'SendMessage',
    'GetMessage',
  )
  expect(added).toMatchObject({ code: 0, stderr: '' })
  expect(added.stdout).toContain('Added 2 tools of Gmail: worker gmail, toolset gmail.')
  expect(added.stdout).toMatch(/redirect URI +http/)
  const { body: policy } = await gatepass.call('GET', '/v1/admin/policies/gmail-approvals')
  expect(policy).toMatchObject({ effect: 'approve', match: { tools: ['Gmail:SendMessage'] } })
  const { body: tools } = await gatepass.call('GET', '/v1/tools?toolset=gmail')
  expect(tools.items).toHaveLength(2)

  const again = await run('packs', 'add', 'gmail')
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('gatepass packs update gmail') })
  const { body: worker } = await gatepass.call('GET', '/v1/workers/gmail')
  const [first, ...others] = worker.openapi.requests
  const requests = [{ ...first, description: 'What an earlier release said.' }, ...others]
  await gatepass.call('PATCH', '/v1/workers/gmail', { openapi: { requests } })
  const dry = await run('packs', 'update', 'gmail', '--dry-run')
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toContain('GetMessage\n  /description  "What an earlier release said." -> "')
  expect(dry.stdout).toContain('1 definition of gmail would change, 1 did not')
  const updated = await run('packs', 'update', 'gmail')
  expect(updated).toMatchObject({ code: 0, stderr: '' })
  expect(updated.stdout).toContain('1 definition of gmail changed, 1 did not')
  expect(updated.stdout).toContain('not added  ChangeManyMessageLabels')
  const after = await gatepass.call('GET', '/v1/workers/gmail')
  expect(after.body.openapi.requests[0].description).toBe(first.description)
})

test('a pack whose tools use two providers is added with both', async () => {
  const added = await run('packs', 'add', 'discord', '--read-only', '--json')
  expect(added).toMatchObject({ code: 0, stderr: '' })
  const { providers } = JSON.parse(added.stdout)
  expect(providers).toMatchObject([{ provider_id: 'discord' }, { provider_id: 'discord-api-key' }])
  const input = { guild_id: '197038439483310086' }
  const needs = async (tool_name: string, given: object) =>
    (await gatepass.call('POST', '/v1/tools/execute', { user_id: 'ada', tool_name, input: given })).body
  expect(await needs('Discord.ListChannels', input)).toMatchObject({
    output: { requires_authorization: { url: expect.any(String), scopes: [] } },
  })
  const shown = await run('packs', 'show', 'discord', '--tool', 'ListChannels', '--json')
  expect(JSON.parse(shown.stdout).tools).toMatchObject([{ provider_id: 'discord-api-key', scopes: [] }])
})

test('a name that does not exist is refused with the nearest', async () => {
  const pack = await run('packs', 'show', 'gmial')
  expect([pack.code, pack.stderr]).toEqual([3, expect.stringContaining('"gmail"')])
  const tool = await run('packs', 'add', 'gmail', '--tool', 'SendMesage')
  expect([tool.code, tool.stderr]).toEqual([2, expect.stringContaining('"SendMessage"')])
})
