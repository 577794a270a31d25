import { currentStep, type Exchanging } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { splitScope, unionOfScopes } from '../domain/scopes.ts'
import type { Grant } from '../providers/grant.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'

/**
 * The granted scopes: those of the token response, else the requested ones (RFC 6749 section 5.1), without those that
 * the authorization response omits, for providers that tell them there. That response comes through the user's browser,
 * so it never adds a scope. `earlier`: what the renewed
 * connection was granted before, which a server that keeps it may leave out of its list.
 */
export function grantedScopes(
  provider: Provider,
  claimed: Exchanging,
  grant: Grant,
  response: URLSearchParams,
  earlier: readonly string[] = [],
): readonly string[] {
  if (grant.scopes !== undefined) return withEarlier(provider, grant.scopes, earlier)
  const asked = currentStep(claimed).scopes
  const told = splitScope(response.getAll('scope').join(' '))
  if (factsOf(provider).callbackTellsScopes !== true || told.length === 0) return asked
  return asked.flatMap(splitScope).filter((scope) => told.includes(scope))
}

/** A list with one of the earlier scopes in it is complete. */
function withEarlier(
  provider: Provider,
  granted: readonly string[],
  earlier: readonly string[],
): readonly string[] {
  const isComplete = earlier.some((scope) => granted.includes(scope))
  if (factsOf(provider).keepsEarlierGrants !== true || isComplete) return granted
  return unionOfScopes(earlier, granted)
}

/** For each requested scope that was not granted, the number of consecutive consents without it. */
export function countWithheld(
  before: Connection | undefined,
  missing: readonly string[],
): Readonly<Record<string, number>> {
  const counts = before?.withheldScopes ?? {}
  return Object.fromEntries(
    missing.map((scope) => [scope, (Object.hasOwn(counts, scope) ? (counts[scope] ?? 0) : 0) + 1]),
  )
}
