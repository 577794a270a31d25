import type { PendingAuthorization } from '../client/authorization.ts'
import { AuthorizationRequired } from '../client/errors.ts'
import { Gatepass } from '../client/gatepass.ts'
import { isRecord } from '../is-record.ts'
import type { Binding } from './options.ts'

/** A call of a tool by a model. */
export interface ModelCall {
  readonly name: string
  /** The name by which Gatepass runs the tool. */
  readonly runsAs: string
  readonly input: unknown
}

/**
 * Runs a tool. Yields each consent that is missing; the next call of `next()` waits for that consent and runs the tool
 * again, because a user who approved a part is asked for the rest. Returns the tool's value. Throws what `tools.run`
 * throws, `AuthorizationFailed` and `AuthorizationTimeout`.
 */
export async function* runTool(
  { gatepass, user, account, consentTimeoutMs, shown }: Binding,
  { runsAs, input }: ModelCall,
  signal: AbortSignal | undefined,
): AsyncGenerator<PendingAuthorization, unknown, void> {
  for (;;) {
    let missing: PendingAuthorization
    try {
      // models send an empty text, `null` or nothing for a tool without parameters
      return await gatepass.tools.run(runsAs, isRecord(input) ? input : {}, { user, account, signal })
    } catch (error) {
      if (!Gatepass.isError(error, 'authorization_required')) throw error
      missing = error.authorization
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
  | { readonly ended: 'consent_missing'; readonly authorization: PendingAuthorization }

/**
 * Runs a tool until it ends or a consent is missing. With a function as `consent`, it shows the link and waits. Throws
 * `AuthorizationRequired` in the mode `throw`, and what `runTool` throws.
 */
export async function runToEnd(
  binding: Binding,
  call: ModelCall,
  signal: AbortSignal | undefined,
): Promise<Ending> {
  const { consent } = binding
  const running = runTool(binding, call, signal)
  for (;;) {
    const step = await running.next()
    if (step.done) return { ended: 'value', value: step.value }
    if (consent === 'throw') throw new AuthorizationRequired(step.value)
    if (typeof consent !== 'function') return { ended: 'consent_missing', authorization: step.value }
    await show(binding, step.value)
  }
}

/** Shows the link by the function `consent`: once, even if several calls wait for the same consent. */
export async function show({ consent, shown }: Binding, authorization: PendingAuthorization): Promise<void> {
  if (typeof consent !== 'function' || shown.has(authorization.id)) return
  shown.add(authorization.id)
  try {
    await consent(authorization)
  } catch (error) {
    shown.delete(authorization.id) // the next call shows it
    throw error
  }
}
