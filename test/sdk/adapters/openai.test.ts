import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openaiTools } from '../../../src/sdk/adapters/openai.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { type AgentWorld, giveConsent, refuseConsent, startAgentWorld, TOOLS } from './agent-world.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// OpenAI's own library with a scripted model, a real Gatepass and its connect page.

let agents: AgentWorld
let model: ScriptedModel
let openai: OpenAI

beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
  openai = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'scripted' })
})

afterAll(async () => {
  await model.close()
  await agents[Symbol.asyncDispose]()
})

const WHO_AM_I = { name: 'Demo_WhoAmI', input: {} }
const ECHO = { name: 'Demo_Echo', input: { text: 'hello', count: null } }

beforeEach(() => {
  model.calls = [WHO_AM_I]
  model.requests.length = 0
})

type Options = Partial<AdapterOptions> & { readonly user: string }

/** Asks the model, and gives the functions that run its calls and send the results. */
async function ask(options: Options) {
  const { tools, runCalls } = await openaiTools(agents.gatepass, { tools: TOOLS, ...options })
  const { id, output } = await openai.responses.create({ model: 'scripted', tools, input: 'Who am I?' })
  return {
    run: (more?: Parameters<typeof runCalls>[1]) => runCalls(output, more),
    async send(input: Awaited<ReturnType<typeof runCalls>>['outputs']) {
      const answer = await openai.responses.create({
        model: 'scripted',
        tools,
        input,
        previous_response_id: id,
      })
      return answer.output_text
    },
  }
}

async function text(options: Options): Promise<string> {
  const { run, send } = await ask(options)
  return send((await run()).outputs)
}

