import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type ServedMcp, serveMcp } from '../../../src/sdk/mcp/mcp.ts'
import { createHandler } from '../../../src/sdk/mcp/mcp-handler.ts'
import { anyOf, OAuth2, ToolApp } from '../../../src/sdk/tools/index.ts'
import { userAuthorizations } from '../../../src/sdk/tools/user-authorizations.ts'
import { approve } from '../../http/world.ts'
import { type SdkWorld, startSdkWorld } from '../sdk-world.ts'

// A tool that needs its user's consent, served over MCP beside a real Gatepass: called by the user's own client, and by
// Gatepass itself.

const BROKER_SECRET = 'a broker secret of thirty-two characters'
const LINK = /\/connect\/auth_/
let world: SdkWorld
let app: ToolApp
let served: ServedMcp
beforeAll(async () => {
  world = await startSdkWorld()
  app = new ToolApp({ name: 'hub', version: '1.0.0', gatepass: world.client })
  app.tool('whoami', {
    description: 'Says whose token it has.',
    input: z.object({}),
    requiresAuth: { provider: 'demo', scopes: ['read'] },
    handler: ({ userId, authorization: { token, scopes, userInfo } }) => ({
      userId,
      hasToken: token !== '',
      scopes,
      sub: userInfo.sub,
    }),
  })
  app.tool('nested', {
    description: 'Calls the other tool.',
    input: z.object({}),
    handler: async ({ tools }) => (await tools.call('whoami')).structuredContent,
  })
  const verify = (token: string) =>
    token.startsWith('user-') ? { sub: token.slice('user-'.length) } : undefined
  served = await serveMcp(app, { port: 0, brokerSecret: BROKER_SECRET, verify })
})
afterAll(async () => {
  await served.close()
  await world[Symbol.asyncDispose]()
})

