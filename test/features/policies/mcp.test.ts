import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeMcpServer, startFakeMcpServer } from '../../fake-mcp-server.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { connect, ERAS, type Era } from '../../mcp/clients.ts'

let gatepass: Gatepass
let server: FakeMcpServer
beforeAll(async () => {
  const tools = ['app', 'media'].map((name) => ({ name, run: async () => ({ content: [] }) }))
  server = await startFakeMcpServer({ name: 'remote', protocol: '2026', tools })
  gatepass = await startGatepass({ mode: 'development' })
  await created('/v1/workers', { id: 'remote', mcp: { uri: server.url } })
})
afterAll(async () => {
  await gatepass.close()
  await server.close()
})

async function created(path: string, body: unknown): Promise<void> {
  const { status } = await gatepass.call('POST', path, body)
  expect(status).toBe(201)
}

async function listed(era: Era, user = 'ada') {
  await using connected = await connect(gatepass, { era, user })
  const { tools } = await connected.client.listTools()
  return new Map(tools.map((tool) => [tool.name.replace(/^Remote_/, ''), tool]))
}

async function call(era: Era, name: string, args: Record<string, unknown> = {}, user = 'ada') {
  await using connected = await connect(gatepass, { era, user })
  return await connected.client.callTool({ name, arguments: args })
}

test('a tool that policies refuse is not listed, and unknown to calls', async () => {
  const rule = (id: string, match: object) => created('/v1/admin/policies', { id, effect: 'deny', match })
  await rule('no-app', { tools: ['Remote_app'], users: ['mallory'] })
  await rule('no-media', { tools: ['Remote_media'], time: { from: '00:00' } })
  for (const { era } of ERAS) {
    expect((await listed(era, 'mallory')).has('app')).toBe(false)
    expect((await listed(era, 'ada')).has('app')).toBe(true)
    expect((await listed(era, 'mallory')).has('media')).toBe(true)
    const unknown = { code: -32_602, message: expect.stringContaining('Unknown tool: Remote_app') }
    await expect(call(era, 'Remote_app', {}, 'mallory')).rejects.toMatchObject(unknown)
    expect(await call(era, 'Remote_media')).toMatchObject({
      isError: true,
      _meta: { 'gatepass/error': { kind: 'CONTEXT_DENIED' } },
    })
  }
  await gatepass.call('DELETE', '/v1/admin/policies/no-app')
  await gatepass.call('DELETE', '/v1/admin/policies/no-media')
})

test('a list is made again when a policy changes, also while others still apply', async () => {
  for (const tool of ['app', 'media'])
    await created('/v1/admin/policies', {
      id: `no-${tool}`,
      effect: 'deny',
      match: { tools: [`Remote_${tool}`], users: ['eve'] },
    })
  const shown = async () => (await Promise.all(ERAS.map(({ era }) => listed(era, 'eve')))).map(seen)
  const seen = (list: ReadonlyMap<string, unknown>) => ['app', 'media'].filter((one) => list.has(one))
  expect(await shown()).toEqual(ERAS.map(() => []))
  await gatepass.call('DELETE', '/v1/admin/policies/no-app')
  expect(await shown()).toEqual(ERAS.map(() => ['app']))
  await gatepass.call('DELETE', '/v1/admin/policies/no-media')
})
