import { AuthorizationRequired } from '../client/errors.ts'
import { Gatepass } from '../client/gatepass.ts'
import { isRecord } from '../is-record.ts'
import { type Binding, type Missing, modeOf, toMissing } from './options.ts'

/** A call of a tool by a model. */
export interface ModelCall {
  readonly name: string
  /** The name by which Gatepass runs the tool. */
  readonly runsAs: string
  readonly input: unknown
}

/**
 * Runs a tool. Yields each consent and each approval that is missing; the next call of `next()` waits for it and runs the
 * tool again, because a user who approved a part is asked for the rest. Returns the tool's value. Throws what `tools.run`
 * throws, `AuthorizationFailed` and `AuthorizationTimeout`.
 */
export async function* runTool(
  { gatepass, user, account, consentTimeoutMs, shown }: Binding,
  { name, runsAs, input: given }: ModelCall,
  signal: AbortSignal | undefined,
): AsyncGenerator<Missing, unknown, void> {
  const input = isRecord(given) ? given : {} // models send an empty text, `null` or nothing for a tool without parameters
  for (;;) {
    let missing: Missing
    try {
      return await gatepass.tools.run(runsAs, input, { user, account, signal })
    } catch (error) {
      if (!Gatepass.isError(error, 'authorization_required')) throw error
      missing = toMissing(error.authorization, { tool: name, input })
    }
    yield missing
    try {
      await missing.wait({ timeoutMs: consentTimeoutMs, signal })
    } finally {
      shown.delete(missing.id)
    }
  }
}

/** How a call ended. */
export type Ending =
  | { readonly ended: 'value'; readonly value: unknown }
  | { readonly ended: 'consent_missing'; readonly authorization: Missing }

/**
 * Runs a tool until it ends or a consent or an approval is missing. Where the option is a function, it shows the link and
 * waits. Throws `AuthorizationRequired` in the mode `throw`, and what `runTool` throws.
 */
export async function runToEnd(
  binding: Binding,
  call: ModelCall,
  signal: AbortSignal | undefined,
): Promise<Ending> {
  const ending = await runUntilMissing(binding, call, signal)
  if (ending.ended === 'consent_missing' && modeOf(binding, ending.authorization) === 'throw')
    throw new AuthorizationRequired(ending.authorization)
  return ending
}

/** `runToEnd` that throws nothing in the mode `throw`. */
export async function runUntilMissing(
  binding: Binding,
  call: ModelCall,
  signal: AbortSignal | undefined,
): Promise<Ending> {
  const running = runTool(binding, call, signal)
  for (;;) {
    const step = await running.next()
    if (step.done) return { ended: 'value', value: step.value }
    if (typeof modeOf(binding, step.value) !== 'function')
      return { ended: 'consent_missing', authorization: step.value }
    await show(binding, step.value)
  }
}

/** Shows the link by the function of the options: once, even if several calls wait for the same consent. */
export async function show(binding: Binding, missing: Missing): Promise<void> {
  const { consent, approval = consent, shown } = binding
  const isShown = typeof modeOf(binding, missing) !== 'function' || shown.has(missing.id)
  if (isShown) return
  shown.add(missing.id)
  try {
    if (missing.kind === 'approval' && typeof approval === 'function') await approval(missing)
    else if (typeof consent === 'function') await consent(missing)
  } catch (error) {
    shown.delete(missing.id) // the next call shows it
    throw error
  }
}
