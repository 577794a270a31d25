import { type RunToolApprovalItem, type Tool, tool } from '@openai/agents'
import type { PendingAuthorization } from '../client/authorization.ts'
import type { Gatepass } from '../client/gatepass.ts'
import { findMissingConsent } from './find-missing-consent.ts'
import { listModelTools } from './list-tools.ts'
import { consentText, errorText, valueText } from './model-text.ts'
import { type AdapterOptions, type Binding, bind } from './options.ts'
import { runToEnd } from './run-tool.ts'

/** A schema that the Agents SDK does not check; Gatepass checks the arguments. */
type Parameters = {
  type: 'object'
  properties: Record<string, Record<string, unknown>>
  required: string[]
  additionalProperties: true
}

/** The property of each tool in which `consentOf` finds its binding. */
const BINDING = Symbol.for('gatepass.agents.binding')

/**
 * Returns tools for the OpenAI Agents SDK: `new Agent({ name, tools: await agentTools(gatepass, { user, tools }) })`.
 *
 * In the mode `wait` a call whose consent is missing interrupts the run: for each of `result.interruptions`,
 * `consentOf(item)` returns the consent with its link. When the user has approved, call `result.state.approve(item)`
 * and then `run(agent, result.state)`. This also works with a state that was stored:
 * `RunState.fromString(agent, text)`. If the consent is still missing after `approve`, the model gets the link as
 * text. In the mode `throw`, `run` throws an error whose `error` is `AuthorizationRequired`.
 */
export async function agentTools(gatepass: Gatepass, options: AdapterOptions): Promise<Tool[]> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  return tools.map(({ name, description, inputSchema }) => {
    const made = tool({
      name,
      description,
      parameters: inputSchema as unknown as Parameters, // the SDK passes it on to the model unchanged
      strict: false,
      needsApproval: async () =>
        binding.consent === 'wait' && (await findMissingConsent(binding, name)) !== undefined,
      execute: (input, _, details) => execute(binding, name, input, details?.signal),
      errorFunction: null,
    })
    return Object.assign(made, { [BINDING]: binding })
  })
}

async function execute(
  binding: Binding,
  name: string,
  input: unknown,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    const ending = await runToEnd(binding, { name, input }, signal)
    return ending.ended === 'value' ? valueText(ending.value) : consentText(name, ending.authorization)
  } catch (error) {
    const text = errorText(name, error)
    if (text === undefined) throw error
    return text
  }
}

/**
 * Returns the consent for which a run was interrupted: show its `url`, then `await` its `wait()`. Returns `undefined`
 * when no consent is missing any more, and for interruptions by tools that are not of Gatepass. The function asks
 * Gatepass, so it also works for a state that was stored.
 */
export async function consentOf(item: RunToolApprovalItem): Promise<PendingAuthorization | undefined> {
  const { name, agent } = item
  const interrupted = agent.tools.find((one) => one.name === name)
  if (name === undefined || interrupted === undefined || !isBound(interrupted)) return undefined
  return findMissingConsent(interrupted[BINDING], name)
}

function isBound(candidate: object): candidate is { readonly [BINDING]: Binding } {
  return BINDING in candidate
}
