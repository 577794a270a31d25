import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../digest.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import type { WorkerTool } from '../fake-worker.ts'
import { verifierOf } from '../flows/login-fixtures.ts'
import { approve, providerBody, startWorld, type World } from '../http/world.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { UserAgent } from '../user-agent.ts'
import { connect, ERAS } from './clients.ts'
import { exchange, initialize, legacy, modern, openSession } from './raw.ts'

// Two users of one client, who log in at the verifier: no call acts by another user's token, and what
// one user steals of the other is refused as what Gatepass never issued.

const USERS = ['ada', 'bob'] as const
const TOOLS = { CallDemo: 'demo', CallMail: 'mail' } as const
const CALLS = 500
const AT_ONCE = 20

let oidc: OidcProvider
let mail: FakeAuthorizationServer
let world: World

beforeAll(async () => {
  let redirectUri = ''
  oidc = await startOidcProvider({ redirectUris: () => [redirectUri] })
  const tools = Object.entries(TOOLS).map(([name, provider]) => recordingTool(name, provider))
  const gatepass = { environment: verifierOf(oidc) }
  // a call waits until all calls of its round have arrived
  world = await startWorld({ worker: { tools }, gatepass, timeoutSeconds: 60 })
  redirectUri = `${world.gatepass.url}/login/callback`
  mail = await startFakeAuthorizationServer()
  const added = await world.call('POST', '/v1/admin/auth_providers', providerBody('mail', mail))
  expect(added.status).toBe(201)
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await mail?.close()
  await oidc?.close()
})

let isTogether = false
const waiting: (() => void)[] = []

/** Says by which token it acts. While the calls are interleaved, it answers when all of a round have arrived, last first. */
function recordingTool(name: string, provider: string): WorkerTool {
  return {
    name,
    description: 'Says for whom the token acts.',
    parameters: [{ name: 'call', val_type: 'integer', required: true }],
    authorization: { id: provider, scopes: ['read'] },
    async run({ call }, { authorization, user_id }) {
      if (isTogether)
        await new Promise<void>((resolve) => {
          waiting.push(resolve)
          if (waiting.length === AT_ONCE) for (const release of waiting.splice(0).reverse()) release()
        })
      return { value: { call, user_id, token: digest(authorization?.token ?? '') } }
    },
  }
}

/** Logs in at the verifier and approves, in a browser of its own. */
async function approveAs(user: string, url: string) {
  oidc.settings.account = { sub: user, name: `${user}'s name`, email: `${user}@example.test` }
  return approve(url, new UserAgent())
}

/** Connects the user to the provider, and returns the digest of the token that Gatepass then holds. */
async function connectUser(user: string, provider: string): Promise<string> {
  const need = {
    auth_requirement: { id: provider, provider_type: 'oauth2', oauth2: { scopes: ['read'] } },
    user_id: user,
  }
  await approveAs(user, (await world.call('POST', '/v1/auth/authorize', need)).body.url)
  return digest((await world.call('POST', '/v1/auth/authorize', need)).body.context.token)
}

test('500 interleaved calls of two users, in both eras: each acts by the token of its own user', async () => {
  const tokens = new Map<string, string>()
  for (const user of USERS)
    for (const provider of Object.values(TOOLS))
      tokens.set(`${user} ${provider}`, await connectUser(user, provider))
  expect(new Set(tokens.values()).size).toBe(4)

  const callers = await Promise.all(
    ERAS.flatMap(({ era }) =>
      USERS.map(async (user) => ({ user, ...(await connect(world.gatepass, { era, user })) })),
    ),
  )
  isTogether = true
  try {
    for (let round = 0; round < CALLS / AT_ONCE; round++)
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, i) => {
          const call = round * AT_ONCE + i
          const { user, client } = callers[call % callers.length] as (typeof callers)[number]
          const [name, provider] = Object.entries(TOOLS)[Math.floor(call / 4) % 2] as [string, string]
          const result = await client.callTool({ name: `Demo_${name}`, arguments: { call } })
          const expected = { call, user_id: user, token: tokens.get(`${user} ${provider}`) }
          expect(JSON.parse((result.content as unknown as [{ text: string }])[0].text)).toEqual(expected)
        }),
      )
  } finally {
    isTogether = false
    for (const { client } of callers) await client.close()
  }
  expect(world.worker.invocations).toHaveLength(CALLS)
})