describe('Responses', () => {
  test('wait: the application shows the link, waits, and runs the calls; none has run before', async () => {
    const user = agents.newUser()
    model.calls = [WHO_AM_I, ECHO]
    const { run, send } = await ask({ user })
    const { outputs, pending } = await run()
    expect(outputs).toEqual([])
    expect(pending).toHaveLength(1)
    expect(agents.runsOf(user, 'Echo')).toBe(0)

    await Promise.all(pending.map(({ url }) => giveConsent(url)))
    await Promise.all(pending.map((authorization) => authorization.wait()))
    const done = await run()
    expect(done.pending).toEqual([])
    expect(await send(done.outputs)).toContain(`"user_id":"${user}"`)
    expect([agents.runsOf(user, 'WhoAmI'), agents.runsOf(user, 'Echo')]).toEqual([1, 1])
  })

  test('a function shows the link, and the call goes on', async () => {
    const user = agents.newUser()
    expect(await text({ user, consent: ({ url }) => giveConsent(url) })).toContain(`"user_id":"${user}"`)
  })

  test('a function that fails is asked again by the next call', async () => {
    const user = agents.newUser()
    let isFirst = true
    const { run, send } = await ask({
      user,
      async consent({ url }) {
        if (!isFirst) return giveConsent(url)
        isFirst = false
        throw new Error('the chat is offline')
      },
    })
    await expect(run()).rejects.toThrow('the chat is offline')
    expect(await send((await run()).outputs)).toContain(`"user_id":"${user}"`)
  })

  test.each([
    ['refused', (url: string) => refuseConsent(agents.world, url), 'The user refused the access'],
    ['expired', () => agents.expireLinks(), 'has expired. Ask the user whether to try again'],
  ])('a consent that was %s is text for the model', async (_, answer, expected) => {
    const user = agents.newUser()
    expect(await text({ user, consent: ({ url }) => answer(url) })).toContain(expected)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(0)
  })

  test('return: the model reads the link', async () => {
    expect(await text({ user: agents.newUser(), consent: 'return' })).toMatch(/open http\S+\/connect\/auth_/)
  })

  test('throw: throws AuthorizationRequired, and runs none of the calls', async () => {
    const user = agents.newUser()
    model.calls = [ECHO, WHO_AM_I]
    const { run } = await ask({ user, consent: 'throw' })
    await expect(run()).rejects.toMatchObject({ code: 'authorization_required' })
    expect(agents.runsOf(user, 'Echo')).toBe(0)
  })

  test('strict: optional parameters accept null, which does not reach the tool', async () => {
    const user = agents.newUser()
    model.calls = [ECHO]
    const answer = await text({ user, consent: 'return' })
    const echo = model.requests[0].tools.find(({ name }: { name: string }) => name === 'Demo_Echo')
    expect(echo).toMatchObject({
      strict: true,
      parameters: {
        additionalProperties: false,
        required: ['text', 'count', 'leak'],
        properties: { text: { type: ['string', 'null'] } },
      },
    })
    expect(answer).toContain('"inputs":{"text":"hello"}')
  })

  test('failures, bad arguments and other tools of the application', async () => {
    const { runCalls } = await openaiTools(agents.gatepass, {
      user: agents.newUser(),
      tools: TOOLS,
      ownTools: ['own_tool'],
    })
    const call = (id: string, name: string, text: string) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: text,
    })
    const { outputs } = await runCalls([
      call('1', 'Demo_Fail', '{"message": "No."}'),
      call('3', 'Demo_Echo', '{"count": '),
      call('2', 'Demo_Echo', '{"count": "many"}'),
      call('4', 'own_tool', '{}'),
      call('5', 'Demo_Eco', '{}'),
      { type: 'message' },
    ])
    expect(outputs.map(({ call_id, output }) => [call_id, output])).toEqual([
      ['1', 'No. The same call would fail again.'],
      ['3', expect.stringContaining('The arguments are not JSON.')],
      ['2', expect.stringContaining('Correct the arguments')],
      ['5', expect.stringContaining('There is no tool Demo_Eco.')],
    ])
  })

  const refused = (status: number, name: string) => Response.json({ name, message: 'Refused.' }, { status })
  const UNKNOWN = 'It is not known whether Demo_Echo ran: check before you call it again.'

  test.each([
    ['a broken connection', () => Promise.reject(new TypeError('fetch failed')), UNKNOWN],
    ['a failure of Gatepass', async () => refused(500, 'internal_error'), UNKNOWN],
    ['a lost outcome', async () => refused(409, 'outcome_unknown'), UNKNOWN],
    ['a gateway that gave up', async () => new Response('<h1>Too late</h1>', { status: 504 }), UNKNOWN],
    ['a database that is down', async () => refused(503, 'store_unavailable'), 'You may call it again.'],
    ['too many requests', async () => refused(429, 'rate_limited'), 'You may call it again.'],
    ['what is not supported', async () => refused(501, 'not_implemented'), 'The same call would fail again.'],
  ])('after %s, the model is told whether it may call again', async (_, answer, advice) => {
    const { url: baseUrl, apiKey } = agents.world.gatepass
    const gatepass = new Gatepass({
      baseUrl,
      apiKey,
      maxRetries: 0,
      fetch: (url, init) => (String(url).endsWith('/v1/tools/execute') ? answer() : fetch(url, init)),
    })
    const { runCalls } = await openaiTools(gatepass, { user: agents.newUser(), tools: TOOLS })
    const call = { type: 'function_call', call_id: '1', name: 'Demo_Echo', arguments: '{}' }
    const { outputs } = await runCalls([call])
    expect(outputs[0]?.output.endsWith(` ${advice}`), outputs[0]?.output).toBe(true)
  })

  test('an abort ends the runs', async () => {
    const { run } = await ask({ user: agents.newUser() })
    await expect(run({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('Chat Completions', () => {
  test('a call that names no tool is answered, a call of an own tool is not', async () => {
    const { runCalls } = await openaiTools(agents.gatepass, {
      user: agents.newUser(),
      tools: TOOLS,
      ownTools: ['own_tool'],
      format: 'chat',
    })
    const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
    const { outputs } = await runCalls([call('1', 'own_tool'), call('2', 'Demo_Eco')])
    expect(outputs).toEqual([
      { role: 'tool', tool_call_id: '2', content: expect.stringContaining('There is no tool Demo_Eco.') },
    ])
  })

  test('shows the link, waits and goes on', async () => {
    const user = agents.newUser()
    const { tools, runCalls } = await openaiTools(agents.gatepass, { user, tools: TOOLS, format: 'chat' })
    const question = { role: 'user' as const, content: 'Who am I?' }
    const first = await openai.chat.completions.create({ model: 'scripted', tools, messages: [question] })
    const message = first.choices[0]?.message
    if (message === undefined) throw new Error('no message')
    const { pending } = await runCalls(message.tool_calls)
    await giveConsent(pending[0]?.url ?? '')
    await pending[0]?.wait()
    const { outputs } = await runCalls(message.tool_calls)
    const messages = [question, message, ...outputs]
    const second = await openai.chat.completions.create({ model: 'scripted', tools, messages })
    expect(second.choices[0]?.message.content).toContain(`"user_id":"${user}"`)
  })
})

test.each([
  [
    'responses',
    { id: '1', type: 'function', function: { name: 'Demo_Echo', arguments: '{}' } },
    'Chat Completions',
  ],
  ['chat', { type: 'function_call', call_id: '1', name: 'Demo_Echo', arguments: '{}' }, 'the Responses API'],
] as const)('with format %s, calls of the other API are refused', async (format, call, other) => {
  const { runCalls } = await openaiTools(agents.gatepass, {
    user: agents.newUser(),
    tools: TOOLS,
    format: format as 'responses',
  })
  const calls: readonly unknown[] = [call]
  await expect(runCalls(calls as Parameters<typeof runCalls>[0])).rejects.toMatchObject({
    code: 'invalid_options',
    message: expect.stringContaining(other),
  })
})
