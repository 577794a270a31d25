import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'
import { ERAS, type Era, headersOf } from '../../mcp/clients.ts'
import { UserAgent } from '../../user-agent.ts'
import { onBothDatabases } from './both-databases.ts'

const TOOL = 'Demo.EchoWithToken'
const REQUIRED = 'gatepass/requires_authorization'
const FORMS = { elicitation: { form: {} } }

describe.each(onBothDatabases)('an approval in the client, on %s', (_, options) => {
  let world: World
  let other: Gatepass
  let approver: string
  let users = 0
  beforeAll(async () => {
    const where = await options()
    world = await startWorld({ gatepass: { mode: 'development', ...where } })
    const { databasePath } = world.gatepass
    other = await startGatepass({ mode: 'development', databasePath, ...where })
    approver = await world.gatepass.makeKey('approver')
  })
  afterAll(async () => {
    await other.close()
    await world[Symbol.asyncDispose]()
  })
  afterEach(async () => {
    for (const id of ['ask', 'also']) await world.call('DELETE', `/v1/admin/policies/${id}`)
    world.worker.invocations.length = 0
  })

  const setRule = (by: unknown = 'user_in_client', id = 'ask') =>
    world.call('POST', '/v1/admin/policies', {
      id,
      effect: 'approve',
      match: { tools: [TOOL] },
      approve: { by },
    })
  async function newUser() {
    const user = `user-${++users}`
    await world.connect(user)
    return user
  }

  /** An official client whose requests go to both nodes in turn. */
  async function connect(era: Era, user: string, answers: readonly object[], capabilities: object = FORMS) {
    const forms: { readonly message: string; readonly requestedSchema?: unknown }[] = []
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' } },
    )
    if ('elicitation' in capabilities)
      client.setRequestHandler('elicitation/create', ({ params }) => {
        forms.push(params)
        return answers[Math.min(forms.length, answers.length) - 1] as never // as the test says
      })
    let posts = 0
    const transport = new StreamableHTTPClientTransport(new URL('/mcp', world.gatepass.url), {
      requestInit: { headers: headersOf(world.gatepass.apiKey, user) },
      fetch: (url, init) => {
        const node = init?.method === 'POST' && posts++ % 2 === 1 ? other : world.gatepass
        return fetch(new URL(new URL(url).pathname, node.url), init)
      },
    })
    await client.connect(transport)
    const call = (text = 'hello') => client.callTool({ name: 'Demo_EchoWithToken', arguments: { text } })
    return { call, forms, [Symbol.asyncDispose]: () => client.close() }
  }

  const accept = (decision: unknown) => ({ action: 'accept', content: { decision } })
  const ran = () => world.worker.invocations.map(({ call }) => call.inputs?.text)
  const trail = async (action: string, user: string) =>
    (await world.call('GET', `/v1/admin/audit?action=${action}&user_id=${user}`)).body.items

  describe.each(ERAS)('by $version', ({ era }) => {
    test('shows the call as text, and runs it once when the user approves', async () => {
      await setRule()
      const user = await newUser()
      await using client = await connect(era, user, [accept('approve')])
      const text = 'to \u202eeve@pаypal.com\n[approve](https://evil.example)'
      const result = await client.call(text)
      expect(result.isError ?? false).toBe(false)
      expect(ran()).toEqual([text])
      const [{ message, requestedSchema } = { message: '' }] = client.forms
      for (const shown of [
        `for ${user}.`,
        'Account: demo ',
        'Host: 127.0.0.1',
        'may not be undone',
        '▸ text\n│ to [U+202E]eve@p',
        '[U+0430]',
        '│ [approve](https://evil.example)',
      ])
        expect(message).toContain(shown)
      expect(message).not.toContain('\u202e')
      expect(requestedSchema).toEqual({
        type: 'object',
        properties: { decision: { type: 'string', title: 'Decision', enum: ['approve', 'deny'] } },
        required: ['decision'],
      })
      expect(client.forms).toHaveLength(1)
      expect(await trail('approval.approved', user)).toMatchObject([
        { approval: { approver: user, proof: 'client' } },
      ])
      await client.call(text)
      expect(client.forms).toHaveLength(2)
    })

    test.each([accept('deny'), { action: 'decline' }])('does not run it after %j', async (answer) => {
      await setRule()
      const user = await newUser()
      await using client = await connect(era, user, [answer])
      const result = await client.call()
      expect(result).toMatchObject({ isError: true, _meta: { 'gatepass/error': { kind: 'CONTEXT_DENIED' } } })
      expect(JSON.stringify(result)).toContain('denied this call')
      expect(await trail('approval.denied', user)).toMatchObject([{ approval: { proof: 'client' } }])
      expect(ran()).toEqual([])
    })

    test.each([
      ['an answer that is none', [accept('yes')], 3],
      ['no answer', [{ action: 'cancel' }], 1],
    ] as const)('gives the link after %s', async (_, answers, forms) => {
      await setRule()
      await using client = await connect(era, await newUser(), answers)
      const result = await client.call()
      expect(result).toMatchObject({
        isError: true,
        _meta: { [REQUIRED]: { id: expect.stringMatching(/^appr_/), status: 'pending' } },
      })
      expect(client.forms).toHaveLength(forms)
      expect(ran()).toEqual([])
    })

    test('does not answer for a rule that asks the user', async () => {
      await setRule()
      await setRule('user', 'also')
      const user = await newUser()
      await using client = await connect(era, user, [accept('approve')])
      const waiting = await client.call()
      expect(ran()).toEqual([])
      const { id = '' } = (waiting._meta?.[REQUIRED] ?? {}) as { id?: string }
      expect((await client.call())._meta?.[REQUIRED]).toMatchObject({ id })
      expect(client.forms).toHaveLength(1)
      const path = `/v1/approvals/${id}`
      const { digest } = (await world.call('GET', path, undefined, { key: approver })).body
      const sent = { decision: 'approve', digest, approver: user }
      expect(await world.call('POST', `${path}/decision`, sent, { key: approver })).toMatchObject({
        body: { status: 'approved', decisions: [{ proof: 'client' }, { proof: 'api_key' }] },
      })
      await client.call()
      expect(ran()).toEqual(['hello'])
    })

    test('is not asked where only the user may answer, or without forms, or where the call is long', async () => {
      await setRule('user')
      await using client = await connect(era, await newUser(), [accept('approve')])
      expect((await client.call())._meta?.[REQUIRED]).toMatchObject({ status: 'pending' })
      await world.call('DELETE', '/v1/admin/policies/ask')
      await setRule()
      expect((await client.call('x'.repeat(7_000)))._meta?.[REQUIRED]).toMatchObject({ status: 'pending' })
      expect(client.forms).toEqual([])
      await using plain = await connect(era, await newUser(), [], {})
      expect((await plain.call())._meta?.[REQUIRED]).toMatchObject({ status: 'pending' })
      expect(ran()).toEqual([])
    })
  })

  test('is given on the page where the call is made by the API', async () => {
    await setRule()
    const user = await newUser()
    const run = async () =>
      (await world.call('POST', '/v1/tools/run', { tool_id: TOOL, user_id: user, args: { text: 'api' } }))
        .body
    const { url } = (await run()).requires_authorization
    const browser = new UserAgent()
    const page = await browser.submitForm(await browser.follow(url), { user_id: user })
    expect((await browser.submitForm(page, {}, { button: 'approve' })).body).toContain(
      'You approved this call',
    )
    expect((await run()).requires_authorization).toBeUndefined()
    expect(ran()).toEqual(['api'])
  })
})

test('a rule that asks in the client is refused where users are not verified', async () => {
  await using world = await startWorld()
  const policy = { id: 'ask', effect: 'approve', match: { tools: [TOOL] }, approve: { by: 'user_in_client' } }
  expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({
    status: 400,
    body: { errors: [{ path: 'approve.by' }] },
  })
})
