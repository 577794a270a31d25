import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, type ModelMessage, streamText } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aiTools, type ConsentOutput, consentApproval } from '../../../src/sdk/adapters/ai-sdk.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { type AgentWorld, FORGED, giveConsent, refuseConsent, startAgentWorld, TOOLS } from './agent-world.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// The Vercel AI SDK with a scripted model, a real Gatepass and its connect page.

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

const WHO_AM_I = { name: 'Demo_WhoAmI', input: {} }
const ECHO = { name: 'Demo_Echo', input: { text: 'hello' } }

beforeEach(() => {
  model.calls = [WHO_AM_I]
  model.requests.length = 0
})

const languageModel = () => createOpenAI({ baseURL: `${model.url}/v1`, apiKey: 'scripted' })('scripted')

/** A run by `generateText`, and what each call ended with. */
async function run(options: Partial<AdapterOptions> & { readonly user: string }, abortSignal?: AbortSignal) {
  const result = await generateText({
    model: languageModel(),
    prompt: 'Who am I?',
    tools: await aiTools(agents.gatepass, { tools: TOOLS, ...options }),
    stopWhen: isStepCount(3),
    ...(abortSignal && { abortSignal }),
  })
  const [step] = result.steps
  return { text: result.text, parts: step?.content ?? [] }
}

function isConsent(output: unknown): output is ConsentOutput {
  return typeof output === 'object' && output !== null && 'requires_authorization' in output
}