/** What a client that opens links is answered by the tool. */
const callBy = (capabilities: object, more: Record<string, unknown> = {}) =>
  modern('tools/call', { name: 'Demo_CallDemo', arguments: { call: 1 }, ...more }, capabilities)
const LINKS = { elicitation: { url: {} } }

/** Asks for the user's approval, and returns what only this user should be able to use. */
async function askConsent(user: string) {
  const { body, headers } = callBy(LINKS)
  const { requestState, inputRequests } = (await exchange(world.gatepass, body, { user, headers })).body
    .result
  const [[id, { params }]] = Object.entries(inputRequests) as unknown as [
    [string, { params: { url: string } }],
  ]
  return { requestState, id, url: params.url }
}

/** All that an answer says. */
async function answerTo(message: unknown, options: Parameters<typeof exchange>[2]) {
  const signal = AbortSignal.timeout(60_000) // a stream that should have been refused would not end
  const { status, body, headers } = await exchange(world.gatepass, message, {
    signal,
    ...options,
  })
  return { status, body, session: headers.get('mcp-session-id') }
}

describe('another user', () => {
  test.each([
    ['lists tools', 'POST', legacy('tools/list')],
    ['calls a tool', 'POST', legacy('tools/call', { name: 'Demo_CallDemo', arguments: { call: 1 } })],
    ['opens the stream', 'GET', undefined],
  ] as const)('%s by a stolen session id: it is one that does not exist', async (_, method, message) => {
    const stolen = await openSession(world.gatepass, { user: 'ada' })
    const invented = { ...stolen, 'mcp-session-id': 'invented' }
    const refused = await answerTo(message, { user: 'bob', method, headers: stolen })
    expect(refused).toMatchObject({ status: 404, body: { error: { code: -32_001 } } })
    expect(await answerTo(message, { user: 'bob', method, headers: invented })).toEqual(refused)
    const key = await world.gatepass.makeKey('caller')
    expect(await answerTo(message, { user: 'ada', method, headers: stolen, key })).toEqual(refused)
  })

  test('repeats a call with a stolen requestState: it is one that does not exist', async () => {
    const { requestState, id, url } = await askConsent('eve')
    const retry = async (user: string, state: string) => {
      const more = { requestState: state, inputResponses: { [id]: { action: 'accept' } } }
      const { body, headers } = callBy(LINKS, more)
      return answerTo(body, { user, headers })
    }
    const before = world.worker.invocations.length
    const refused = await retry('mallory', requestState)
    expect(refused).toMatchObject({ body: { error: { code: -32_602 } } })
    expect(await retry('mallory', 'v1.invented')).toEqual(refused)
    await approveAs('eve', url)
    expect(await retry('mallory', requestState)).toEqual(refused)
    expect(world.worker.invocations).toHaveLength(before)
    expect((await retry('eve', requestState)).body.result.content[0].text).toContain('"eve"')
  })

  test('opens a stolen link: no account is connected, and the refusal names nobody', async () => {
    const { url } = await askConsent('frances')
    const before = world.as.requests.length
    const end = await approveAs('mallory', url)
    expect(end.body).toContain('meant for someone else')
    expect(end.body).not.toMatch(/frances|mallory|demo/)
    expect(world.as.requests).toHaveLength(before)
    for (const user of ['frances', 'mallory'])
      expect((await world.call('GET', `/v1/connections?user_id=${user}`)).body.total_count).toBe(0)
    const next = await askConsent('frances')
    expect(next.url).not.toBe(url)
    await approveAs('frances', next.url)
    const { body, headers } = callBy({})
    const { result } = (await exchange(world.gatepass, body, { user: 'frances', headers })).body
    expect(result.content[0].text).toContain('"frances"')
  })

  test('hears nothing of a session: `initialize` names neither users nor what they connected', async () => {
    const answers = await Promise.all(
      ['ada', 'stranger'].map(async (user) => (await answerTo(initialize(), { user })).body),
    )
    expect(answers[1]).toEqual(answers[0])
  })
})
