import { type BaseMessage, isToolMessage, ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { Gatepass } from '../client/gatepass.ts'
import { isRecord } from '../is-record.ts'
import { createToolNames, type MessagesState, messagesOf, resultOf } from './langchain-result.ts'
import type { ConsentRequest } from './model-text.ts'
import { type AdapterOptions, bind } from './options.ts'

/** The value of the interrupt that `approvalNode` raises. */
export interface ApprovalInterrupt {
  readonly type: 'gatepass.approval'
  /** Each has its link, and what it is about in `call`. */
  readonly approvals: readonly ConsentRequest[]
}

/**
 * Returns a node of LangGraph, to be put after the `ToolNode`. When calls of tools wait for a person's approval, the node
 * interrupts the graph with their links. Resume it with `new Command({ resume: true })` when they are decided: the node makes
 * those calls again, and their results take the place of the links. A denial is such a result, with the approver's sentence.
 * The other tools are not run again. The graph needs a checkpointer. In other modes than `wait` the node does nothing.
 */
export function approvalNode(
  gatepass: Gatepass,
  options: AdapterOptions,
): (state: MessagesState, config?: RunnableConfig) => Promise<{ readonly messages?: ToolMessage[] }> {
  const binding = bind(gatepass, options)
  const toolNames = createToolNames(binding)
  const { consent, approval = consent } = binding
  return async (state, { signal } = {}) => {
    const waiting = approval === 'wait' ? waitingIn(messagesOf(state)) : []
    if (waiting.length === 0) return {}
    const { interrupt } = await import('@langchain/langgraph') // only the nodes need it
    interrupt({
      type: 'gatepass.approval',
      approvals: waiting.map(({ request }) => request),
    } satisfies ApprovalInterrupt)
    const names = await toolNames()
    const results = waiting.map(async ({ message, request: { call } }) => {
      const { name = '', tool_call_id: callId, id } = message
      const runsAs = names.get(name)
      if (runsAs === undefined || call === undefined) return []
      const result = await resultOf(binding, { name, runsAs, input: call.input }, { signal, callId })
      const { content, status, artifact } =
        typeof result === 'string' ? { content: result, status: undefined, artifact: undefined } : result
      // a message with the id of another one takes its place
      return new ToolMessage({
        ...(id && { id }),
        name,
        content,
        tool_call_id: callId,
        ...(status && { status }),
        artifact,
      })
    })
    return { messages: (await Promise.all(results)).flat() }
  }
}

interface WaitingCall {
  readonly message: ToolMessage
  readonly request: ConsentRequest
}

/** The results at the end of the messages that are links of approvals. */
function waitingIn(messages: readonly BaseMessage[]): WaitingCall[] {
  const from = messages.findLastIndex((message) => !isToolMessage(message))
  return messages.slice(from + 1).flatMap((message) => {
    if (!isToolMessage(message) || !isRequest(message.artifact)) return []
    return [{ message, request: message.artifact }]
  })
}

/** The adapter makes the artifact, so no tool of Gatepass can forge it. */
function isRequest(artifact: unknown): artifact is ConsentRequest {
  return isRecord(artifact) && artifact.kind === 'approval' && artifact.status === 'pending'
}
