import { AIMessage } from '@langchain/core/messages'
import { type FunctionTool, RunContext } from '@openai/agents'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aiTools, consentApproval } from '../../../src/sdk/adapters/ai-sdk.ts'
import { anthropicTools, runnableTools } from '../../../src/sdk/adapters/anthropic.ts'
import { consentNode, langchainTools } from '../../../src/sdk/adapters/langchain.ts'
import { openaiTools } from '../../../src/sdk/adapters/openai.ts'
import { agentTools } from '../../../src/sdk/adapters/openai-agents.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import type { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { metadata, oauthEntry } from '../../http/world.ts'
import { type AgentWorld, startAgentWorld } from './agent-world.ts'

// What every adapter does with its options.

let agents: AgentWorld

beforeAll(async () => {
  agents = await startAgentWorld()
})
afterAll(() => agents[Symbol.asyncDispose]())

type Adapter = (gatepass: Gatepass, options: AdapterOptions) => unknown

const ADAPTERS: readonly (readonly [string, Adapter])[] = [
  ['aiTools', aiTools],
  ['consentApproval', consentApproval],
  ['openaiTools', openaiTools],
  ['anthropicTools', anthropicTools],
  ['runnableTools', runnableTools],
  ['langchainTools', langchainTools],
  ['consentNode', consentNode],
  ['agentTools', agentTools],
]

describe.each(ADAPTERS)('%s', (_, adapter) => {
  test.each([
    ['no options', undefined, 'user: '],
    ['a blank user', { user: '', tools: ['Demo_Echo'] }, 'user: '],
    ['no tools', { user: 'ada' }, 'tools: '],
    ['null for tools', { user: 'ada', tools: null }, 'tools: '],
    ['one name in place of a list', { user: 'ada', tools: 'Demo_Echo' }, 'tools: '],
    ['a tool that is no name', { user: 'ada', tools: [{ name: 'Demo_Echo' }] }, 'tools: '],
    ['an empty selection', { user: 'ada', tools: {} }, 'tools: '],
  ])('%s: the error says what to give', async (__, options, message) => {
    const made = async () => adapter(agents.gatepass, options as unknown as AdapterOptions)
    await expect(made()).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining(message),
    })
  })
})

describe('the name that the model gets', () => {
  const namesFor = async (...tools: string[]) =>
    Object.keys(await aiTools(agents.gatepass, { user: 'ada', tools }))

  test('is the name that was asked for, and calls by it run the tool', async () => {
    await agents.world.call('POST', '/v1/tools/import?worker_id=demo', metadata('Echo'))
    expect(await namesFor('Echo', 'Demo_WhoAmI')).toEqual(['Echo', 'Demo_WhoAmI'])
    expect(await namesFor('local_Echo')).toEqual(['local_Echo'])
    const { tools, runCalls } = await openaiTools(agents.gatepass, { user: 'ada', tools: ['Echo'] })
    expect(tools.map(({ name }) => name)).toEqual(['Echo'])
    const call = { type: 'function_call', call_id: '1', name: 'Echo', arguments: '{"input": {"text": "x"}}' }
    const { outputs } = await runCalls([call])
    expect(outputs[0]?.output).toContain('"text":"x"')
  })

  test('is one that models take where the asked one is not', async () => {
    expect(await namesFor('Demo.WhoAmI', 'Demo:Echo:1.0.0')).toEqual(['Demo_WhoAmI', 'Demo_Echo'])
  })
})

// Version 1.0.0 needs no consent; version 2.0.0, which runs by the name alone, needs one.
describe('a tool of one version', () => {
  const pinned = { user: 'ada', tools: ['Versioned@1.0.0'], consent: 'wait' } as const
  const NAME = 'local_Versioned'

  beforeAll(async () => {
    const { call, as } = agents.world
    const add = async (version: string, tool: string, more = {}) => {
      await call('POST', '/v1/tools/import', metadata('Versioned', { version, ...more }))
      await call('POST', `/v1/tools/local:Versioned:${version}/binding`, { worker_id: 'demo', tool })
    }
    await add('1.0.0', 'Echo')
    await add('2.0.0', 'Null', { oauth: [oauthEntry('versioned', as)] })
    await agents.gatepass.admin.toolsets.create({ id: 'older', tools: ['Versioned@1.0.0'] })
  })

  const RUNS: readonly (readonly [string, (options: AdapterOptions) => Promise<unknown>])[] = [
    [
      'aiTools',
      async (options) => {
        const { [NAME]: tool } = await aiTools(agents.gatepass, options)
        const call = { toolCallId: '1', messages: [], context: {} }
        const outputs = tool?.execute?.({}, call) as AsyncIterable<unknown> | undefined
        for await (const output of outputs ?? []) expect(output).toBeDefined()
      },
    ],
    [
      'openaiTools',
      async (options) => {
        const { runCalls } = await openaiTools(agents.gatepass, options)
        return runCalls([{ type: 'function_call', call_id: '1', name: NAME, arguments: '' }])
      },
    ],
    [
      'anthropicTools',
      async (options) => {
        const { runUses } = await anthropicTools(agents.gatepass, options)
        return runUses([{ type: 'tool_use', id: '1', name: NAME, input: {} }])
      },
    ],
    [
      'runnableTools',
      async (options) => {
        const [tool] = await runnableTools(agents.gatepass, options)
        return tool?.run({})
      },
    ],
    [
      'langchainTools',
      async (options) => {
        const [tool] = await langchainTools(agents.gatepass, options)
        return tool?.invoke({})
      },
    ],
    [
      'agentTools',
      async (options) => {
        const [tool] = (await agentTools(agents.gatepass, options)) as [FunctionTool]
        expect(await tool.needsApproval(new RunContext(), '{}')).toBe(false)
        return tool.invoke(new RunContext(), '{}')
      },
    ],
  ]

  test.each(RUNS)('%s runs that version, of a name and of a toolset', async (_, run) => {
    for (const tools of [pinned.tools, { toolset: 'older' }]) {
      const before = agents.world.worker.invocations.length
      await run({ ...pinned, tools })
      const calls = agents.world.worker.invocations.slice(before).map(({ call }) => call.tool.name)
      expect(calls).toEqual(['Echo'])
    }
  })

  test('is asked for its own consent', async () => {
    const newest = { ...pinned, tools: ['Versioned'] }
    const asked = async (options: AdapterOptions, name: string) => {
      const { [name]: tool } = await aiTools(agents.gatepass, options)
      const toolCall = { toolMetadata: tool?.metadata ?? {} }
      const message = new AIMessage({ content: '', tool_calls: [{ id: '1', name, args: {} }] })
      const node = consentNode(agents.gatepass, { ...options, consent: 'throw' })
      const thrown = await node([message]).then(
        () => false,
        () => true,
      )
      return [(await consentApproval(agents.gatepass, options)({ toolCall })) !== undefined, thrown]
    }
    expect([await asked(pinned, NAME), await asked(newest, 'Versioned')]).toEqual([
      [false, false],
      [true, true],
    ])
  })

  test('cannot be given with another of its versions, because both have one name for the model', async () => {
    await expect(
      aiTools(agents.gatepass, { ...pinned, tools: ['Versioned@1.0.0', 'Versioned@2.0.0'] }),
    ).rejects.toMatchObject({
      code: 'invalid_options',
      message: expect.stringContaining('Versioned@1.0.0 and Versioned@2.0.0 are both local_Versioned'),
    })
  })
})
