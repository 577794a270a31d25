import { MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { approvalNode, consentNode, langchainTools } from '../../../src/sdk/adapters/langchain.ts'
import type { AdapterOptions } from '../../../src/sdk/adapters/options.ts'
import type { Gatepass } from '../../../src/sdk/client/gatepass.ts'

/** An agent as a graph: model, consent, tools, approval, model. The model is at `OPENAI_BASE_URL`. */
export async function buildGraph(
  gatepass: Gatepass,
  options: AdapterOptions,
  checkpointer: MemorySaver,
  baseURL = process.env.OPENAI_BASE_URL,
) {
  const tools = await langchainTools(gatepass, options)
  const chat = new ChatOpenAI({
    model: 'scripted',
    apiKey: 'scripted',
    maxRetries: 0,
    configuration: { baseURL },
  })
  const model = chat.bindTools(tools)
  return new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('consent', consentNode(gatepass, options))
    .addNode('tools', new ToolNode(tools, { handleToolErrors: options.consent !== 'throw' }))
    .addNode('approval', approvalNode(gatepass, options))
    .addEdge('__start__', 'model')
    .addConditionalEdges('model', (state) => (toolsCondition(state) === 'tools' ? 'consent' : '__end__'))
    .addEdge('consent', 'tools')
    .addEdge('tools', 'approval')
    .addEdge('approval', 'model')
    .compile({ checkpointer })
}

/** A checkpointer whose content can be written as a text, as for a database. */
export class StoredSaver extends MemorySaver {
  toText(): string {
    return JSON.stringify({ storage: this.storage, writes: this.writes }, (_, value) =>
      value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value,
    )
  }

  static fromText(text: string): StoredSaver {
    const saver = new StoredSaver()
    const read = JSON.parse(text, (_, value) =>
      typeof value?.bytes === 'string' ? new Uint8Array(Buffer.from(value.bytes, 'base64')) : value,
    )
    return Object.assign(saver, read)
  }
}
