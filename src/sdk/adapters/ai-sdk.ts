import { dynamicTool, type JSONSchema7, jsonSchema, type Tool } from 'ai'
import { AuthorizationRequired } from '../client/errors.ts'
import type { Gatepass } from '../client/gatepass.ts'
import { findMissingConsent } from './find-missing-consent.ts'
import { listModelTools } from './list-tools.ts'
import { type ConsentRequest, consentText, toConsentRequest, toModelError, valueText } from './model-text.ts'
import { type AdapterOptions, type Binding, bind, modeOf } from './options.ts'
import { type ModelCall, runTool, show } from './run-tool.ts'

/** The preliminary result of a tool while a consent or an approval is missing. A value of the tool itself never has this form. */
export interface ConsentOutput {
  readonly requires_authorization: ConsentRequest
}

/** Marks the tools of Gatepass among others; the AI SDK copies it to each call as `toolMetadata`. */
const SOURCE = 'gatepass'

/**
 * Returns tools for the Vercel AI SDK (`ai` 7), keyed by their names:
 * `streamText({ model, tools: await aiTools(gatepass, { user, tools: ['GitHub_Repositories'] }) })`.
 *
 * While a consent is missing, a tool yields the preliminary result `{ requires_authorization: { id, url, scopes } }`, which
 * the user interface shows and the model does not get; for an approval it also has `kind: 'approval'` and the `call`. Then it waits and yields the tool's value; in the mode `'return'`
 * it yields the link as text for the model. A call that fails becomes a `tool-error`, whose message is written for the
 * model and whose `cause` is the error.
 */
export async function aiTools(
  gatepass: Gatepass,
  options: AdapterOptions,
): Promise<Record<string, Tool<unknown, unknown>>> {
  const binding = bind(gatepass, options)
  const tools = await listModelTools(binding)
  return Object.fromEntries(
    tools.map(({ name, runsAs, description, inputSchema }) => [
      name,
      dynamicTool({
        description,
        inputSchema: jsonSchema(inputSchema as JSONSchema7), // the server checks that it is a JSON Schema
        metadata: { source: SOURCE, runsAs },
        execute: (input, { abortSignal }) => execute(binding, { name, runsAs, input }, abortSignal),
        toModelOutput: ({ output }) => ({ type: 'text', value: valueText(output) }),
      }),
    ]),
  )
}

async function* execute(
  binding: Binding,
  call: ModelCall,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void> {
  try {
    const running = runTool(binding, call, signal)
    for (let step = await running.next(); ; step = await running.next()) {
      if (step.done) return yield toOutput(step.value)
      const mode = modeOf(binding, step.value)
      if (mode === 'throw') throw new AuthorizationRequired(step.value)
      yield { requires_authorization: toConsentRequest(step.value) } satisfies ConsentOutput
      if (mode === 'return') return yield consentText(call.name, step.value)
      await show(binding, step.value)
    }
  } catch (error) {
    throw toModelError(call.name, error)
  }
}

/** Returns the value; one that looks like a `ConsentOutput` as text, so that no tool shows a link of its own. */
function toOutput(value: unknown): unknown {
  const isConfusable = typeof value === 'object' && value !== null && 'requires_authorization' in value
  return isConfusable ? valueText(value) : value
}

/** A tool call as the AI SDK shows it to `toolApproval`. */
interface ApprovableCall {
  readonly toolCall: {
    readonly toolMetadata?: { readonly source?: unknown; readonly runsAs?: unknown }
  }
}

/**
 * Asks for a missing consent by a tool approval of the AI SDK, for servers that keep no run open:
 * `streamText({ model, tools, toolApproval: consentApproval(gatepass, options), messages })`, with the tools of
 * `aiTools(gatepass, { ...options, consent: 'return' })`.
 *
 * A call whose consent is missing ends the response with a `tool-approval-request`, whose `reason` is the link. When
 * the user has approved at the link, append a `tool-approval-response` to the stored messages and call `streamText`
 * again. The AI SDK then runs the call without another check: if the consent is still missing, the model gets the link
 * as text. An approval of the call itself is asked for when the call runs: the model gets its link as text, and calls again.
 */
export function consentApproval(
  gatepass: Gatepass,
  options: AdapterOptions,
): (call: ApprovableCall) => Promise<undefined | { type: 'user-approval'; reason: string }> {
  const binding = bind(gatepass, options)
  return async ({ toolCall: { toolMetadata: { source, runsAs } = {} } }) => {
    if (source !== SOURCE || typeof runsAs !== 'string') return undefined
    const missing = await findMissingConsent(binding, runsAs)
    return missing && { type: 'user-approval', reason: missing.url }
  }
}
