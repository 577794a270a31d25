import { type BaseMessage, isAIMessage, ToolMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { type DynamicStructuredTool, tool } from '@langchain/core/tools'
import { AuthorizationRequired } from '../client/errors.ts'
import type { Gatepass } from '../client/gatepass.ts'
import { findMissingConsents, joinConsents } from './find-missing-consent.ts'
import { listModelTools } from './list-tools.ts'
import {
  type ConsentRequest,
  consentText,
  errorText,
  refusedText,
  toConsentRequest,
  valueText,
} from './model-text.ts'
import { type AdapterOptions, bind } from './options.ts'
import { runToEnd } from './run-tool.ts'

/**
 * Tools for LangChain and LangGraph. Put `consentNode` before the `ToolNode` that runs them: it asks for the consents that
 * are missing. A tool that is run without it shows the link by the function `consent` and waits, throws in the mode
 * `throw` (which a `ToolNode` lets through with `handleToolErrors: false`), and otherwise answers the link as text.
 */
export async function langchainTools(
  gatepass: Gatepass,
  options: AdapterOptions,
): Promise<DynamicStructuredTool[]> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  return tools.map(({ name, description, inputSchema }) =>
    tool(
      async (input: unknown, config) => {
        try {
          const ending = await runToEnd(binding, { name, input }, config.signal)
          return ending.ended === 'value' ? valueText(ending.value) : consentText(name, ending.authorization)
        } catch (error) {
          const text = errorText(name, error)
          if (text === undefined) throw error
          return failed(name, text, config.toolCall?.id)
        }
      },
      { name, description, schema: inputSchema },
    ),
  )
}

/** For a call of a model, a message that is marked as an error; else the text. */
function failed(name: string, text: string, callId: string | undefined): ToolMessage | string {
  if (callId === undefined) return text
  return new ToolMessage({ name, content: text, status: 'error', tool_call_id: callId })
}

/** The value of the interrupt. */
export interface ConsentInterrupt extends ConsentRequest {
  readonly type: 'gatepass.authorization'
}

/** The state of a graph of messages. */
type MessagesState = readonly BaseMessage[] | { readonly messages: readonly BaseMessage[] }

/** What the node answers: results for the calls that the user refused. */
interface NodeUpdate {
  readonly messages?: ToolMessage[]
}

/**
 * A node of LangGraph, to be put between the model and the `ToolNode`. When the model calls tools of Gatepass whose consent
 * is missing, it interrupts the graph with one link; no tool has run by then, so none runs twice. Resume the graph with
 * `new Command({ resume: true })` when the user has approved, with `false` when the user refused. It needs a checkpointer.
 *
 * In the mode `throw` it throws `AuthorizationRequired` in place of the interrupt. In the mode `return`, and with a function
 * as `consent`, it does nothing: the tools ask.
 */
export function consentNode(
  gatepass: Gatepass,
  options: AdapterOptions,
): (state: MessagesState, config?: RunnableConfig) => Promise<NodeUpdate> {
  const binding = bind(gatepass, options)
  const { consent } = binding
  let known: Promise<ReadonlySet<string>> | undefined
  return async (state, { signal } = {}) => {
    if (consent === 'return' || typeof consent === 'function') return {}
    known ??= listModelTools(binding).then((tools) => new Set(tools.map(({ name }) => name)))
    const names = await known.catch((error: unknown) => {
      known = undefined
      throw error
    })
    const calls = lastCalls(state).filter(({ name }) => names.has(name))
    const missing = await findMissingConsents(
      binding,
      calls.map(({ name }) => name),
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
    const refused = calls.filter(({ name }) => missing.has(name))
    return {
      messages: refused.map(
        ({ name, id = '' }) =>
          new ToolMessage({ name, content: refusedText(name), status: 'error', tool_call_id: id }),
      ),
    }
  }
}

/** The calls of the last message, if it is one of the model. */
function lastCalls(state: MessagesState): readonly { readonly name: string; readonly id?: string }[] {
  const messages = 'messages' in state ? state.messages : state
  const last = messages.at(-1)
  return last !== undefined && isAIMessage(last) ? (last.tool_calls ?? []) : []
}
