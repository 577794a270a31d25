import type { Broker } from '../broker.ts'
import { type Connection, isFresh } from '../domain/connection.ts'
import { missingScopes } from '../domain/scopes.ts'
import { keptValuesOf } from '../providers/kept-values.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { isInstalled, isUserless, ownerOf } from '../providers/provider-grant.ts'
import type { CachedConnection } from '../services/release.ts'
import { inSpan } from '../services/tracing.ts'
import { isUseDue } from '../services/use-log.ts'
import { UnsealError } from '../store/seal.ts'
import { cachedConnections } from './cached-connections.ts'
import { getSubjectEntry } from './exchange-subject.ts'
import { findExchangedToken } from './exchanged-token.ts'
import { providerIdentity, providersOf, registeredClient, requireActive } from './get-provider.ts'
import {
  asked,
  askedOrRefused,
  changed,
  chooseHeld,
  type HeldOutcome,
  isUsable,
  refreshed,
  release,
} from './held-token.ts'
import { findImpersonatedToken } from './impersonated-token.ts'
import { installedToken } from './installed-token.ts'
import { providerBook } from './provider-book.ts'
import { refreshConnection } from './refresh/refresh-connection.ts'
import { openAccess } from './seal-grant.ts'
import { askOperator, findSharedToken, wasChanged } from './shared-token.ts'
import { needOwner, type TokenNeed, type TokenOutcome } from './token-need.ts'

/**
 * The user's token, refreshed if necessary. It may be handed out only after `releaseTokens` has recorded it. A fresh token
 * costs one look-up, and no promise if it is cached. Throws `token_request_refused` when the provider refuses for a reason
 * other than the user's grant, `provider_incomplete` when its client is not set, `provider_inactive` when it is switched off.
 */
export function getAccessToken(broker: Broker, need: TokenNeed): TokenOutcome | Promise<TokenOutcome> {
  const { tracing } = broker
  if (tracing === undefined) return countedAccessToken(broker, need)
  const span = { name: 'token fetch', attributes: { 'gatepass.provider': need.entry.id } }
  return inSpan(
    tracing,
    span,
    () => countedAccessToken(broker, need),
    ({ outcome }) => ({ attributes: { 'gatepass.outcome': outcome } }),
  )
}

function countedAccessToken(broker: Broker, need: TokenNeed): TokenOutcome | Promise<TokenOutcome> {
  const { id } = need.entry
  const counted = (outcome: TokenOutcome): TokenOutcome => {
    noteUser(broker, need, outcome)
    broker.metrics.tokenFetched(id, outcome.outcome)
    broker.activity.count(need.projectId, 'fetches', outcome.outcome)
    return outcome
  }
  const refused = (error: unknown): never => {
    broker.activity.seen(need.projectId, need.userId)
    broker.metrics.tokenFetched(id, 'refused')
    broker.activity.count(need.projectId, 'fetches', 'refused')
    throw error
  }
  try {
    const found = findAccessToken(broker, need)
    return found instanceof Promise ? found.then(counted, refused) : counted(found)
  } catch (error) {
    return refused(error)
  }
}

function noteUser({ activity, now }: Broker, need: TokenNeed, outcome: TokenOutcome): void {
  // other users may share what is noted of a connection that is not the user's own
  if (outcome.outcome === 'ready' && outcome.connection.userId === need.userId) {
    const at = now()
    if (!isUseDue(outcome.noted.user, at)) return
    outcome.noted.user = at
  }
  activity.seen(need.projectId, need.userId)
}

function findAccessToken(broker: Broker, need: TokenNeed): TokenOutcome | Promise<TokenOutcome> {
  const found = findCachedToken(broker, need)
  const current = (held: HeldOutcome) => (held.outcome === 'outdated' ? findStoredToken(broker, need) : held)
  return found instanceof Promise ? found.then(current) : current(found)
}

function findCachedToken(broker: Broker, need: TokenNeed): HeldOutcome | Promise<HeldOutcome> {
  const entries = broker.cache.providers.of(need.projectId)
  return entries instanceof Promise
    ? entries.then((read) => findTokenAt(broker, need, currentEntry(read, need)))
    : findTokenAt(broker, need, currentEntry(entries, need))
}

function currentEntry(entries: readonly ProviderEntry[], { entry }: TokenNeed): ProviderEntry {
  return requireActive(providerBook(entries).byUid(entry.uid) ?? entry)
}

function findTokenAt(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
): HeldOutcome | Promise<HeldOutcome> {
  const held = cachedConnections(broker, needOwner(need))
  return held instanceof Promise
    ? held.then((read) => tokenAmong(broker, need, entry, read))
    : tokenAmong(broker, need, entry, held)
}

