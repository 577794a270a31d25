import type { Client } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createConsentRounds } from '../../src/mcp/consent/consent-rounds.ts'
import type { Execution } from '../../src/tools/run/execution.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { approve, metadata, oauthEntry, startWorld, type World } from '../http/world.ts'
import { type ConnectOptions, connect, headersOf } from './clients.ts'

const LINKS = { elicitation: { url: {} } }
const FORMS = { elicitation: {} }

let world: World
let users = 0
const newUser = () => `user-${++users}`

beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development' } })
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => {
  world.as.behaviour.consent = 'approve'
})

interface Link {
  readonly url: string
  readonly message: string
  readonly elicitationId?: string
}

/** Connects a client whose user does `onLink` with each link. */
async function connectUser(
  options: ConnectOptions,
  onLink?: (link: Link) => Promise<'accept' | 'decline' | 'cancel'>,
) {
  const connected = await connect(world.gatepass, options)
  const links: Link[] = []
  if (onLink !== undefined)
    connected.client.setRequestHandler('elicitation/create', async ({ params }) => {
      const link = params as unknown as Link
      links.push(link)
      return { action: await onLink(link) }
    })
  return { ...connected, links }
}

const whoAmI = (client: Client) => client.callTool({ name: 'Demo_WhoAmI', arguments: {} })
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? ''

