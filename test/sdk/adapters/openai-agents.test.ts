import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { agentTools, consentOf } from '../../../src/sdk/adapters/openai-agents.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import { type AgentWorld, giveConsent, refuseConsent, startAgentWorld, TOOLS } from './agent-world.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// The OpenAI Agents SDK with a scripted model, a real Gatepass and its connect page.

let agents: AgentWorld
let model: ScriptedModel
let runner: Runner

beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
  const modelProvider = new OpenAIProvider({ apiKey: 'scripted', baseURL: `${model.url}/v1` })
  runner = new Runner({ modelProvider, model: 'scripted', tracingDisabled: true })
})

afterAll(async () => {
  await model.close()
  await agents[Symbol.asyncDispose]()
})

const WHO_AM_I = { name: 'Demo_WhoAmI', input: {} }
const ECHO = { name: 'Demo_Echo', input: { text: 'hello' } }

beforeEach(() => {
  model.calls = [WHO_AM_I]
})

async function newAgent(options: Partial<AdapterOptions> & { readonly user: string }) {
  return new Agent({ name: 'Ada', tools: await agentTools(agents.gatepass, { tools: TOOLS, ...options }) })
}

describe('the OpenAI Agents SDK', () => {
  test('wait: a missing consent interrupts the run, which goes on after the approval', async () => {
    const user = agents.newUser()
    model.calls = [WHO_AM_I, ECHO]
    const agent = await newAgent({ user })
    const interrupted = await runner.run(agent, 'Who am I?')
    expect(interrupted.interruptions).toHaveLength(1)
    for (const item of interrupted.interruptions) {
      const authorization = await consentOf(item)
      await giveConsent(authorization?.url ?? '')
      await authorization?.wait()
      expect(await consentOf(item)).toBeUndefined()
      interrupted.state.approve(item)
    }
    const { finalOutput } = await runner.run(agent, interrupted.state)
    expect(finalOutput).toContain(`"user_id":"${user}"`)
    expect([agents.runsOf(user, 'WhoAmI'), agents.runsOf(user, 'Echo')]).toEqual([1, 1])
  })

  test('a refusal is told to the model by reject', async () => {
    const user = agents.newUser()
    const agent = await newAgent({ user })
    const { state, interruptions } = await runner.run(agent, 'Who am I?')
    const [item] = interruptions
    const authorization = item && (await consentOf(item))
    await refuseConsent(agents.world, authorization?.url ?? '')
    await expect(authorization?.wait()).rejects.toMatchObject({ reason: 'access_denied' })
    if (item) state.reject(item, { message: 'The user refused.' })
    expect((await runner.run(agent, state)).finalOutput).toBe('Answer: The user refused.')
    expect(agents.runsOf(user, 'WhoAmI')).toBe(0)
  })

  test('approved although the link has expired, the model reads a new link', async () => {
    const agent = await newAgent({ user: agents.newUser() })
    const { state, interruptions } = await runner.run(agent, 'Who am I?')
    agents.expireLinks()
    for (const item of interruptions) state.approve(item)
    expect((await runner.run(agent, state)).finalOutput).toMatch(/open http\S+\/connect\/auth_/)
  })

  test('with a function: a call shows the link and waits', async () => {
    const user = agents.newUser()
    const agent = await newAgent({ user, consent: ({ url }) => giveConsent(url) })
    expect((await runner.run(agent, 'Who am I?')).finalOutput).toContain(`"user_id":"${user}"`)
  })

  test('with a function: a refusal is text for the model', async () => {
    const consent = ({ url }: { readonly url: string }) => refuseConsent(agents.world, url)
    const agent = await newAgent({ user: agents.newUser(), consent })
    expect((await runner.run(agent, 'Who am I?')).finalOutput).toContain('The user refused the access')
  })

  test('return: the model reads the link', async () => {
    const agent = await newAgent({ user: agents.newUser(), consent: 'return' })
    expect((await runner.run(agent, 'Who am I?')).finalOutput).toMatch(/open http\S+\/connect\/auth_/)
  })

  test('throw: the run throws', async () => {
    const agent = await newAgent({ user: agents.newUser(), consent: 'throw' })
    await expect(runner.run(agent, 'Who am I?')).rejects.toMatchObject({
      error: { code: 'authorization_required' },
    })
  })

  test('a failure of the tool is text with advice on retrying', async () => {
    model.calls = [{ name: 'Demo_Fail', input: { message: 'No.' } }]
    const agent = await newAgent({ user: agents.newUser() })
    expect((await runner.run(agent, 'Try.')).finalOutput).toBe('Answer: No. The same call would fail again.')
  })

  test('interruptions of other tools have no consent', async () => {
    model.calls = [{ name: 'own', input: {} }]
    const own = tool({
      name: 'own',
      description: 'A tool of the application.',
      parameters: z.object({}),
      needsApproval: true,
      execute: () => 'done',
    })
    const { interruptions } = await runner.run(new Agent({ name: 'Ada', tools: [own] }), 'Try.')
    expect(interruptions).toHaveLength(1)
    for (const item of interruptions) expect(await consentOf(item)).toBeUndefined()
  })
})
