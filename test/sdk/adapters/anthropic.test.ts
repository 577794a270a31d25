import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { anthropicTools, runnableTools } from '../../../src/sdk/adapters/anthropic.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import { type AgentWorld, giveConsent, refuseConsent, startAgentWorld, TOOLS } from './agent-world.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// Anthropic's own library with a scripted model, a real Gatepass and its connect page.

let agents: AgentWorld
let model: ScriptedModel
let anthropic: Anthropic

beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
  anthropic = new Anthropic({ baseURL: model.url, apiKey: 'scripted' })
})

afterAll(async () => {
  await model.close()
  await agents[Symbol.asyncDispose]()
})

const WHO_AM_I = { name: 'Demo_WhoAmI', input: {} }
const ECHO = { name: 'Demo_Echo', input: { text: 'hello' } }
const REQUEST = { model: 'scripted', max_tokens: 1000 }
const QUESTION = { role: 'user' as const, content: 'Who am I?' }

beforeEach(() => {
  model.calls = [WHO_AM_I]
  model.requests.length = 0
})

type Options = Partial<AdapterOptions> & { readonly user: string }

const ENDINGS = [
  ['refused', (url: string) => refuseConsent(agents.world, url), 'The user refused the access'],
  ['expired', () => agents.expireLinks(), 'has expired. Ask the user whether to try again'],
] as const

describe('Messages', () => {
  /** Asks the model, and gives the functions that run its calls and send the results. */
  async function ask(options: Options) {
    const { tools, runUses } = await anthropicTools(agents.gatepass, { tools: TOOLS, ...options })
    const { content } = await anthropic.messages.create({ ...REQUEST, tools, messages: [QUESTION] })
    return {
      run: (more?: Parameters<typeof runUses>[1]) => runUses(content, more),
      async send(results: Awaited<ReturnType<typeof runUses>>['results']) {
        const messages: Anthropic.MessageParam[] = [
          QUESTION,
          { role: 'assistant', content },
          { role: 'user', content: results },
        ]
        const answer = await anthropic.messages.create({ ...REQUEST, tools, messages })
        return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      },
    }
  }

  test('wait: the application shows the link, waits, and runs the calls; none has run before', async () => {
    const user = agents.newUser()
    model.calls = [WHO_AM_I, ECHO]
    const { run, send } = await ask({ user })
    const { results, pending } = await run()
    expect(results).toEqual([])
    expect(agents.runsOf(user, 'Echo')).toBe(0)
    for (const authorization of pending) {
      await giveConsent(authorization.url)
      await authorization.wait()
    }
    const done = await run()
    expect(await send(done.results)).toContain(`"user_id":"${user}"`)
    expect([agents.runsOf(user, 'WhoAmI'), agents.runsOf(user, 'Echo')]).toEqual([1, 1])
    expect(model.requests[0].tools[1].input_schema).toMatchObject({ type: 'object' })
  })

  test.each(ENDINGS)(
    'a consent that was %s is an error that the model reads',
    async (_, answer, expected) => {
      const { run } = await ask({ user: agents.newUser(), consent: ({ url }) => answer(url) })
      const { results } = await run()
      expect(results).toMatchObject([{ is_error: true, content: expect.stringContaining(expected) }])
    },
  )

  test('return: the model reads the link', async () => {
    const { run, send } = await ask({ user: agents.newUser(), consent: 'return' })
    expect(await send((await run()).results)).toMatch(/open http\S+\/connect\/auth_/)
  })

  test('a call that names no tool gets an error, a call of an own tool gets nothing', async () => {
    const options = { user: agents.newUser(), tools: TOOLS, ownTools: ['own_tool'] }
    const { runUses } = await anthropicTools(agents.gatepass, options)
    const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} })
    const { results } = await runUses([use('1', 'own_tool'), use('2', 'Demo_Eco')])
    expect(results).toEqual([
      {
        type: 'tool_result',
        tool_use_id: '2',
        content: expect.stringContaining('There is no tool Demo_Eco.'),
        is_error: true,
      },
    ])
  })

  test('throw: throws AuthorizationRequired', async () => {
    const { run } = await ask({ user: agents.newUser(), consent: 'throw' })
    await expect(run()).rejects.toMatchObject({ code: 'authorization_required' })
  })
})

describe('toolRunner', () => {
  async function run(options: Options): Promise<string> {
    const tools = await runnableTools(agents.gatepass, { tools: TOOLS, ...options })
    const { content } = await anthropic.beta.messages.toolRunner({ ...REQUEST, tools, messages: [QUESTION] })
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  }

  test('a function shows the link, and the tool goes on', async () => {
    const user = agents.newUser()
    expect(await run({ user, consent: ({ url }) => giveConsent(url) })).toContain(`"user_id":"${user}"`)
  })

  test.each(ENDINGS)(
    'a consent that was %s is an error that the model reads',
    async (_, answer, expected) => {
      expect(await run({ user: agents.newUser(), consent: ({ url }) => answer(url) })).toContain(expected)
    },
  )

  test.each(['wait', 'return', 'throw'] as const)('%s: the model reads the link', async (consent) => {
    expect(await run({ user: agents.newUser(), consent })).toMatch(/http\S+\/connect\/auth_/)
  })

  test('a failure is an error with advice on retrying', async () => {
    model.calls = [{ name: 'Demo_Fail', input: { message: 'No.' } }]
    expect(await run({ user: agents.newUser() })).toContain('No. The same call would fail again.')
  })
})
