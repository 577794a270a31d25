import type { Policy } from '../../domain/policy.ts'
import type { RequestedUse } from './policy-match.ts'

/** The rule, providers and scopes that a hook agreed to; its agreement covers nothing else. */
export interface Agreement {
  readonly policy: Policy
  /** The scopes by the provider's id. */
  readonly scopes: ReadonlyMap<string, ReadonlySet<string>>
}

export function agreementOn(policy: Policy, { providers }: RequestedUse): Agreement {
  return { policy, scopes: new Map(providers.map(({ id, scopes }) => [id, new Set(scopes)])) }
}

/** Whether this rule, unchanged, agreed to all these providers and scopes. */
export function covers(agreement: Agreement, policy: Policy, { providers }: RequestedUse): boolean {
  return (
    JSON.stringify(agreement.policy) === JSON.stringify(policy) &&
    providers.every(({ id, scopes }) => scopes.every((scope) => agreement.scopes.get(id)?.has(scope)))
  )
}
