import { afterAll, beforeAll, expect, test } from 'vitest'
import { ERAS } from '../../mcp/clients.ts'
import { type RemoteTools, startRemoteTools } from '../../mcp/remote-tools.ts'

let remote: RemoteTools
beforeAll(async () => {
  remote = await startRemoteTools(
    ['app', 'media'].map((name) => ({ name, run: async () => ({ content: [] }) })),
  )
})
afterAll(() => remote?.[Symbol.asyncDispose]())

test('a tool that policies refuse is not listed, and unknown to calls', async () => {
  const rule = (id: string, match: object) =>
    remote.create('/v1/admin/policies', { id, effect: 'deny', match })
  await rule('no-app', { tools: ['Remote_app'], users: ['mallory'] })
  await rule('no-media', { tools: ['Remote_media'], time: { from: '00:00' } })
  for (const { era } of ERAS) {
    expect((await remote.list(era, 'mallory')).has('app')).toBe(false)
    expect((await remote.list(era, 'ada')).has('app')).toBe(true)
    expect((await remote.list(era, 'mallory')).has('media')).toBe(true)
    const unknown = { code: -32_602, message: expect.stringContaining('Unknown tool: Remote_app') }
    await expect(remote.call(era, 'Remote_app', {}, 'mallory')).rejects.toMatchObject(unknown)
    expect(await remote.call(era, 'Remote_media')).toMatchObject({
      isError: true,
      _meta: { 'gatepass/error': { kind: 'CONTEXT_DENIED' } },
    })
  }
  await remote.gatepass.call('DELETE', '/v1/admin/policies/no-app')
  await remote.gatepass.call('DELETE', '/v1/admin/policies/no-media')
})

test('a list is made again when a policy changes, also while others still apply', async () => {
  for (const tool of ['app', 'media'])
    await remote.create('/v1/admin/policies', {
      id: `no-${tool}`,
      effect: 'deny',
      match: { tools: [`Remote_${tool}`], users: ['eve'] },
    })
  const shown = async () => (await Promise.all(ERAS.map(({ era }) => remote.list(era, 'eve')))).map(seen)
  const seen = (list: ReadonlyMap<string, unknown>) => ['app', 'media'].filter((one) => list.has(one))
  expect(await shown()).toEqual(ERAS.map(() => []))
  await remote.gatepass.call('DELETE', '/v1/admin/policies/no-app')
  expect(await shown()).toEqual(ERAS.map(() => ['app']))
  await remote.gatepass.call('DELETE', '/v1/admin/policies/no-media')
})
