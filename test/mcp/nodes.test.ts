import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type FakeWorker, startFakeWorker } from '../fake-worker.ts'
import { type Installation, install, type Node } from '../faults/installation.ts'
import { verifierOf } from '../flows/login-fixtures.ts'
import { approve, providerBody, WORKER_SECRET } from '../http/world.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { API_KEY } from '../served.ts'
import { headersOf } from './clients.ts'
import { exchange, modern } from './raw.ts'

// Three `gatepass serve` processes on one PostgreSQL. The tests run in their order, for each kills a node.

let oidc: OidcProvider
let as: FakeAuthorizationServer
let worker: FakeWorker
let installation: Installation
let nodes: readonly [Node, Node, Node]

beforeAll(async () => {
  let redirectUri = ''
  oidc = await startOidcProvider({ redirectUris: () => [redirectUri] })
  as = await startFakeAuthorizationServer()
  worker = await startFakeWorker({ secret: WORKER_SECRET, requirement: { id: 'demo', scopes: ['read'] } })
  installation = await install('PostgreSQL', {
    ...verifierOf(oidc),
    GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/asking-tools.ts', import.meta.url)),
  })
  redirectUri = `${installation.url}/login/callback`
  const start = () => installation.start({ nodeArgs: [] })
  const first = await start()
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
  const provider = await installation.call('POST', '/v1/admin/auth_providers', providerBody('demo', as))
  const demo = await installation.call('POST', '/v1/workers', { id: 'demo', http })
  expect([provider.status, demo.status]).toEqual([201, 201])
  nodes = [first, await start(), await start()]
})
afterAll(async () => {
  await installation?.[Symbol.asyncDispose]()
  await worker?.close()
  await as?.close()
  await oidc?.close()
})

const LINKS = { elicitation: { form: {}, url: {} } }

/** Logs in as the user and approves, in a browser whose requests reach only this node. */
async function approveAt(node: Node, user: string, url: string): Promise<void> {
  oidc.settings.account = { sub: user, name: user, email: `${user}@example.test` }
  const others = installation.nodes.filter((one) => one !== node)
  const restore = others.map((one) => installation.withdraw(one))
  try {
    await approve(url)
  } finally {
    for (const again of restore) again()
  }
}

test('a client of 2025: initialize at one, list and stream at another, call at a third, consent at the first, which then dies', async () => {
  const user = 'ada'
  const [first, second, third] = nodes
  /** The node of each request, by what it sends. */
  const sent: string[] = []
  let callsAt = third
  const nodeOf = (method: string | undefined) => {
    if (method === 'initialize') return first
    return method === 'tools/call' ? callsAt : second
  }
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: LINKS, versionNegotiation: { mode: 'legacy' } },
  )
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', installation.url), {
    requestInit: { headers: headersOf(API_KEY, user) },
    fetch: (url, init) => {
      const method = init?.method === 'POST' ? JSON.parse(String(init.body)).method : undefined
      sent.push(method ?? String(init?.method))
      return fetch(new URL(new URL(url).pathname, nodeOf(method).url), init)
    },
  })
  const completed = Promise.withResolvers<string>()
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    completed.resolve(params.elicitationId),
  )
  await client.connect(transport)
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('Demo_WhoAmI')
    const call = () => client.callTool({ name: 'Demo_WhoAmI', arguments: {} })
    const error = await call().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: -32_042 })
    const [link] = (error as { data: { elicitations: [{ url: string; elicitationId: string }] } }).data
      .elicitations
    await approveAt(first, user, link.url)
    expect(await completed.promise).toBe(link.elicitationId)
    await first.kill()
    callsAt = second
    expect(JSON.stringify(await call())).toContain(user)
    expect(sent).toEqual(expect.arrayContaining(['initialize', 'GET', 'tools/list', 'tools/call']))
  } finally {
    await client.close()
  }
})

test('a client of 2026-07-28 whose node dies: the next one takes its retry, and says so where the run died too', async () => {
  const user = 'bob'
  const [, second, third] = nodes
  const callAt = async (node: Node, name: string, input: object, retry: Record<string, unknown> = {}) => {
    const { body, headers } = modern('tools/call', { name, arguments: input, ...retry }, LINKS)
    const at = { url: node.url, apiKey: API_KEY }
    return (await exchange(at, body, { user, headers })).body.result
  }
  const consent = await callAt(second, 'Demo_WhoAmI', {})
  const order = await callAt(second, 'Asking_Order', { what: 'tea' })
  for (const { resultType } of [consent, order]) expect(resultType).toBe('input_required')
  await second.kill()

  const [[id, { params }]] = Object.entries(consent.inputRequests) as [[string, { params: { url: string } }]]
  const retry = { requestState: consent.requestState, inputResponses: { [id]: { action: 'accept' } } }
  const held = callAt(third, 'Demo_WhoAmI', {}, retry)
  await approveAt(third, user, params.url)
  expect(JSON.stringify(await held)).toContain(user)

  const [question = ''] = Object.keys(order.inputRequests)
  const inputResponses = { [question]: { action: 'accept', content: { size: 'small' } } }
  const answer = await callAt(
    third,
    'Asking_Order',
    { what: 'tea' },
    { requestState: order.requestState, inputResponses },
  )
  expect(answer).toMatchObject({ isError: true })
  expect(answer.content[0].text).toContain('It is not known whether the tool has done its work')
})