describe('the Vercel AI SDK', () => {
  test('gets flat schemas', async () => {
    await run({ user: agents.newUser(), consent: 'return' })
    const [{ tools }] = model.requests
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(TOOLS)
    for (const { name, parameters } of tools) {
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      expect(parameters).toMatchObject({ type: 'object' })
      for (const keyword of ['$schema', 'anyOf', 'oneOf', 'allOf', 'not', 'if'])
        expect(parameters).not.toHaveProperty(keyword)
    }
  })

  test('wait: a stream has the link as a preliminary result, and the model reads only the value', async () => {
    const user = agents.newUser()
    const { stream, text } = streamText({
      model: languageModel(),
      prompt: 'Who am I?',
      tools: await aiTools(agents.gatepass, { user, tools: TOOLS }),
      stopWhen: isStepCount(3),
    })
    const outputs: unknown[] = []
    for await (const part of stream) {
      if (part.type !== 'tool-result') continue
      outputs.push(part.output)
      if (isConsent(part.output)) await giveConsent(part.output.requires_authorization.url)
    }
    expect(outputs[0]).toMatchObject({ requires_authorization: { status: 'pending', scopes: ['read'] } })
    expect(outputs.slice(1).every((output) => !isConsent(output))).toBe(true)
    expect(outputs.at(-1)).toMatchObject({ user_id: user })
    expect(await text).toContain(`Answer: {"user_id":"${user}"`)
    expect(JSON.stringify(model.requests)).not.toContain('/connect/')
  })

  test('shows one link for two calls that need the same consent, waits, and runs each once', async () => {
    const user = agents.newUser()
    const links: string[] = []
    model.calls = [WHO_AM_I, { name: 'Demo_EchoWithToken', input: { text: 'hello' } }]
    const { text } = await run({
      user,
      tools: ['Demo_WhoAmI', 'Demo_EchoWithToken'],
      consent: ({ url }) => {
        links.push(url)
        void giveConsent(url)
      },
    })
    expect(links).toHaveLength(1)
    expect(text).toContain('"text":"hello"')
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
    expect(agents.runsOf(user, 'EchoWithToken')).toBe(1)
  })

  test.each([
    ['refused', (url: string) => refuseConsent(agents.world, url), 'The user refused the access'],
    ['expired', () => agents.expireLinks(), 'has expired. Ask the user whether to try again'],
  ])('wait: a consent that was %s is an error that the model reads', async (_, answer, expected) => {
    const user = agents.newUser()
    const { text, parts } = await run({ user, consent: async ({ url }) => answer(url) })
    expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-error' }))
    expect(text).toContain(expected)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(0)
  })

  test('wait: ends after consentTimeoutMs', async () => {
    const { text } = await run({ user: agents.newUser(), consentTimeoutMs: 1 })
    expect(text).toContain('The user has not approved Demo_WhoAmI yet.')
  })

  test('return: the model reads the link, and the run goes on', async () => {
    const user = agents.newUser()
    const { text } = await run({ user, consent: 'return' })
    const [, url = ''] = /Ask the user to open (\S+) and/.exec(text) ?? []
    await giveConsent(url)
    expect((await run({ user, consent: 'return' })).text).toContain(user)
  })

  test('throw: the call fails with AuthorizationRequired', async () => {
    const { parts } = await run({ user: agents.newUser(), consent: 'throw' })
    const failed = parts.find(({ type }) => type === 'tool-error')
    expect(failed?.type === 'tool-error' && Gatepass.isError(failed.error, 'authorization_required')).toBe(
      true,
    )
  })

  test('a failure of the tool is text with advice on retrying', async () => {
    const user = agents.newUser()
    model.calls = [
      { name: 'Demo_Fail', input: { message: 'The disk is full.', can_retry: false } },
      { name: 'Demo_Fail', input: { message: 'Busy.', can_retry: true, retry_after_ms: 2500 } },
    ]
    const { text } = await run({ user })
    expect(text).toContain('The disk is full. The same call would fail again.')
    expect(text).toContain('Busy. You may call it again after 3 seconds.')
  })

  test('an answer of a tool that looks like a request for consent is text', async () => {
    const user = agents.newUser()
    model.calls = [{ name: 'Demo_Forge', input: {} }]
    const { parts } = await run({ user, tools: ['Demo_Forge'] })
    expect(parts.find(({ type }) => type === 'tool-result')).toMatchObject({ output: JSON.stringify(FORGED) })
  })

  test('an abort ends the run and the waiting', async () => {
    const controller = new AbortController()
    const running = run({ user: agents.newUser(), consent: () => controller.abort() }, controller.signal)
    await expect(running).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('approvals: the run is stored, and goes on from JSON after the consent', async () => {
    const user = agents.newUser()
    model.calls = [WHO_AM_I, ECHO]
    const options = { user, tools: TOOLS, consent: 'return' } as const
    const turn = async (messages: ModelMessage[]) =>
      generateText({
        model: languageModel(),
        messages,
        tools: await aiTools(agents.gatepass, options),
        toolApproval: consentApproval(agents.gatepass, options),
        stopWhen: isStepCount(3),
      })
    const question: ModelMessage = { role: 'user', content: 'Who am I?' }
    const asked = await turn([question])
    const requests = asked.content.filter((part) => part.type === 'tool-approval-request')
    expect(requests).toHaveLength(1)
    const stored = JSON.stringify([question, ...asked.response.messages])
    await giveConsent(requests[0]?.reason ?? '')

    const messages = JSON.parse(stored)
    const approvals = requests.map(({ approvalId }) => ({
      type: 'tool-approval-response' as const,
      approvalId,
      approved: true,
    }))
    const answered = await turn([...messages, { role: 'tool', content: approvals }])
    expect(answered.text).toContain(`"user_id":"${user}"`)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
    expect(agents.runsOf(user, 'Echo')).toBe(1)
  })
})

describe('options', () => {
  test('selects by words', async () => {
    const tools = await aiTools(agents.gatepass, { user: 'ada', tools: { q: 'secret' } })
    expect(Object.keys(tools)).toEqual(['Demo_NeedsSecret'])
  })

  test('selects by toolset, under the names that every way of running takes', async () => {
    const { toolsets } = agents.gatepass.admin
    await toolsets.create({ id: 'some', tools: ['Demo.Echo', 'Demo.WhoAmI'], names: 'bare' })
    const user = agents.newUser()
    const tools = await aiTools(agents.gatepass, { user, tools: { toolset: 'some' } })
    expect(Object.keys(tools).sort()).toEqual(['Demo_Echo', 'Demo_WhoAmI'])
    model.calls = [ECHO]
    const { parts } = await run({ user, tools: { toolset: 'some' } })
    expect(parts).toContainEqual(expect.objectContaining({ type: 'tool-result', toolName: 'Demo_Echo' }))
    await toolsets.update('some', { tools: ['Demo.Echo'] })
    const fewer = await aiTools(agents.gatepass, { user, tools: { toolset: 'some', q: 'echo' } })
    expect(Object.keys(fewer)).toEqual(['Demo_Echo'])
    await expect(aiTools(agents.gatepass, { user, tools: { toolset: 'none' } })).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})
