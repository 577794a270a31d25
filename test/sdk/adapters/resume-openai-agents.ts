import { text } from 'node:stream/consumers'
import { Agent, Runner, RunState } from '@openai/agents'
import { agentTools, consentOf } from '../../../src/sdk/adapters/openai-agents.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { TOOLS } from './agent-world.ts'

// Goes on with a run that another process stored: user as argument, state on standard input. Prints the link, and waits.
const [user = ''] = process.argv.slice(2)
const agent = new Agent({ name: 'Ada', tools: await agentTools(new Gatepass(), { user, tools: TOOLS }) })
const state = await RunState.fromString(agent, await text(process.stdin))
const [item] = state.getInterruptions()
if (item === undefined) throw new Error('the stored run has no interruption')
const missing = await consentOf(item)
if (missing) {
  process.stdout.write(`Open ${missing.url}\n`)
  await missing.wait()
}
state.approve(item)
const { finalOutput } = await new Runner({ model: 'scripted', tracingDisabled: true }).run(agent, state)
process.stdout.write(finalOutput ?? '')
