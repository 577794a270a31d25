// An agent whose calls wait for a person where a policy of Gatepass says so (docs/guides/approvals.md).
//   GATEPASS_URL=... GATEPASS_API_KEY=... OPENAI_API_KEY=... node examples/agents/approval.ts ada Gmail_Send
import { openai } from '@ai-sdk/openai'
import { Gatepass } from '@gatepass/sdk'
import { aiTools } from '@gatepass/sdk/ai-sdk'
import { isStepCount, streamText } from 'ai'

const [user = 'ada', ...names] = process.argv.slice(2)
const { stream } = streamText({
  model: openai(process.env.OPENAI_MODEL ?? 'gpt-5.5'),
  prompt: 'Tell Grace that I am late.',
  tools: await aiTools(new Gatepass(), {
    user,
    tools: names,
    consent: ({ url }) => console.log(`Please connect: ${url}`),
    approval: ({ url, call }) => console.log(`May I call ${call.tool}? Please decide: ${url}`),
  }),
  stopWhen: isStepCount(5),
})
for await (const part of stream) {
  if (part.type === 'text-delta') process.stdout.write(part.text)
  if (part.type === 'error') throw part.error
}
