import type { Connection } from '../domain/connection.ts'
import { unionOfScopes } from '../domain/scopes.ts'
import type { Provider } from '../providers/provider.ts'
import { ownScopes } from '../providers/provider-request.ts'

/**
 * The scopes that the user approved, for pages: the granted ones, and those that the entry adds to each request. Many
 * servers do not list a scope such as `offline_access` as granted; a refresh token shows that they granted it.
 */
export function approvedScopes(
  { scopes, refresh }: Pick<Connection, 'scopes' | 'refresh'>,
  provider: Provider | undefined,
): readonly string[] {
  return refresh === undefined || provider === undefined ? scopes : unionOfScopes(scopes, ownScopes(provider))
}
