import { type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { listModelTools } from './list-tools.ts'
import { consentText, errorText, toConsentRequest, valueText } from './model-text.ts'
import type { Binding } from './options.ts'
import { type ModelCall, runToEnd } from './run-tool.ts'

/** The state of a graph of messages. */
export type MessagesState = readonly BaseMessage[] | { readonly messages: readonly BaseMessage[] }

export function messagesOf(state: MessagesState): readonly BaseMessage[] {
  return 'messages' in state ? state.messages : state
}

/** Returns the names by which Gatepass runs the tools, by their names for the model. Listed once; again after a failure. */
export function createToolNames(binding: Binding): () => Promise<ReadonlyMap<string, string>> {
  let known: Promise<ReadonlyMap<string, string>> | undefined
  return async () => {
    known ??= listModelTools(binding).then(
      (tools) => new Map(tools.map(({ name, runsAs }) => [name, runsAs])),
    )
    return known.catch((error: unknown) => {
      known = undefined
      throw error
    })
  }
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** The id of the model's call. A call that no model made has none, and gets a text. */
  readonly callId: string | undefined
}

/** Runs a call. A failure is a message that is marked as an error; a missing approval one that `approvalNode` finds. */
export async function resultOf(
  binding: Binding,
  call: ModelCall,
  { signal, callId }: CallOptions,
): Promise<ToolMessage | string> {
  const { name } = call
  try {
    const ending = await runToEnd(binding, call, signal)
    if (ending.ended === 'value') return valueText(ending.value)
    const { authorization } = ending
    const content = consentText(name, authorization)
    if (authorization.kind !== 'approval' || callId === undefined) return content
    return new ToolMessage({ name, content, tool_call_id: callId, artifact: toConsentRequest(authorization) })
  } catch (error) {
    const content = errorText(name, error)
    if (content === undefined) throw error
    return callId === undefined
      ? content
      : new ToolMessage({ name, content, status: 'error', tool_call_id: callId })
  }
}
