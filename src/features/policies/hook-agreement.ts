import type { RequestedUse } from '../../domain/requested-use.ts'
import type { Policy } from './domain.ts'

/**
 * The policy with the hook, and the providers and scopes of the use that the hook permitted. Other uses are not
 * covered.
 */
export interface Agreement {
  readonly policy: Policy
  /** The scopes, by the ids of the providers. */
  readonly scopes: ReadonlyMap<string, ReadonlySet<string>>
}

export function agreementOn(policy: Policy, { providers }: RequestedUse): Agreement {
  return { policy, scopes: new Map(providers.map(({ id, scopes }) => [id, new Set(scopes)])) }
}

/**
 * Whether the hook permitted all providers and scopes of the use, and its policy has not changed since. A policy decision point
 * of AuthZEN is asked about the tool's call, in which there are no scopes.
 */
export function covers(agreement: Agreement, policy: Policy, { providers, use }: RequestedUse): boolean {
  if (JSON.stringify(agreement.policy) !== JSON.stringify(policy)) return false
  if (policy.hook?.format === 'authzen' && use === 'tool') return true
  return providers.every(({ id, scopes }) => scopes.every((scope) => agreement.scopes.get(id)?.has(scope)))
}