function tokenAmong(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: readonly CachedConnection[],
): HeldOutcome | Promise<HeldOutcome> {
  const { account, forceRefresh = false } = need
  if (isInstalled(entry.provider)) return installedToken(broker, need, entry, held)
  if (entry.provider.impersonation !== undefined)
    return asked(broker, need, entry, findImpersonatedToken(broker, need, entry))
  if (entry.provider.grant?.type === 'token_exchange') return exchangedToken(broker, need, entry)
  const chosen = account === undefined ? held[0] : chooseHeld(held, account)
  if (!isUsersOwn(entry, chosen)) return projectsToken(broker, need, entry)
  if (chosen === undefined || chosen.connection.status !== 'active')
    return {
      outcome: 'authorization_required',
      missingScopes: need.scopes,
      ...(chosen && { connection: chosen.connection }),
    }

  const { connection } = chosen
  if (connection.providerIdentity !== providerIdentity(broker, entry))
    return changed(broker, need, entry, connection)
  const missing = missingScopes(need.scopes, connection.scopes, factsOf(entry.provider))
  if (missing.length > 0) return { outcome: 'authorization_required', missingScopes: missing, connection }

  if (!forceRefresh && isFresh(connection, broker.now(), entry.provider))
    return release(broker, need, entry, chosen)
  return refreshed(broker, need, entry, chosen)
}

/** A token of the project's connection that is shared with this use. */
async function projectsToken(broker: Broker, need: TokenNeed, entry: ProviderEntry): Promise<HeldOutcome> {
  const found = await findSharedToken(broker, need, entry)
  if (found === undefined) return { outcome: 'authorization_required', missingScopes: need.scopes }
  const { shared, held } = found
  const { connection } = held
  // a key is sent nowhere but where it was typed for
  if (connection.status === 'active' && connection.providerIdentity !== providerIdentity(broker, entry)) {
    const token = await changed(broker, need, entry, connection)
    if (token.outcome === 'authorization_required') throw askOperator(broker, entry)
    return token
  }
  const isAsked = !isUsable(broker, need, entry, held)
  const token = await askedOrRefused(broker, need, entry, held)
  const isChanged = isAsked && (await wasChanged(broker, need, entry, shared))
  if (token.outcome === 'ready') return { ...token, actingFor: need.userId, shared, texts: {}, noted: {} }
  if (token.outcome === 'provider_unavailable' || token.outcome === 'outdated') return token
  if (isChanged) return projectsToken(broker, need, entry)
  throw askOperator(broker, entry)
}

/** A token for which one of the user's connection to another entry is exchanged; without that connection, none. */
async function exchangedToken(broker: Broker, need: TokenNeed, entry: ProviderEntry): Promise<HeldOutcome> {
  const subjectEntry = getSubjectEntry(await providersOf(broker, need.projectId), entry)
  registeredClient(broker, entry) // throws if the client is missing: no user is asked in vain
  const { subject, held } = await findExchangedToken(broker, need, entry, subjectEntry)
  const token = held && (await askedOrRefused(broker, need, entry, held))
  if (token !== undefined && token.outcome !== 'authorization_required') return token
  const { connection } = subject
  return { outcome: 'authorization_required', missingScopes: [], ...(connection && { connection }), subject }
}

/** Like `findCachedToken`, but reads the store. The caches may hold an entry and a connection of different times. */
async function findStoredToken(broker: Broker, need: TokenNeed): Promise<TokenOutcome> {
  const { connections, providers } = broker.store
  const stored = await connections.ofOwner(needOwner(need))
  const entry = requireActive((await providers.findByUid(need.entry.uid)) ?? need.entry)
  const held = stored.map((connection) => ({ connection }))
  const found = await tokenAmong(broker, need, entry, held)
  return found.outcome === 'outdated' ? findStoredToken(broker, need) : found
}

/**
 * The kept values of the connection that would meet the need, without releasing its token; `undefined` if there is no such
 * connection. Where a token tells them that no user approves, and none was asked for yet, it is asked for.
 */
export async function findKeptValues(
  broker: Broker,
  need: TokenNeed,
): Promise<Record<string, string> | undefined> {
  const { entry, account } = need
  const held = await cachedConnections(broker, needOwner(need))
  const own = account === undefined ? held[0] : chooseHeld(held, account)
  const chosen = await (entry.provider.impersonation !== undefined
    ? findImpersonatedToken(broker, need, entry)
    : isUsersOwn(entry, own)
      ? own
      : findSharedToken(broker, need, entry).then((token) => token?.held))
  const connection =
    chosen?.connection.receivedAt === 0 ? await asking(broker, need, chosen) : chosen?.connection
  if (connection?.status !== 'active') return undefined
  if (connection.providerIdentity !== providerIdentity(broker, entry)) return undefined
  try {
    return keptValuesOf(entry.provider, openAccess(broker, connection).kept)
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

/** The connection after its first token was asked for; `undefined`: there was none. */
async function asking(
  broker: Broker,
  { entry }: TokenNeed,
  { connection }: CachedConnection,
): Promise<Connection | undefined> {
  const refresh = await refreshConnection(broker, entry, connection)
  return refresh.outcome === 'usable' ? refresh.connection : undefined
}

/** Whether the user's own connection decides, rather than one that the project shares. */
function isUsersOwn({ provider }: ProviderEntry, own: CachedConnection | undefined): boolean {
  return !isUserless(provider) && (own !== undefined || ownerOf(provider) === 'user')
}
