import { createOpenAI } from '@ai-sdk/openai'
import { Command, INTERRUPT, isInterrupted } from '@langchain/langgraph'
import { Agent, OpenAIProvider, Runner } from '@openai/agents'
import { isStepCount, streamText } from 'ai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aiTools, type ConsentOutput } from '../../../src/sdk/adapters/ai-sdk.ts'
import { anthropicTools, runnableTools } from '../../../src/sdk/adapters/anthropic.ts'
import type { ApprovalInterrupt, ConsentInterrupt } from '../../../src/sdk/adapters/langchain.ts'
import { openaiTools } from '../../../src/sdk/adapters/openai.ts'
import { agentTools } from '../../../src/sdk/adapters/openai-agents.ts'
import type { AdapterOptions, PendingApproval } from '../../../src/sdk/adapters/options.ts'
import { Gatepass, type PendingAuthorization } from '../../../src/sdk/client/gatepass.ts'
import {
  type AgentWorld,
  ASK_FIRST,
  askBeforeEcho,
  giveConsent,
  startAgentWorld,
  TOOLS,
} from './agent-world.ts'
import { buildGraph, StoredSaver } from './langchain-graph.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// Calls that wait for a person, in every adapter: real frameworks, a scripted model, and a real Gatepass whose policy asks.

let agents: AgentWorld
let model: ScriptedModel
let approveCall: (url: string) => Promise<void>
let denyCall: (url: string) => Promise<void>

beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
  const person = await askBeforeEcho(agents)
  approveCall = person.approveCall
  denyCall = person.denyCall
})

afterAll(async () => {
  await model.close()
  await agents[Symbol.asyncDispose]()
})

beforeEach(() => {
  model.calls = [ASK_FIRST]
})

const ECHO = { name: 'Demo_Echo', input: { text: 'hello' } }
const WHO_AM_I = { name: 'Demo_WhoAmI', input: {} }
const DENIED = 'The call was denied. Not on a Sunday. Do not make this call of Demo_Echo again.'
const LINK = /must approve exactly this call .* open http\S+\/approve\/appr_/

type Options = Partial<AdapterOptions> & { readonly user: string }
const optionsOf = (options: Options) => ({ tools: TOOLS, ...options })

/** One run of each adapter in which the model makes its calls once, and what the model reads or says in the end. */
const RUNS: Readonly<Record<string, (options: Options) => Promise<string>>> = {
  async aiTools(options) {
    const { text } = streamText({
      model: createOpenAI({ baseURL: `${model.url}/v1`, apiKey: 'scripted' })('scripted'),
      prompt: 'Say it.',
      tools: await aiTools(agents.gatepass, optionsOf(options)),
      stopWhen: isStepCount(3),
    })
    return text
  },
  async openaiTools(options) {
    const { runCalls } = await openaiTools(agents.gatepass, optionsOf(options))
    const { outputs } = await runCalls(responsesCalls())
    return outputs.map(({ output }) => output).join(' ')
  },
  async anthropicTools(options) {
    const { runUses } = await anthropicTools(agents.gatepass, optionsOf(options))
    const uses = model.calls.map(({ name, input }, i) => ({ type: 'tool_use', id: `use_${i}`, name, input }))
    const { results } = await runUses(uses)
    return results.map(({ content }) => content).join(' ')
  },
  async runnableTools(options) {
    const tools = await runnableTools(agents.gatepass, optionsOf(options))
    const [{ name, input } = ASK_FIRST] = model.calls
    const run = tools.find((tool) => tool.name === name)?.run(input)
    return (await run?.catch((error: Error) => error.message)) ?? ''
  },
  async langchainTools(options) {
    return (await startGraph(options)).ask().then(({ text }) => text)
  },
  async agentTools(options) {
    const modelProvider = new OpenAIProvider({ apiKey: 'scripted', baseURL: `${model.url}/v1` })
    const runner = new Runner({ modelProvider, model: 'scripted', tracingDisabled: true })
    const agent = new Agent({ name: 'Ada', tools: await agentTools(agents.gatepass, optionsOf(options)) })
    return String((await runner.run(agent, 'Say it.')).finalOutput)
  },
}

const responsesCalls = () =>
  model.calls.map(({ name, input }, i) => ({
    type: 'function_call',
    call_id: `call_${i}`,
    name,
    arguments: JSON.stringify(input),
  }))

