import { currentStep, type Exchanging } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { splitScope } from '../domain/scopes.ts'
import type { Grant } from '../providers/grant.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'

/**
 * What was granted: as the token response says, else what was asked for (RFC 6749 section 5.1), less what the
 * authorization response leaves out where the provider says it there. That one comes through the user's browser, so it
 * never adds a scope.
 */
export function grantedScopes(
  provider: Provider,
  claimed: Exchanging,
  grant: Grant,
  response: URLSearchParams,
): readonly string[] {
  if (grant.scopes !== undefined) return grant.scopes
  const asked = currentStep(claimed).scopes
  const told = splitScope(response.getAll('scope').join(' '))
  if (factsOf(provider).callbackTellsScopes !== true || told.length === 0) return asked
  return asked.flatMap(splitScope).filter((scope) => told.includes(scope))
}

/** How many consents in a row have not brought each of the scopes that this one did not bring. */
export function withheldAfter(
  before: Connection | undefined,
  missing: readonly string[],
): Readonly<Record<string, number>> {
  const counts = before?.withheldScopes ?? {}
  return Object.fromEntries(
    missing.map((scope) => [scope, (Object.hasOwn(counts, scope) ? (counts[scope] ?? 0) : 0) + 1]),
  )
}
