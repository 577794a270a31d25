// An agent with LangGraph: the graph stops at a missing consent, and goes on from its checkpoint.
//   GATEPASS_URL=... GATEPASS_API_KEY=... OPENAI_API_KEY=... node examples/agents/langchain.ts ada Sandbox_Profile
import { Gatepass } from '@gatepass/sdk'
import { type ConsentInterrupt, consentNode, langchainTools } from '@gatepass/sdk/langchain'
import {
  Command,
  INTERRUPT,
  isInterrupted,
  MemorySaver,
  MessagesAnnotation,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'

const [user = 'ada', ...names] = process.argv.slice(2)
const gatepass = new Gatepass()
const options = { user, tools: names }
const tools = await langchainTools(gatepass, options)
const model = new ChatOpenAI({ model: process.env.OPENAI_MODEL ?? 'gpt-5.5' }).bindTools(tools)

const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('consent', consentNode(gatepass, options))
  .addNode('tools', new ToolNode(tools))
  .addEdge('__start__', 'model')
  .addConditionalEdges('model', (state) => (toolsCondition(state) === 'tools' ? 'consent' : '__end__'))
  .addEdge('consent', 'tools')
  .addEdge('tools', 'model')
  .compile({ checkpointer: new MemorySaver() }) // in production one that stores

const thread = { configurable: { thread_id: user } }
let state = await graph.invoke({ messages: [{ role: 'user', content: 'Who am I?' }] }, thread)
while (isInterrupted<ConsentInterrupt>(state)) {
  const { id = '', url } = state[INTERRUPT][0]?.value ?? {}
  console.log(`Please approve: ${url}`)
  const authorization = await gatepass.authorization(id)
  const isApproved = await authorization.wait().then(
    () => true,
    () => false,
  )
  state = await graph.invoke(new Command({ resume: isApproved }), thread)
}
console.log(state.messages.at(-1)?.text)