async function startGraph(options: Options) {
  const url = `${model.url}/v1`
  const graph = await buildGraph(agents.gatepass, optionsOf(options), new StoredSaver(), url)
  const config = { configurable: { thread_id: options.user } }
  const ended = (state: Awaited<ReturnType<typeof graph.invoke>>) => ({
    value: isInterrupted<ApprovalInterrupt | ConsentInterrupt>(state)
      ? state[INTERRUPT][0]?.value
      : undefined,
    text: state.messages.at(-1)?.text ?? '',
    messages: state.messages,
  })
  return {
    ask: async () => ended(await graph.invoke({ messages: [{ role: 'user', content: 'Say it.' }] }, config)),
    resume: async () => ended(await graph.invoke(new Command({ resume: true }), config)),
  }
}

describe.each(Object.entries(RUNS))('%s', (_, run) => {
  test('a function gets the link and what the call is about; approved, the call runs once', async () => {
    const user = agents.newUser()
    const asked: PendingApproval[] = []
    const text = await run({
      user,
      consent: 'return',
      async approval(approval) {
        asked.push(approval)
        expect(agents.runsOf(user, 'Echo')).toBe(0)
        await approveCall(approval.url)
      },
    })
    expect(asked).toMatchObject([
      {
        kind: 'approval',
        url: expect.stringContaining('/approve/appr_'),
        call: { tool: 'Demo_Echo', input: ASK_FIRST.input },
      },
    ])
    expect(text).toContain('"text":"ask first"')
    expect(agents.runsOf(user, 'Echo')).toBe(1)
  })

  test('a denial is told to the model with the approver’s sentence, and is not asked again', async () => {
    const user = agents.newUser()
    let asked = 0
    const approval = ({ url }: PendingApproval) => {
      asked++
      return denyCall(url)
    }
    expect(await run({ user, approval })).toContain(DENIED)
    expect(await run({ user, approval })).toContain('bob denied this call. Not on a Sunday.')
    expect([asked, agents.runsOf(user, 'Echo')]).toEqual([1, 0])
  })

  test('return: the model reads the link', async () => {
    const user = agents.newUser()
    expect(await run({ user, approval: 'return' })).toMatch(LINK)
    expect(agents.runsOf(user, 'Echo')).toBe(0)
  })

  test('without the option, an approval is handled as a missing consent is', async () => {
    const user = agents.newUser()
    const consent = ({ url }: { readonly url: string }) => approveCall(url)
    expect(await run({ user, consent })).toContain('"text":"ask first"')
  })
})

describe('the Vercel AI SDK', () => {
  test('wait: a stream has the link and the call as a preliminary result', async () => {
    const user = agents.newUser()
    const { stream, text } = streamText({
      model: createOpenAI({ baseURL: `${model.url}/v1`, apiKey: 'scripted' })('scripted'),
      prompt: 'Say it.',
      tools: await aiTools(agents.gatepass, optionsOf({ user })),
      stopWhen: isStepCount(3),
    })
    const shown: unknown[] = []
    for await (const part of stream) {
      if (part.type !== 'tool-result' || part.preliminary !== true) continue
      const output = part.output as ConsentOutput | { readonly requires_authorization?: undefined }
      if (output.requires_authorization === undefined) continue
      shown.push(output.requires_authorization)
      await approveCall(output.requires_authorization.url)
    }
    expect(shown).toMatchObject([{ kind: 'approval', status: 'pending', call: { tool: 'Demo_Echo' } }])
    expect(await text).toContain('"text":"ask first"')
    expect(agents.runsOf(user, 'Echo')).toBe(1)
  })
})

