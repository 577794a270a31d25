// An agent with the Vercel AI SDK: the model calls tools of Gatepass for a user.
//   GATEPASS_URL=... GATEPASS_API_KEY=... OPENAI_API_KEY=... node examples/agents/ai-sdk.ts ada Sandbox_Profile
import { openai } from '@ai-sdk/openai'
import { Gatepass } from '@gatepass/sdk'
import { aiTools } from '@gatepass/sdk/ai-sdk'
import { isStepCount, streamText } from 'ai'

const [user = 'ada', ...names] = process.argv.slice(2)
const { stream } = streamText({
  model: openai(process.env.OPENAI_MODEL ?? 'gpt-5.5'),
  prompt: 'Who am I?',
  tools: await aiTools(new Gatepass(), {
    user,
    tools: names,
    consent: ({ url }) => console.log(`Please approve: ${url}`),
  }),
  stopWhen: isStepCount(5),
})
for await (const part of stream) {
  if (part.type === 'text-delta') process.stdout.write(part.text)
  if (part.type === 'error') throw part.error
}
