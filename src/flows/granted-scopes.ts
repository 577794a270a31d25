import { currentStep, type Exchanging } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { splitScope, unionOfScopes } from '../domain/scopes.ts'
import type { Grant } from '../providers/grant.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'

/**
 * The granted scopes: those of the token response, else the requested ones (RFC 6749 section 5.1). For providers that list
 * granted scopes in the authorization response, those that it omits are removed; it never adds a scope, because it comes
 * through the user's browser. `earlier`: the scopes of the renewed connection, which a server that keeps earlier grants may
 * leave out of its list.
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

/** Adds the earlier scopes if the server keeps them and its list has none of them; otherwise the list is complete. */
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
