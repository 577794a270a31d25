import { Command, INTERRUPT, isInterrupted } from '@langchain/langgraph'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConsentInterrupt, langchainTools } from '../../../src/sdk/adapters/langchain.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import { type AgentWorld, giveConsent, refuseConsent, startAgentWorld, TOOLS } from './agent-world.ts'
import { inAnotherProcess } from './in-another-process.ts'
import { buildGraph, StoredSaver } from './langchain-graph.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// LangGraph with a scripted model, a checkpointer, a real Gatepass and its connect page.

let agents: AgentWorld
let model: ScriptedModel

beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
})

afterAll(async () => {
  await model.close()
  await agents[Symbol.asyncDispose]()
})

const RESUME = new URL('resume-langchain.ts', import.meta.url)
const WHO_AM_I = { name: 'Demo_WhoAmI', input: {} }
const ECHO = { name: 'Demo_Echo', input: { text: 'hello' } }

beforeEach(() => {
  model.calls = [WHO_AM_I]
})

type Options = Partial<AdapterOptions> & { readonly user: string }

/** A graph, and the function that runs it: with a question first, then with what it is resumed with. */
async function start({ user, ...options }: Options) {
  const checkpointer = new StoredSaver()
  const graph = await buildGraph(
    agents.gatepass,
    { user, tools: TOOLS, ...options },
    checkpointer,
    `${model.url}/v1`,
  )
  const config = { configurable: { thread_id: user } }
  const ended = (state: Awaited<ReturnType<typeof graph.invoke>>) => ({
    link: isInterrupted<ConsentInterrupt>(state) ? state[INTERRUPT][0]?.value : undefined,
    text: state.messages.at(-1)?.text ?? '',
  })
  return {
    checkpointer,
    ask: async () =>
      ended(await graph.invoke({ messages: [{ role: 'user', content: 'Who am I?' }] }, config)),
    resume: async (answer: boolean) => ended(await graph.invoke(new Command({ resume: answer }), config)),
  }
}

describe('consentNode', () => {
  test('interrupts once before any tool runs, and goes on after the consent', async () => {
    const user = agents.newUser()
    model.calls = [ECHO, WHO_AM_I, { name: 'Demo_EchoWithToken', input: { text: 'too' } }]
    const { ask, resume } = await start({ user, tools: [...TOOLS, 'Demo_EchoWithToken'] })
    const { link } = await ask()
    expect(link).toMatchObject({ type: 'gatepass.authorization', scopes: ['read'], status: 'pending' })
    expect(agents.runsOf(user, 'Echo')).toBe(0)
    await giveConsent(link?.url ?? '')
    const { text } = await resume(true)
    expect(text).toContain(`"user_id":"${user}"`)
    for (const tool of ['Echo', 'WhoAmI', 'EchoWithToken']) expect(agents.runsOf(user, tool)).toBe(1)
  })

  test('one link leads through the providers of all calls', async () => {
    const user = agents.newUser()
    model.calls = [WHO_AM_I, { name: 'Demo_Other', input: {} }]
    const { ask, resume } = await start({ user, tools: ['Demo_WhoAmI', 'Demo_Other'] })
    const { link } = await ask()
    expect(link?.scopes).toEqual(['read', 'write'])
    await giveConsent(link?.url ?? '')
    const { link: second, text } = await resume(true)
    expect(second).toBeUndefined()
    expect(text).toContain(`"user_id":"${user}"`)
    expect(text).toContain('done there')
  })

  test('a graph that was stored goes on in another process', async () => {
    const user = agents.newUser()
    const { ask, checkpointer } = await start({ user })
    const { link } = await ask()
    await giveConsent(link?.url ?? '')
    const answer = await inAnotherProcess(RESUME, agents, model, {
      arguments: [user],
      input: checkpointer.toText(),
    })
    expect(answer).toContain(`Answer: {"user_id":"${user}"`)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
  })

  test('a refusal is a result of the call, and the other calls run', async () => {
    const user = agents.newUser()
    model.calls = [WHO_AM_I, ECHO]
    const { ask, resume } = await start({ user })
    const { link } = await ask()
    await refuseConsent(agents.world, link?.url ?? '')
    const { text } = await resume(false)
    expect(text).toContain('The user refused the access that Demo_WhoAmI needs.')
    expect(text).toContain('"text":"hello"')
    expect(agents.runsOf(user, 'WhoAmI')).toBe(0)
  })

  test('resumed after the link has expired, the model reads a new link', async () => {
    const { ask, resume } = await start({ user: agents.newUser() })
    const { link } = await ask()
    agents.expireLinks()
    const { text } = await resume(true)
    expect(text).toMatch(/open http\S+\/connect\/auth_/)
    expect(text).not.toContain(link?.url)
  })

  test('throw: the graph throws AuthorizationRequired', async () => {
    const { ask } = await start({ user: agents.newUser(), consent: 'throw' })
    await expect(ask()).rejects.toMatchObject({ code: 'authorization_required' })
  })

  test('return: the model reads the link', async () => {
    const { ask } = await start({ user: agents.newUser(), consent: 'return' })
    expect((await ask()).text).toMatch(/open http\S+\/connect\/auth_/)
  })
})

describe('langchainTools', () => {
  test('with a function: a tool shows the link and waits', async () => {
    const user = agents.newUser()
    const { ask } = await start({ user, consent: ({ url }) => giveConsent(url) })
    expect((await ask()).text).toContain(`"user_id":"${user}"`)
  })

  test.each([
    ['refused', (url: string) => refuseConsent(agents.world, url), 'The user refused the access'],
    ['expired', () => agents.expireLinks(), 'has expired. Ask the user whether to try again'],
  ])('with a function: a consent that was %s is text for the model', async (_, answer, expected) => {
    const { ask } = await start({ user: agents.newUser(), consent: ({ url }) => answer(url) })
    expect((await ask()).text).toContain(expected)
  })

  test('a failure is a message with the status error and advice on retrying', async () => {
    const options = { user: agents.newUser(), tools: ['Demo_Fail'] }
    const [fail] = await langchainTools(agents.gatepass, options)
    const call = { type: 'tool_call' as const, id: 'call_1', name: 'Demo_Fail', args: { message: 'No.' } }
    expect(await fail?.invoke(call)).toMatchObject({
      status: 'error',
      tool_call_id: 'call_1',
      content: 'No. The same call would fail again.',
    })
    expect(await fail?.invoke({ message: 'No.' })).toBe('No. The same call would fail again.')
  })

  test('an abort ends the run', async () => {
    const [who] = await langchainTools(agents.gatepass, { user: agents.newUser(), tools: ['Demo_WhoAmI'] })
    await expect(who?.invoke({}, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i)
  })
})
