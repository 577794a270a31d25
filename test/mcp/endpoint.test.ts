import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { approve, startWorld, type World } from '../http/world.ts'
import { connect, ERAS } from './clients.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development' } })
})
afterAll(() => world[Symbol.asyncDispose]())

describe.each(ERAS)('the official client by $version', ({ era, version }) => {
  test('lists the tools of the project and calls one', async () => {
    await using connected = await connect(world.gatepass, { era })
    const { client } = connected
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(client.getServerVersion()).toMatchObject({ name: 'gatepass' })
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toContain('Demo_Echo')
    expect(names).toContain('gatepass_connections')
    expect(tools.find(({ name }) => name === 'Demo_Slow')?.inputSchema).toMatchObject({
      type: 'object',
      required: ['ms'],
    })
    const result = await client.callTool({ name: 'Demo_Echo', arguments: { text: 'hello' } })
    expect(result.isError).toBeUndefined()
    expect(result.content).toEqual([{ type: 'text', text: expect.stringContaining('"hello"') }])
  })

  test('tells the model what is wrong with a call', async () => {
    await using connected = await connect(world.gatepass, { era })
    const { client } = connected
    const invalid = await client.callTool({ name: 'Demo_Slow', arguments: { ms: 'long' } })
    expect(invalid).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('ms') }],
      _meta: { 'gatepass/error': { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', can_retry: false } },
    })
    const failed = await client.callTool({
      name: 'Demo_Fail',
      arguments: {
        message: 'no luck',
        kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
        can_retry: true,
        retry_after_ms: 50,
      },
    })
    expect(failed).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'no luck' }],
      _meta: {
        'gatepass/error': { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', can_retry: true, retry_after_ms: 50 },
      },
    })
    await expect(client.callTool({ name: 'Demo_Nothing', arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('Unknown tool: Demo_Nothing'),
    })
  })

  test('gets the link to approve as a text, and then the result', async () => {
    const user = `bob-${era}`
    await using connected = await connect(world.gatepass, { era, user })
    const { client } = connected
    const call = () => client.callTool({ name: 'Demo_WhoAmI', arguments: {} })
    const asked = await call()
    const required = asked._meta?.['gatepass/requires_authorization'] as { url: string } | undefined
    expect(required).toMatchObject({ scopes: ['read'], status: 'pending' })
    expect(asked).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining(required?.url ?? 'no link') }],
    })
    await approve(required?.url ?? '')
    expect(await call()).toMatchObject({ content: [{ type: 'text', text: expect.stringContaining(user) }] })
  })
})