describe('a client of 2026-07-28 that opens links', () => {
  test('gets the result of the call once its user has approved, and the user is asked once', async () => {
    const user = newUser()
    await using connected = await connectUser(
      { era: 'modern', user, capabilities: LINKS },
      async ({ url }) => {
        void approve(url)
        return 'accept'
      },
    )
    expect(textOf(await whoAmI(connected.client))).toContain(user)
    expect(connected.links).toEqual([
      expect.objectContaining({
        mode: 'url',
        message: 'Demo_WhoAmI needs your approval at demo (read).',
        url: expect.stringMatching(new RegExp(`^${world.gatepass.url}/connect/auth_[\\w-]+$`)),
      }),
    ])
  })

  test.each(['decline', 'cancel'] as const)('is not asked again after %s', async (action) => {
    await using connected = await connectUser(
      { era: 'modern', user: newUser(), capabilities: LINKS },
      async () => action,
    )
    const result = await whoAmI(connected.client)
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toBe('Demo_WhoAmI was not run: the user did not open the link to approve it.')
    expect(connected.links).toHaveLength(1)
  })

  test('learns why the provider refused, and is not asked again', async () => {
    world.as.behaviour.consent = 'deny'
    await using connected = await connectUser(
      { era: 'modern', user: newUser(), capabilities: LINKS },
      async ({ url }) => {
        void approve(url)
        return 'accept'
      },
    )
    const result = await whoAmI(connected.client)
    expect(result).toMatchObject({
      isError: true,
      _meta: { 'gatepass/authorization_failed': { reason: 'access_denied' } },
    })
    expect(textOf(result)).toMatch(/^Demo_WhoAmI was not run\. ./)
    expect(connected.links).toHaveLength(1)
  })

  test('gets one link for all providers of a tool', async () => {
    await using second = await disposable(startFakeAuthorizationServer())
    const oauth = [oauthEntry('First', world.as), oauthEntry('Second', second.as, { scopes: ['mail'] })]
    await world.call('POST', '/v1/tools/import', metadata('BothProviders', { oauth }))
    await world.call('POST', '/v1/tools/BothProviders/binding', { worker_id: 'demo', tool: 'Echo' })
    await using connected = await connectUser(
      { era: 'modern', user: newUser(), capabilities: LINKS },
      async ({ url }) => {
        void approve(url)
        return 'accept'
      },
    )
    const result = await connected.client.callTool({ name: 'BothProviders', arguments: { text: 'both' } })
    expect(textOf(result)).toContain('both')
    expect(connected.links.map(({ message }) => message)).toEqual([
      'BothProviders needs your approval at First and Second (read mail).',
    ])
  })

  /** One round of a call by hand. */
  async function round(user: string, more: Record<string, unknown> = {}, path = '/mcp') {
    const response = await fetch(new URL(path, world.gatepass.url), {
      method: 'POST',
      headers: {
        ...headersOf(world.gatepass.apiKey, user),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'Demo_WhoAmI',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'Demo_WhoAmI',
          arguments: {},
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': LINKS,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
          },
          ...more,
        },
      }),
    })
    return JSON.parse(await response.text())
  }

  test('has a state that no other user, tool or arguments can use', async () => {
    const user = newUser()
    const { result } = await round(user)
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
    const { requestState, inputRequests } = result
    const [id = ''] = Object.keys(inputRequests)
    const retry = { requestState, inputResponses: { [id]: { action: 'accept' } } }
    await approve(inputRequests[id].params.url)
    const refused = { error: { code: -32_602, message: 'Invalid or expired requestState' } }
    const tampered = `${requestState.slice(0, -4)}${requestState.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
    expect(await round('mallory', retry)).toMatchObject(refused)
    expect(await round(user, { ...retry, requestState: tampered })).toMatchObject(refused)
    expect(await round(user, { ...retry, arguments: { text: 'other' } })).toMatchObject(refused)
    expect(await round(user, { ...retry, requestState: 'v1.x.y' })).toMatchObject(refused)
    const { result: ended } = await round(user, retry)
    expect(textOf(ended)).toContain(user)
  })
})

describe('a client of 2025-11-25 that opens links', () => {
  test('gets the error -32042, hears when its user has approved, and calls again', async () => {
    const user = newUser()
    await using connected = await connectUser({ era: 'legacy', user, capabilities: LINKS })
    const { client } = connected
    const completed = Promise.withResolvers<string>()
    client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      completed.resolve(params.elicitationId),
    )
    const error = await whoAmI(client).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: -32_042,
      data: {
        elicitations: [
          {
            mode: 'url',
            elicitationId: expect.stringMatching(/^auth_/),
            url: expect.stringContaining('/connect/auth_'),
            message: 'Demo_WhoAmI needs your approval at demo (read).',
          },
        ],
      },
    })
    const [{ url, elicitationId }] = (error as { data: { elicitations: [Required<Link>] } }).data.elicitations
    await approve(url)
    expect(await completed.promise).toBe(elicitationId)
    expect(textOf(await whoAmI(client))).toContain(user)
  })

  test('does not hear of the approvals of another user', async () => {
    const [ada, bob] = [newUser(), newUser()]
    await using ofAda = await connectUser({ era: 'legacy', user: ada, capabilities: LINKS })
    await using ofBob = await connectUser({ era: 'legacy', user: bob, capabilities: LINKS })
    const heard: string[] = []
    const completed = Promise.withResolvers<void>()
    for (const [who, { client }] of [
      ['ada', ofAda],
      ['bob', ofBob],
    ] as const)
      client.setNotificationHandler('notifications/elicitation/complete', () => {
        heard.push(who)
        if (who === 'bob') completed.resolve()
      })
    const urlOf = async (client: Client) =>
      ((await whoAmI(client).catch((thrown: unknown) => thrown)) as { data: { elicitations: [Link] } }).data
        .elicitations[0].url
    await urlOf(ofAda.client)
    await approve(await urlOf(ofBob.client))
    await completed.promise
    expect(heard).toEqual(['bob'])
  })
})

describe('a client that opens no links', () => {
  test.each([
    ['legacy', {}],
    ['legacy', FORMS],
    ['modern', {}],
    ['modern', FORMS],
  ] as const)(
    '%s, %o: gets a text with the link, the same when it calls again',
    async (era, capabilities) => {
      const user = newUser()
      await using connected = await connectUser({ era, user, capabilities })
      const first = await whoAmI(connected.client)
      const required = first._meta?.['gatepass/requires_authorization'] as { id: string; url: string }
      expect(first).toMatchObject({ isError: true })
      expect(textOf(first)).toBe(
        `Demo_WhoAmI needs your approval at demo (read). Open ${required.url}, approve, then ask again. The link is for you alone and ends in 10 minutes.`,
      )
      expect(await whoAmI(connected.client)).toEqual(first)
      await approve(required.url)
      expect(textOf(await whoAmI(connected.client))).toContain(user)
    },
  )

  test('learns once, beside the next link, why the last approval failed', async () => {
    await using connected = await connectUser({ era: 'legacy', user: newUser() })
    const call = () => whoAmI(connected.client)
    const linkOf = ({ _meta }: Awaited<ReturnType<typeof call>>) =>
      _meta?.['gatepass/requires_authorization'] as Link
    const first = await call()
    world.as.behaviour.consent = 'deny'
    await approve(linkOf(first).url)
    const second = await call()
    expect(textOf(second)).toMatch(/^The approval failed: .+ Demo_WhoAmI needs your approval at demo/)
    const third = await call()
    expect(textOf(third)).toMatch(/^Demo_WhoAmI needs your approval at demo/)
    expect(linkOf(third)).toEqual(linkOf(second))
    expect(linkOf(second)).not.toEqual(linkOf(first))
  })
})

test('a call is held while its user approves, then repeated with the state alone', async () => {
  const { broker } = world.gatepass
  const user = newUser()
  const [project] = await broker.store.projects.list()
  const held = createConsentRounds(broker, 0)
  const { body } = await world.execute('Demo.WhoAmI', { user_id: user })
  const { id, url } = body.output.requires_authorization
  const link = { id, url, scopes: ['read'], status: 'pending', userId: user } as const
  const authorization = { ...link, steps: [], expiresAt: broker.now() + 600 }
  const missing: Execution = {
    id: 'exec_1',
    durationMs: 0,
    finishedAt: '',
    wasCalled: false,
    outcome: { outcome: 'authorization_required', authorization },
  }
  const call = {
    binding: { projectId: project?.id ?? '', caller: 'a key', toolUid: 'a tool', input: {} },
    owner: 'a key',
    title: 'A tool',
    isModern: true,
    opensLinks: true,
    publishesOutput: false,
    signal: new AbortController().signal,
  }
  const asked = await held.run(call, async () => missing)
  const { requestState = '' } = 'answer' in asked ? (asked.answer as { requestState?: string }) : {}
  const unexpected = (): Promise<Execution> => Promise.reject(new Error('the tool was run'))
  const again = await held.run(
    { ...call, requestState, inputResponses: { [id]: { action: 'accept' } } },
    unexpected,
  )
  expect(again).toEqual({
    outcome: 'answered',
    answer: { resultType: 'input_required', requestState: expect.any(String) },
  })
  expect(await held.run({ ...call, requestState: 'of another feature' }, unexpected)).toEqual({
    outcome: 'not_ours',
  })
})

async function disposable(starting: ReturnType<typeof startFakeAuthorizationServer>) {
  const as = await starting
  return { as, [Symbol.asyncDispose]: () => as.close() }
}
