// An agent with OpenAI's Responses API: the model calls tools of Gatepass for a user.
//   GATEPASS_URL=... GATEPASS_API_KEY=... OPENAI_API_KEY=... node examples/agents/openai.ts ada Sandbox_Profile
import { Gatepass } from '@gatepass/sdk'
import { openaiTools } from '@gatepass/sdk/openai'
import OpenAI from 'openai'

const [user = 'ada', ...names] = process.argv.slice(2)
const openai = new OpenAI()
const { tools, runCalls } = await openaiTools(new Gatepass(), { user, tools: names })

const model = process.env.OPENAI_MODEL ?? 'gpt-5.5'
let response = await openai.responses.create({ model, tools, input: 'Who am I?' })

while (response.output.some(({ type }) => type === 'function_call')) {
  const { outputs, pending } = await runCalls(response.output)
  for (const authorization of pending) {
    console.log(`Please approve: ${authorization.url}`)
    await authorization.wait()
  }
  if (pending.length > 0) continue // nothing has run yet: the calls run now
  response = await openai.responses.create({
    model,
    tools,
    input: outputs,
    previous_response_id: response.id,
  })
}
console.log(response.output_text)
