// An agent with Anthropic's Messages API: the model calls tools of Gatepass for a user.
//   GATEPASS_URL=... GATEPASS_API_KEY=... ANTHROPIC_API_KEY=... node examples/agents/anthropic.ts ada Sandbox_Profile
import Anthropic from '@anthropic-ai/sdk'
import { Gatepass } from '@gatepass/sdk'
import { anthropicTools } from '@gatepass/sdk/anthropic'

const [user = 'ada', ...names] = process.argv.slice(2)
const anthropic = new Anthropic()
const { tools, runUses } = await anthropicTools(new Gatepass(), { user, tools: names })

const request = { model: process.env.ANTHROPIC_MODEL ?? 'claude-sonnet-5-5', max_tokens: 1000, tools }
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Who am I?' }]
let message = await anthropic.messages.create({ ...request, messages })

while (message.stop_reason === 'tool_use') {
  const { results, pending } = await runUses(message.content)
  for (const authorization of pending) {
    console.log(`Please approve: ${authorization.url}`)
    await authorization.wait()
  }
  if (pending.length > 0) continue // nothing has run yet: the calls run now
  messages.push({ role: 'assistant', content: message.content }, { role: 'user', content: results })
  message = await anthropic.messages.create({ ...request, messages })
}
for (const block of message.content) if (block.type === 'text') console.log(block.text)
