import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SdkWorld, startSdkWorld } from '../../sdk/sdk-world.ts'

let world: SdkWorld
beforeAll(async () => {
  world = await startSdkWorld({ gatepass: { mode: 'development' } })
})
afterAll(() => world[Symbol.asyncDispose]())

test('what a policy denies is refused in the words of each way, and not run', async () => {
  const toolId = 'Run:CountSafely'
  const policy = { id: 'no-count', effect: 'deny', match: { tools: [toolId] } }
  expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
  const args = { key: 'denied' }
  const post = async (path: string, body: object) => (await world.call('POST', path, body)).body
  const error = { op: 'execute', kind: 'CONTEXT_DENIED', can_retry: false }
  expect(await post('/v1/tools/run', { toolId, args })).toMatchObject({ error })
  const [event, data = ''] = (await post('/v1/tools/run_stream', { toolId, args })).trim().split('\ndata: ')
  expect([event, JSON.parse(data)]).toMatchObject(['event: error', { data: { error } }])
  expect(await post('/v1/tools/run_chain', { steps: [{ toolId, args }] })).toMatchObject({
    status: 'failed',
    steps: [{ status: 'failed', error }],
  })
  expect(await post('/oxp/tools/call', { tool_id: toolId, input: args })).toMatchObject({
    success: false,
    error: { developer_message: expect.stringMatching(/^CONTEXT_DENIED.*no-count/) },
  })
  await world.call('DELETE', '/v1/admin/policies/no-count')
  expect(await post('/v1/tools/run', { toolId: 'Run.Ran', args })).toMatchObject({ structured: 0 })
})

test('the SDK makes, tests, changes and deletes policies, and names what they refuse', async () => {
  const { policies } = world.client.admin
  await policies.create({ id: 'no-fail', effect: 'deny', match: { tools: ['Demo.Fail'] } })
  expect(await policies.test({ tool_name: 'Demo.Fail' })).toMatchObject({
    decision: 'refused',
    refused_by: ['no-fail'],
  })
  expect(await world.client.tools.execute('Demo.Fail')).toMatchObject({
    outcome: 'error',
    error: { kind: 'CONTEXT_DENIED' },
  })
  expect(await policies.update('no-fail', { enabled: false })).toMatchObject({ enabled: false })
  expect(await policies.get('no-fail')).toMatchObject({ effect: 'deny' })
  expect(await policies.list().toArray()).toHaveLength(1)
  await policies.delete('no-fail')

  await policies.create({ id: 'no-token', effect: 'deny', match: { users: ['denied'], uses: ['token'] } })
  await world.connect('denied').catch(() => {})
  await expect(world.client.token('denied', 'demo')).rejects.toMatchObject({
    name: 'DeniedByPolicy',
    status: 403,
  })
  await policies.delete('no-token')
})
