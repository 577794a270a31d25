import { type RunToolApprovalItem, type Tool, tool } from '@openai/agents'
import type { PendingAuthorization } from '../client/authorization.ts'
import type { Gatepass } from '../client/gatepass.ts'
import { findMissingConsent } from './find-missing-consent.ts'
import { listModelTools } from './list-tools.ts'
import { consentText, errorText, valueText } from './model-text.ts'
import { type AdapterOptions, type Binding, bind } from './options.ts'
import { type ModelCall, runToEnd } from './run-tool.ts'

/** A schema that the Agents SDK does not check; Gatepass checks the arguments. */
type Parameters = {
  type: 'object'
  properties: Record<string, Record<string, unknown>>
  required: string[]
  additionalProperties: true
}

/** The property of each tool in which `consentOf` finds what it asks Gatepass for. */
const BINDING = Symbol.for('gatepass.agents.binding')

/**
 * Returns tools for the OpenAI Agents SDK: `new Agent({ name, tools: await agentTools(gatepass, { user, tools }) })`.
 *
 * In the mode `wait` a call whose consent is missing interrupts the run: for each of `result.interruptions`,
 * `consentOf(item)` returns the consent with its link. When the user has approved, call `result.state.approve(item)`
 * and then `run(agent, result.state)`. This also works with a state that was stored:
 * `RunState.fromString(agent, text)`. If the consent is still missing after `approve`, the model gets the link as
 * text. An approval is asked for when the call runs: a function as `approval` shows the link and the call waits, otherwise
 * the model gets the link as text. In the mode `throw`, `run` throws an error whose `error` is `AuthorizationRequired`.
 */
export async function agentTools(gatepass: Gatepass, options: AdapterOptions): Promise<Tool[]> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  return tools.map(({ name, runsAs, description, inputSchema }) => {
    const made = tool({
      name,
      description,
      parameters: inputSchema as unknown as Parameters, // the SDK passes it on to the model unchanged
      strict: false,
      needsApproval: async () =>
        binding.consent === 'wait' && (await findMissingConsent(binding, runsAs)) !== undefined,
      execute: (input, _, details) => execute(binding, { name, runsAs, input }, details?.signal),
      errorFunction: null,
    })
    return Object.assign(made, { [BINDING]: { binding, runsAs } })
  })
}

async function execute(binding: Binding, call: ModelCall, signal: AbortSignal | undefined): Promise<string> {
  try {
    const ending = await runToEnd(binding, call, signal)
    return ending.ended === 'value' ? valueText(ending.value) : consentText(call.name, ending.authorization)
  } catch (error) {
    const text = errorText(call.name, error)
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
  const interrupted = agent.tools.find((candidate) => candidate.name === name)
  if (name === undefined || interrupted === undefined || !isBound(interrupted)) return undefined
  const { binding, runsAs } = interrupted[BINDING]
  return findMissingConsent(binding, runsAs)
}

interface Bound {
  readonly binding: Binding
  readonly runsAs: string
}

function isBound(candidate: object): candidate is { readonly [BINDING]: Bound } {
  return BINDING in candidate
}
