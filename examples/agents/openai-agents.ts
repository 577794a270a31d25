// An agent with the OpenAI Agents SDK, whose run is stored while a consent is missing: start it again to go on.
//   GATEPASS_URL=... GATEPASS_API_KEY=... OPENAI_API_KEY=... node examples/agents/openai-agents.ts run.json ada Sandbox_Profile
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Gatepass } from '@gatepass/sdk'
import { agentTools, consentOf } from '@gatepass/sdk/openai-agents'
import { Agent, RunState, run } from '@openai/agents'

const [file = 'run.json', user = 'ada', ...names] = process.argv.slice(2)
const agent = new Agent({
  name: 'Assistant',
  model: process.env.OPENAI_MODEL ?? 'gpt-5.5',
  tools: await agentTools(new Gatepass(), { user, tools: names }),
})

const stored = existsSync(file) ? await RunState.fromString(agent, readFileSync(file, 'utf8')) : undefined
for (const item of stored?.getInterruptions() ?? []) {
  await (await consentOf(item))?.wait()
  stored?.approve(item)
}
const result = stored ? await run(agent, stored) : await run(agent, 'Who am I?')

for (const item of result.interruptions) console.log(`Please approve: ${(await consentOf(item))?.url}`)
if (result.interruptions.length > 0) writeFileSync(file, result.state.toString())
else {
  rmSync(file, { force: true })
  console.log(result.finalOutput)
}
