import { isAIMessage, ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { type DynamicStructuredTool, tool } from '@langchain/core/tools'
import { AuthorizationRequired } from '../client/errors.ts'
import type { Gatepass } from '../client/gatepass.ts'
import { findMissingConsents, joinConsents } from './find-missing-consent.ts'
import { createToolNames, type MessagesState, messagesOf, resultOf } from './langchain-result.ts'
import { listModelTools } from './list-tools.ts'
import { type ConsentRequest, refusedText, toConsentRequest } from './model-text.ts'
import { type AdapterOptions, bind } from './options.ts'

export { type ApprovalInterrupt, approvalNode } from './langchain-approval.ts'

/**
 * Returns tools for LangChain and LangGraph. Put `consentNode` before the `ToolNode` that runs them: the node asks for
 * the consents that are missing; `approvalNode` after it asks for approvals of calls. Without the nodes, the option `consent` decides: a function is called with the link,
 * and the tool waits; in the mode `throw` the tool throws (a `ToolNode` rethrows the error with
 * `handleToolErrors: false`); in other modes the tool returns the link as text.
 */
export async function langchainTools(
  gatepass: Gatepass,
  options: AdapterOptions,
): Promise<DynamicStructuredTool[]> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  return tools.map(({ name, runsAs, description, inputSchema }) =>
    tool(
      async (input: unknown, { signal, toolCall }) =>
        resultOf(binding, { name, runsAs, input }, { signal, callId: toolCall?.id }),
      { name, description, schema: inputSchema },
    ),
  )
}

/** The value of the interrupt that `consentNode` raises. */
export interface ConsentInterrupt extends ConsentRequest {
  readonly type: 'gatepass.authorization'
}

/** The node's change of the graph's state: results for the calls whose consent the user refused. */
interface NodeUpdate {
  readonly messages?: ToolMessage[]
}

/**
 * Returns a node of LangGraph, to be put between the model and the `ToolNode`. When the model calls tools of Gatepass
 * whose consent is missing, the node interrupts the graph with one link, before any tool has run, so that none runs
 * twice. Resume the graph with `new Command({ resume: true })` when the user has approved, with `false` when the user
 * refused. The graph needs a checkpointer.
 *
 * In the mode `throw` the node throws `AuthorizationRequired` in place of the interrupt. In the mode `return`, and
 * with a function as `consent`, the node does nothing: the tools ask.
 */
export function consentNode(
  gatepass: Gatepass,
  options: AdapterOptions,
): (state: MessagesState, config?: RunnableConfig) => Promise<NodeUpdate> {
  const binding = bind(gatepass, options)
  const { consent } = binding
  const toolNames = createToolNames(binding)
  return async (state, { signal } = {}) => {
    if (consent === 'return' || typeof consent === 'function') return {}
    const runsAs = await toolNames()
    const calls = lastCalls(state).flatMap(({ name, id }) => {
      const tool = runsAs.get(name)
      return tool === undefined ? [] : [{ name, id, runsAs: tool }]
    })
    const missing = await findMissingConsents(
      binding,
      calls.map((call) => call.runsAs),
      signal,
    )
    const authorization = await joinConsents(binding, missing, signal)
    if (authorization === undefined) return {}
    if (consent === 'throw') throw new AuthorizationRequired(authorization)
    const { interrupt } = await import('@langchain/langgraph') // only this function needs it
    const answer: unknown = interrupt({
      type: 'gatepass.authorization',
      ...toConsentRequest(authorization),
    } satisfies ConsentInterrupt)
    if (answer !== false) return {}
    const refused = calls.filter((call) => missing.has(call.runsAs))
    return {
      messages: refused.map(
        ({ name, id = '' }) =>
          new ToolMessage({ name, content: refusedText(name), status: 'error', tool_call_id: id }),
      ),
    }
  }
}

/** Returns the tool calls of the last message, if the model wrote that message. */
function lastCalls(state: MessagesState): readonly { readonly name: string; readonly id?: string }[] {
  const last = messagesOf(state).at(-1)
  return last !== undefined && isAIMessage(last) ? (last.tool_calls ?? []) : []
}
