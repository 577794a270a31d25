import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rankTools } from '../../src/mcp/gateway-tools/rank-tools.ts'
import type { ShownTool } from '../../src/tools/catalogue/shown-tools.ts'
import { approve, metadata, oauthEntry, startWorld, type World } from '../http/world.ts'
import { connect } from './clients.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development' } })
  const mail = metadata('SendMail', { oauth: [oauthEntry('Mail', world.as, { scopes: ['mail'] })] })
  await world.call('POST', '/v1/tools/import', mail)
  await world.call('POST', '/v1/tools/SendMail/binding', { worker_id: 'demo', tool: 'Slow' })
  await world.call('POST', '/v1/toolsets', { id: 'mail', tools: ['SendMail'] })
  await world.call('POST', '/v1/toolsets', { id: 'both', namespaces: ['Demo'], tools: ['SendMail'] })
  await world.call('POST', '/v1/toolsets', { id: 'searched', tools: ['*'], listing: 'search' })
})
afterAll(() => world[Symbol.asyncDispose]())

interface Structured {
  readonly connected: readonly { readonly provider: string }[]
  readonly missing: readonly { readonly provider: string }[]
  readonly tools: readonly { readonly name: string }[]
  readonly url?: string
}

const NOTHING: Structured = { connected: [], missing: [], tools: [] }
const providersOf = (of: Structured['missing']) => of.map(({ provider }) => provider).sort()

async function structured(client: Client, name: string, input: Record<string, unknown> = {}) {
  const result = await client.callTool({ name, arguments: input })
  const [block] = result.content
  const value = result.structuredContent as Structured | undefined
  // clients show models the one or the other
  if (block?.type === 'text' && value !== undefined) expect(JSON.parse(block.text)).toEqual(value)
  return {
    ...NOTHING,
    ...value,
    isError: result.isError ?? false,
    text: block?.type === 'text' ? block.text : '',
  }
}

describe('gatepass_connections', () => {
  test('lists what is missing with one link, and what is connected after the approval', async () => {
    await using connected = await connect(world.gatepass, { era: 'modern', user: 'carl', path: '/mcp/both' })
    const { client } = connected
    const before = await structured(client, 'gatepass_connections')
    expect(before).toMatchObject({ connected: [], url: expect.stringContaining('/connect/auth_') })
    expect(providersOf(before.missing)).toEqual(['demo', 'mail'])
    expect(before.missing.find(({ provider }) => provider === 'mail')).toMatchObject({
      scopes: ['mail'],
      tools: ['local_SendMail'],
      tool_count: 1,
      url: before.url,
    })
    expect((await structured(client, 'gatepass_connections')).url).toBe(before.url)

    await approve(before.url ?? '')
    const after = await structured(client, 'gatepass_connections')
    expect(after).toMatchObject({ missing: [], message: expect.stringContaining('is connected') })
    expect(after.url).toBeUndefined()
    expect(providersOf(after.connected)).toEqual(['demo', 'mail'])
    expect(JSON.stringify(after)).not.toContain('token')
  })

  test('of a toolset: only the providers that its tools need', async () => {
    await world.connect('dora')
    await using connected = await connect(world.gatepass, { era: 'legacy', user: 'dora', path: '/mcp/mail' })
    const found = await structured(connected.client, 'gatepass_connections')
    expect(found.connected).toEqual([])
    expect(found.missing).toMatchObject([{ provider: 'mail' }])
  })

  test('of one provider', async () => {
    await using connected = await connect(world.gatepass, { era: 'modern', user: 'emil' })
    const found = await structured(connected.client, 'gatepass_connections', { provider: 'demo' })
    expect(found.missing).toMatchObject([{ provider: 'demo', scopes: ['read'] }])
  })

  test('without a user: says how to name one', async () => {
    await using connected = await connect(world.gatepass, { era: 'modern', user: null })
    expect(await structured(connected.client, 'gatepass_connections')).toMatchObject({
      isError: true,
      text: expect.stringContaining('X-Gatepass-User'),
    })
  })

  test('refuses arguments that its schema does not have', async () => {
    await using connected = await connect(world.gatepass, { era: 'modern', user: 'fay' })
    expect(await structured(connected.client, 'gatepass_connections', { scopes: 'all' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('scopes'),
    })
  })
})

describe('a toolset that is searched', () => {
  test('shows Gatepass’ own tools, by which the others are found and called', async () => {
    await using connected = await connect(world.gatepass, { era: 'modern', path: '/mcp/searched' })
    const { client } = connected
    expect((await client.listTools()).tools.map(({ name }) => name).sort()).toEqual([
      'gatepass_call_tool',
      'gatepass_connections',
      'gatepass_search_tools',
    ])
    const found = await structured(client, 'gatepass_search_tools', { query: 'echo', limit: 1 })
    expect(found.tools).toMatchObject([{ name: 'Demo_Echo', inputSchema: { type: 'object' } }])
    const called = await client.callTool({
      name: 'gatepass_call_tool',
      arguments: { name: 'Demo_Echo', arguments: { text: 'found' } },
    })
    expect(called.content).toMatchObject([{ type: 'text', text: expect.stringContaining('found') }])
    await expect(
      client.callTool({ name: 'gatepass_call_tool', arguments: { name: 'gatepass_call_tool' } }),
    ).rejects.toMatchObject({ code: -32_602 })
  })
})

describe('the search', () => {
  const shown = (name: string, description: string, tags: string[] = []): ShownTool =>
    ({ name, tool: { title: name, namespace: '', description, tags } }) as unknown as ShownTool
  const tools = [
    shown('GitHub_ListRepositories', 'Lists the repositories of the user.'),
    shown('Gmail_SendEmail', 'Sends a message.', ['mail']),
    shown('Slack_SendMessage', 'Sends a message to a channel.'),
    shown('Calendar_ListEvents', 'Lists the events of a day.'),
  ]
  test.each([
    ['send an email to bob', 'Gmail_SendEmail'],
    ['repos', 'GitHub_ListRepositories'],
    ['message channel', 'Slack_SendMessage'],
    ['listEvents', 'Calendar_ListEvents'],
    ['mails', 'Gmail_SendEmail'],
  ])('%s: finds %s first', async (query, first) => {
    const { found, total } = await rankTools(tools, query, 2)
    expect(found[0]?.name).toBe(first)
    expect(total).toBeGreaterThan(0)
  })
  test('finds nothing for words that no tool has', async () => {
    expect(await rankTools(tools, 'zebra 𝟘 !!', 5)).toEqual({ found: [], total: 0 })
  })
})