describe('an application that runs the loop', () => {
  test('waits for pending approvals, makes all calls again, and none runs twice', async () => {
    const user = agents.newUser()
    model.calls = [ECHO, ASK_FIRST, WHO_AM_I]
    const { runCalls } = await openaiTools(agents.gatepass, optionsOf({ user }))
    const first = await runCalls(responsesCalls())
    expect(first).toMatchObject({ outputs: [], pending: [{ kind: 'consent' }] })
    await giveConsent(first.pending[0]?.url ?? '')
    const second = await runCalls(responsesCalls())
    expect(second).toMatchObject({
      outputs: [],
      pending: [{ kind: 'approval', call: { input: ASK_FIRST.input } }],
    })
    expect(agents.runsOf(user, 'Echo')).toBe(1)
    await approveCall(second.pending[0]?.url ?? '')
    await second.pending[0]?.wait()
    const { outputs, pending } = await runCalls(responsesCalls())
    expect(pending).toEqual([])
    expect(outputs.map(({ call_id: id, output }) => [id, JSON.parse(output).inputs ?? {}])).toEqual([
      ['call_0', ECHO.input],
      ['call_1', ASK_FIRST.input],
      ['call_2', {}],
    ])
    expect([agents.runsOf(user, 'Echo'), agents.runsOf(user, 'WhoAmI')]).toEqual([2, 1])
    // what was kept for the repetition does not answer a later call of the same id
    model.calls = [ECHO]
    await runCalls(responsesCalls())
    expect(agents.runsOf(user, 'Echo')).toBe(3)
  })

  test('throw: throws the approval, and the calls beside it do not run twice', async () => {
    const user = agents.newUser()
    model.calls = [ECHO, ASK_FIRST]
    const { runCalls } = await openaiTools(agents.gatepass, optionsOf({ user, approval: 'throw' }))
    const error = await runCalls(responsesCalls()).catch((thrown: unknown) => thrown)
    if (!Gatepass.isError(error, 'authorization_required')) throw error
    expect(error.authorization).toMatchObject({ kind: 'approval', call: { tool: 'Demo_Echo' } })
    await approveCall(error.authorization.url)
    expect((await runCalls(responsesCalls())).outputs).toHaveLength(2)
    expect(agents.runsOf(user, 'Echo')).toBe(2)
  })

  test('a denied approval fails its wait, and the next call tells the model', async () => {
    const user = agents.newUser()
    const { runCalls } = await openaiTools(agents.gatepass, optionsOf({ user }))
    const { pending } = await runCalls(responsesCalls())
    await denyCall(pending[0]?.url ?? '')
    await expect(pending[0]?.wait()).rejects.toMatchObject({
      code: 'authorization_failed',
      reason: 'approval_denied',
      message: 'The call was denied. Not on a Sunday.',
    })
    const { outputs } = await runCalls(responsesCalls())
    expect(outputs[0]?.output).toBe('bob denied this call. Not on a Sunday. The same call would fail again.')
  })
})

describe('approvalNode', () => {
  test('interrupts after the tools, and its calls alone run again', async () => {
    const user = agents.newUser()
    model.calls = [ECHO, ASK_FIRST]
    const { ask, resume } = await startGraph({ user })
    const { value } = await ask()
    if (value?.type !== 'gatepass.approval') throw new Error(JSON.stringify(value))
    expect(value.approvals).toMatchObject([
      { kind: 'approval', call: { tool: 'Demo_Echo', input: ASK_FIRST.input } },
    ])
    expect(agents.runsOf(user, 'Echo')).toBe(1)
    await approveCall(value.approvals[0]?.url ?? '')
    const { text, messages } = await resume()
    expect(text).toContain('"text":"ask first"')
    expect(messages.filter((message) => message.type === 'tool')).toHaveLength(2)
    expect(agents.runsOf(user, 'Echo')).toBe(2)
  })

  test('resumed after a denial, the model reads why', async () => {
    const user = agents.newUser()
    const { ask, resume } = await startGraph({ user })
    const { value } = await ask()
    if (value?.type !== 'gatepass.approval') throw new Error(JSON.stringify(value))
    await denyCall(value.approvals[0]?.url ?? '')
    expect((await resume()).text).toContain('bob denied this call. Not on a Sunday.')
    expect(agents.runsOf(user, 'Echo')).toBe(0)
  })
})

describe('the client alone', () => {
  test('run: `approval` shows the link, and the same call runs after it', async () => {
    const user = agents.newUser()
    const { tools } = agents.gatepass.as(user)
    const value = await tools.run('Demo_Echo', ASK_FIRST.input, { approval: ({ url }) => approveCall(url) })
    expect(value).toMatchObject({ inputs: ASK_FIRST.input })
    const once = {
      idempotencyKey: `mail-${user}`,
      approval: ({ url }: PendingAuthorization) => approveCall(url),
    }
    expect(await tools.run('Demo_Echo', ASK_FIRST.input, once)).toEqual(
      await tools.run('Demo_Echo', ASK_FIRST.input, once),
    )
    expect(agents.runsOf(user, 'Echo')).toBe(2)
    const outcome = await tools.execute('Demo_Echo', ASK_FIRST.input)
    expect(outcome).toMatchObject({ outcome: 'requires_authorization', authorization: { kind: 'approval' } })
    await expect(
      tools.run('Demo_Echo', ASK_FIRST.input, { approval: ({ url }) => denyCall(url) }),
    ).rejects.toMatchObject({ reason: 'approval_denied' })
    await expect(tools.run('Demo_Echo', ASK_FIRST.input)).rejects.toMatchObject({
      code: 'tool_error',
      kind: 'CONTEXT_DENIED',
      canRetry: false,
    })
  })
})