async function connect(
  user: string,
  mode: 'legacy' | 'auto',
  onLink?: (url: string) => 'accept' | 'decline',
) {
  const elicitation = onLink === undefined ? {} : { elicitation: { url: {} } }
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: elicitation, versionNegotiation: { mode } },
  )
  if (onLink !== undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => ({
      action: 'url' in params ? onLink(params.url) : 'cancel',
    }))
  const requestInit = { headers: { authorization: `Bearer user-${user}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url ?? ''), { requestInit }))
  return { client, [Symbol.asyncDispose]: () => client.close() }
}

const done = (user: string) => ({
  userId: user,
  hasToken: true,
  scopes: ['read'],
  sub: world.as.account.sub,
})

test('lists what the tool requires', async () => {
  await using connected = await connect('ada', 'auto')
  const { tools } = await connected.client.listTools()
  expect(tools[0]?._meta).toEqual({
    arcade: {
      requirements: {
        authorization: [{ provider_id: 'demo', provider_type: 'oauth2', oauth2: { scopes: ['read'] } }],
      },
    },
  })
})

describe('a missing consent', () => {
  test.each(['whoami', 'nested'])(
    '2026-07-28: %s shows the link, waits while the user approves, and runs',
    async (name) => {
      const user = `m-${name}`
      const links: string[] = []
      await using connected = await connect(user, 'auto', (url) => {
        links.push(url)
        void approve(url)
        return 'accept'
      })
      const { structuredContent } = await connected.client.callTool({ name, arguments: {} })
      expect(structuredContent).toEqual(done(user))
      expect(links).toEqual([expect.stringMatching(LINK)])
    },
  )

  test('2026-07-28: a user who declines is not asked again', async () => {
    const onLink = vi.fn(() => 'decline' as const)
    await using connected = await connect('m-declines', 'auto', onLink)
    const result = await connected.client.callTool({ name: 'whoami', arguments: {} })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('did not open') }],
    })
    expect(onLink).toHaveBeenCalledTimes(1)
  })

  test('2026-07-28: a user who takes long is asked once; later rounds carry the state alone', async () => {
    const handler = createHandler(app, { verify: (sub) => ({ sub }) }, { holdMs: 1 })
    const links: string[] = []
    const answers: unknown[] = []
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
    )
    client.setRequestHandler('elicitation/create', ({ params }) => {
      if ('url' in params) links.push(params.url)
      return { action: 'accept' }
    })
    await client.connect(
      new StreamableHTTPClientTransport(new URL('https://hub.example.com/mcp'), {
        requestInit: { headers: { authorization: 'Bearer m-slow' } },
        fetch: async (url, init) => {
          const response = await handler.fetch(new Request(url, init))
          const text = await response.clone().text()
          if (text.includes('input_required')) answers.push(JSON.parse(/\{.*\}/.exec(text)?.[0] ?? '').result)
          if (answers.length === 3) await approve(links[0] ?? '')
          return response
        },
      }),
    )
    const { structuredContent } = await client.callTool({ name: 'whoami', arguments: {} })
    expect(structuredContent).toEqual(done('m-slow'))
    expect(links).toHaveLength(1)
    expect(answers[1]).toEqual(expect.not.objectContaining({ inputRequests: expect.anything() }))
    await client.close()
  })

  test('2025-11-25: the error -32042 has the link, and the client learns when the user has approved', async () => {
    await using connected = await connect('l1', 'legacy', () => 'accept')
    const { client } = connected
    const completed = vi.fn()
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      completed(params.elicitationId),
    )
    const error = await client.callTool({ name: 'whoami', arguments: {} }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: -32_042, data: { elicitations: [{ mode: 'url' }] } })
    const [{ url, elicitationId }] = (error as { data: { elicitations: [Record<string, string>] } }).data
      .elicitations
    expect(url).toMatch(LINK)
    const again = await client.callTool({ name: 'whoami', arguments: {} }).catch((error: unknown) => error)
    expect(again).toMatchObject({ data: { elicitations: [{ elicitationId }] } })
    await approve(url ?? '')
    await vi.waitFor(() => expect(completed).toHaveBeenCalledWith(elicitationId), 300_000)
    expect((await client.callTool({ name: 'whoami', arguments: {} })).structuredContent).toEqual(done('l1'))
    expect(completed).toHaveBeenCalledTimes(1)
  })

  test.each(['legacy', 'auto'] as const)(
    '%s: a client that opens no links gets it as text and as data',
    async (mode) => {
      const user = `t-${mode}`
      await using connected = await connect(user, mode)
      const { client } = connected
      const result = await client.callTool({ name: 'whoami', arguments: {} })
      const { url = '' } = (result.structuredContent as { requires_authorization: { url?: string } })
        .requires_authorization
      expect(url).toMatch(LINK)
      const text = `Open ${url}, approve, then ask again. The link is for you alone and ends after a few minutes.`
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(text) }] })
      await approve(url)
      expect((await client.callTool({ name: 'whoami', arguments: {} })).structuredContent).toEqual(done(user))
    },
  )
})

test('Gatepass calls it as a worker of the type mcp, signs its requests, and asks its users for consent', async () => {
  const mcp = { uri: served.url, secret: BROKER_SECRET }
  const added = await world.call('POST', '/v1/workers', { id: 'hub', mcp })
  expect(added.body).toMatchObject({ mcp: { secret: { exists: true } }, requirements: { met: true } })
  expect(JSON.stringify(added.body)).not.toContain(BROKER_SECRET)
  const run = () => world.execute('Hub.whoami', { user_id: 'b1' })
  const first = await run()
  const link =
    first.body.output.requires_authorization.authorization_url ?? first.body.output.requires_authorization.url
  await approve(link)
  expect((await run()).body.output.value).toMatchObject({ userId: 'b1', hasToken: true, scopes: ['read'] })

  const wrong = await world.call('PATCH', '/v1/workers/hub', { mcp: { secret: `${BROKER_SECRET}!` } })
  expect(wrong.body.sync_error).toContain('brokerSecret')
})

test('of anyOf, a provider that Gatepass does not have is passed over', async () => {
  const nowhere = OAuth2({ id: 'nowhere' })
  const { signal } = new AbortController()
  const given = (requiresAuth: Parameters<typeof userAuthorizations>[2]) =>
    userAuthorizations(world.client, 'either', requiresAuth, signal)
  expect(await given(anyOf(nowhere, { provider: 'demo', scopes: ['read'] }))).toMatchObject({
    outcome: 'missing',
    authorization: { url: expect.stringMatching(LINK) },
  })
  for (const none of [nowhere, anyOf(nowhere)])
    await expect(given(none)).rejects.toMatchObject({ code: 'provider_not_found' })
})
