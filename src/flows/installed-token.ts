import type { Broker } from '../broker.ts'
import { isFresh } from '../domain/connection.ts'
import { missingScopes } from '../domain/scopes.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { CachedConnection } from '../services/release.ts'
import { providerIdentity } from './get-provider.ts'
import { changed, chooseHeld, type HeldOutcome, refreshed, release } from './held-token.ts'
import {
  forgetScopeSets,
  installationToken,
  isScopeRefusal,
  isUnscoped,
  ownConnections,
  permissionMissing,
  scopesNotNamed,
} from './installation-token.ts'
import { markUnusable } from './mark-unusable.ts'
import type { TokenNeed } from './token-need.ts'

/**
 * A token of the user's installation, for exactly the needed scopes. If the provider refuses it, the user's connection is
 * what needs a consent, since the token's own row is not shown.
 */
export async function installedToken(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: readonly CachedConnection[],
): Promise<HeldOutcome> {
  const { account, scopes, forceRefresh = false } = need
  const all = ownConnections(held)
  const own = account === undefined ? all[0] : chooseHeld(all, account)
  const required = { outcome: 'authorization_required', missingScopes: scopes } as const
  if (own === undefined) return required
  const { connection } = own
  if (connection.status !== 'active') return { ...required, connection }
  if (connection.providerIdentity !== providerIdentity(broker, entry))
    return changed(broker, need, entry, connection)
  const missing = missingScopes(scopes, connection.scopes, factsOf(entry.provider))
  if (missing.length > 0) return { outcome: 'authorization_required', missingScopes: missing, connection }
  const { defaultScopes } = entry.provider
  if (scopes.length === 0 && isUnscoped(entry, connection)) {
    if (defaultScopes.length === 0) throw scopesNotNamed(entry)
    return { ...required, missingScopes: defaultScopes, connection }
  }
  const token = await installationToken(broker, entry, { own, held, needed: scopes })
  const of = { ...need, scopes: [] }
  const isReady = !forceRefresh && isFresh(token.connection, broker.now(), entry.provider)
  const shown = (found: HeldOutcome): HeldOutcome => {
    if (found.outcome !== 'ready' || token === own) return found
    broker.uses.used('connections', connection.id, broker.now())
    return { ...found, shownAs: connection.id, noted: {} }
  }
  if (isReady && token.connection.status === 'active') return shown(await release(broker, of, entry, token))
  try {
    const found = await refreshed(broker, of, entry, token)
    if (found.outcome !== 'authorization_required') return shown(found)
    if (token !== own) {
      const stored = await broker.store.connections.find(token.connection.id)
      const reason = stored?.statusReason ?? 'installation_removed'
      await markUnusable(broker, entry, connection, { reason })
      await forgetScopeSets(broker, connection)
    }
    return { ...required, connection }
  } catch (error) {
    if (!isScopeRefusal(error)) throw error
    if (entry.provider.installationsRequest?.scopes === undefined)
      throw permissionMissing(entry, token.connection)
    return { ...required, connection }
  }
}
