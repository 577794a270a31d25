import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { aiTools, consentApproval } from '../../../src/sdk/adapters/ai-sdk.ts'
import { anthropicTools, runnableTools } from '../../../src/sdk/adapters/anthropic.ts'
import { consentNode, langchainTools } from '../../../src/sdk/adapters/langchain.ts'
import { openaiTools } from '../../../src/sdk/adapters/openai.ts'
import { agentTools } from '../../../src/sdk/adapters/openai-agents.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import type { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { metadata } from '../../http/world.ts'
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
