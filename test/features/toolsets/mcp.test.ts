import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Admin, Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { metadata, startWorld, type World } from '../../http/world.ts'
import { connect as connectAs, ERAS } from '../../mcp/clients.ts'
import { exchange, legacy, openSession } from '../../mcp/raw.ts'

// Toolsets as MCP clients see them, at the address and with the headers that the client of applications gives.

let world: World
let gatepass: Gatepass
let toolsets: Admin['toolsets']
beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development' } })
  const { url: baseUrl, apiKey, makeKey } = world.gatepass
  gatepass = new Gatepass({ baseUrl, apiKey: await makeKey('caller') })
  toolsets = new Gatepass({ baseUrl, apiKey }).admin.toolsets
})
afterAll(() => world[Symbol.asyncDispose]())

async function connect(toolset: string, mode: 'legacy' | 'auto' = 'auto') {
  const { url, headers } = gatepass.as('ada').mcp({ toolset })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }),
  )
  const names = async () => (await client.listTools()).tools.map(({ name }) => name)
  const call = async (name: string, input = {}) => client.callTool({ name, arguments: input })
  return { client, names, call, [Symbol.asyncDispose]: () => client.close() }
}

describe.each(['legacy', 'auto'] as const)('a toolset at /mcp/{id}, %s', (mode) => {
  test('has its tools under bare names, its instructions, and no other tool', async () => {
    const id = `demo-${mode}`
    const instructions = 'Echo what you are asked to echo.'
    await toolsets.create({ id, tools: ['Demo.Echo', 'Demo.WhoAmI'], names: 'bare', instructions })
    await using ada = await connect(id, mode)
    expect(ada.client.getInstructions()).toContain(instructions)
    expect((await ada.names()).sort()).toEqual(['Echo', 'WhoAmI', 'gatepass_connections'])
    const { content } = await ada.call('Echo', { text: 'hello' })
    expect(content).toEqual([{ type: 'text', text: expect.stringContaining('hello') }])
    for (const other of ['Slow', 'Demo_Slow', 'Demo.Slow'])
      await expect(ada.call(other, { ms: 1 }), other).rejects.toMatchObject({ code: -32_602 })
    expect((await ada.call('Demo_Echo', { text: 'the name in other lists' })).isError).toBeUndefined()

    await toolsets.update(id, { listing: 'search' })
    await using again = await connect(id, mode) // a modern client keeps the list that it has
    expect((await again.names()).sort()).toEqual([
      'gatepass_call_tool',
      'gatepass_connections',
      'gatepass_search_tools',
    ])
  })
})

test('two users of one toolset at the same time act each by their own token, and one has no session of the other', async () => {
  await toolsets.create({ id: 'both', tools: ['Demo.WhoAmI'], names: 'bare' })
  const users = ['ada', 'bob'] as const
  const tokens = new Map<string, string>()
  for (const user of users) tokens.set(user, await world.connect(user))
  const path = '/mcp/both'
  const callers = await Promise.all(
    ERAS.flatMap(({ era }) =>
      users.map(async (user) => ({ user, ...(await connectAs(world.gatepass, { era, user, path })) })),
    ),
  )
  const before = world.worker.invocations.length
  for (let round = 0; round < 5; round++)
    await Promise.all(
      callers.map(async ({ user, client }) => {
        const { content } = await client.callTool({ name: 'WhoAmI', arguments: {} })
        expect(JSON.stringify(content)).toContain(user)
      }),
    )
  const sent = world.worker.invocations
    .slice(before)
    .map(({ call }) => [call.context.user_id, call.context.authorization?.token])
  expect(sent).toHaveLength(5 * callers.length)
  for (const [user, token] of sent) expect(token).toBe(tokens.get(String(user)))
  for (const { client } of callers) await client.close()

  const stolen = await openSession(world.gatepass, { path, user: 'ada' })
  for (const message of [legacy('tools/list'), legacy('tools/call', { name: 'WhoAmI', arguments: {} })]) {
    const refused = await exchange(world.gatepass, message, { path, user: 'bob', headers: stolen })
    expect(refused).toMatchObject({ status: 404, body: { error: { code: -32_001 } } })
  }
})

test('no name of another tool leads out of a toolset, through gatepass_call_tool neither', async () => {
  await toolsets.create({ id: 'narrow', tools: ['Demo.Echo'], listing: 'search' })
  await using ada = await connect('narrow', 'legacy')
  const through = (name: string, args: object) => ada.call('gatepass_call_tool', { name, arguments: args })
  expect((await through('Demo_Echo', { text: 'inside' })).isError).toBeUndefined()
  const names = ['Slow', 'slow', 'Demo_Slow', 'Demo.Slow', 'Demo:Slow', 'Demo:Slow:1.0.0', 'Demo.Slow@1.0.0']
  for (const name of [...names, 'Demo.Slow@>=0', 'gatepass_call_tool', 'gatepass_connections'])
    await expect(through(name, { ms: 1 }), name).rejects.toMatchObject({ code: -32_602 })
  const found = JSON.stringify(await ada.call('gatepass_search_tools', { query: 'slow wait demo' }))
  expect(found).not.toContain('Slow')
})

test('the bare name of a tool that is gone calls no other tool', async () => {
  const add = async (tool_set: string) =>
    (await world.call('POST', '/v1/tools/import?worker_id=demo', metadata('send', { tool_set }))).body
      .items[0]
  await toolsets.create({ id: 'mail', namespaces: ['first', 'second'], names: 'bare' })
  const { tool_id } = await add('first')
  await using ada = await connect('mail', 'legacy')
  expect(await ada.names()).toContain('send')
  await add('second')
  expect(await ada.names()).toEqual(expect.arrayContaining(['send', 'second_send']))
  await world.call('DELETE', `/v1/tools/${tool_id}`)
  expect(await ada.names()).not.toContain('send')
  for (const name of ['send', 'SEND']) await expect(ada.call(name)).rejects.toMatchObject({ code: -32_602 })
})

test('a caller is given no address with a key or a user in it', () => {
  const { url, headers } = gatepass.mcp({ toolset: 'a/../b?c', user: 'ada@example.test' })
  expect(url).toBe(`${world.gatepass.url}/mcp/a%2F..%2Fb%3Fc`)
  expect(headers['x-gatepass-user']).toBe('ada@example.test')
})

test('a browser that opens the address gets the page for its toolset', async () => {
  const open = (path: string) =>
    fetch(`${world.gatepass.url}${path}`, { redirect: 'manual', headers: { accept: 'text/html' } })
  for (const [path, page] of [
    ['/mcp', '/docs/mcp'],
    ['/mcp/mail', '/docs/mcp?toolset=mail'],
    ['/mcp/a%26b', '/docs/mcp?toolset=a%26b'],
  ]) {
    const answer = await open(path ?? '')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, page])
  }
})
