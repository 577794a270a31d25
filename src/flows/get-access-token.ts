import type { Broker } from '../broker.ts'
import type { Cause } from '../domain/causes.ts'
import { type Connection, chooseConnection, isFresh } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { missingScopes } from '../domain/scopes.ts'
import { fitsDpop } from '../providers/dpop.ts'
import { keptValuesOf } from '../providers/kept-values.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { isInstalled, isUserless, ownerOf } from '../providers/provider-grant.ts'
import type { CachedConnection, Release } from '../services/release.ts'
import { inSpan } from '../services/tracing.ts'
import type { ConnectionOwner } from '../store/changes.ts'
import { UnsealError } from '../store/seal.ts'
import { cachedConnections } from './cached-connections.ts'
import { getSubjectEntry } from './exchange-subject.ts'
import { findExchangedToken, type SubjectNeed } from './exchanged-token.ts'
import { clientIdOf, providerIdentity, providersOf, registeredClient, requireActive } from './get-provider.ts'
import { findImpersonatedToken } from './impersonated-token.ts'
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
import { providerBook } from './provider-book.ts'
import { refreshConnection, rejecting } from './refresh/refresh-connection.ts'
import { openAccess } from './seal-grant.ts'
import { askOperator, findSharedToken, wasChanged } from './shared-token.ts'

/** The user, provider and scopes of a needed token. */
export interface TokenNeed {
  readonly projectId: string
  readonly userId: string
  /** As the caller found it. If it has changed since, the changed entry is used. */
  readonly entry: ProviderEntry
  /** Empty: a connection with any scopes is sufficient. */
  readonly scopes: readonly string[]
  /** A connection's id, or an account's id or name; absent: the default account. */
  readonly account?: string
  /** The API refused the current token: it is refreshed although it has not expired, unless it was issued just now. */
  readonly forceRefresh?: boolean
}

/** The ordinary outcomes of a request for a token. */
export type TokenOutcome =
  | ({ readonly outcome: 'ready' } & Release)
  | {
      readonly outcome: 'authorization_required'
      /** The existing connection that is not sufficient, if there is one. */
      readonly connection?: Connection
      readonly missingScopes: readonly string[]
      /** Where the needed provider exchanges a token of another one (RFC 8693): the consent that is missing is of that one. */
      readonly subject?: SubjectNeed
    }
  | {
      readonly outcome: 'provider_unavailable'
      readonly message: string
      /** Seconds. */
      readonly retryAfter: number
      readonly cause?: Cause
    }

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

/** The refusal of a request that needs a token which cannot be refreshed right now. */
export function unavailableError({
  message,
  retryAfter,
  cause,
}: Extract<TokenOutcome, { outcome: 'provider_unavailable' }>): BrokerError {
  return new BrokerError('provider_unavailable', message, { retryAfter, why: cause })
}

function countedAccessToken(broker: Broker, need: TokenNeed): TokenOutcome | Promise<TokenOutcome> {
  const { id } = need.entry
  broker.activity.seen(need.projectId, need.userId)
  const counted = (outcome: TokenOutcome): TokenOutcome => {
    broker.metrics.tokenFetched(id, outcome.outcome)
    broker.activity.count(need.projectId, 'fetches', outcome.outcome)
    return outcome
  }
  const refused = (error: unknown): never => {
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

function findAccessToken(broker: Broker, need: TokenNeed): TokenOutcome | Promise<TokenOutcome> {
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
): TokenOutcome | Promise<TokenOutcome> {
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
): TokenOutcome | Promise<TokenOutcome> {
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

/**
 * A token of the user's installation, for exactly the needed scopes. If the provider refuses it, the user's connection is
 * what needs a consent, since the token's own row is not shown.
 */
async function installedToken(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: readonly CachedConnection[],
): Promise<TokenOutcome> {
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
  const shown = (found: TokenOutcome): TokenOutcome => {
    if (found.outcome !== 'ready' || token === own) return found
    broker.uses.used('connections', connection.id, broker.now())
    return { ...found, shownAs: connection.id }
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

/** The outcome for a connection whose entry has changed since its consent, so that its token is not used any more. */
async function changed(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  connection: Connection,
): Promise<TokenOutcome> {
  return (await markProviderChanged(broker, entry, connection))
    ? { outcome: 'authorization_required', missingScopes: need.scopes, connection }
    : findStoredToken(broker, need)
}

/** A token of the project's connection that is shared with this use. */
async function projectsToken(broker: Broker, need: TokenNeed, entry: ProviderEntry): Promise<TokenOutcome> {
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
  if (token.outcome === 'ready') return { ...token, actingFor: need.userId, shared, texts: {} }
  if (token.outcome === 'provider_unavailable') return token
  if (isChanged) return projectsToken(broker, need, entry)
  throw askOperator(broker, entry)
}

/** A token for which one of the user's connection to another entry is exchanged; without that connection, none. */
async function exchangedToken(broker: Broker, need: TokenNeed, entry: ProviderEntry): Promise<TokenOutcome> {
  const subjectEntry = getSubjectEntry(await providersOf(broker, need.projectId), entry)
  registeredClient(broker, entry) // throws if the client is missing: no user is asked in vain
  const { subject, held } = await findExchangedToken(broker, need, entry, subjectEntry)
  const token = held && (await askedOrRefused(broker, need, entry, held))
  if (token !== undefined && token.outcome !== 'authorization_required') return token
  const { connection } = subject
  return { outcome: 'authorization_required', missingScopes: [], ...(connection && { connection }), subject }
}

/** A token of a grant without a user, for exactly the needed scopes. No user gets a link for it. */
async function asked(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  found: CachedConnection | Promise<CachedConnection>,
): Promise<TokenOutcome> {
  const token = await askedOrRefused(broker, need, entry, await found)
  if (token.outcome === 'authorization_required') throw askOperator(broker, entry)
  return token
}

async function askedOrRefused(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: CachedConnection,
): Promise<TokenOutcome> {
  const of = { ...need, scopes: [] }
  return isUsable(broker, need, entry, held)
    ? release(broker, of, entry, held)
    : refreshed(broker, of, entry, held)
}

/** Whether the token is used without a question to the provider. */
function isUsable(
  broker: Broker,
  { forceRefresh = false }: TokenNeed,
  { provider }: ProviderEntry,
  { connection }: CachedConnection,
): boolean {
  return !forceRefresh && connection.status === 'active' && isFresh(connection, broker.now(), provider)
}

/** Like `findTokenAt`, but reads the store. The caches may hold an entry and a connection of different times. */
async function findStoredToken(broker: Broker, need: TokenNeed): Promise<TokenOutcome> {
  const { connections, providers } = broker.store
  const stored = await connections.ofOwner(needOwner(need))
  const entry = requireActive((await providers.findByUid(need.entry.uid)) ?? need.entry)
  return tokenAmong(
    broker,
    need,
    entry,
    stored.map((connection) => ({ connection })),
  )
}

/**
 * Marks a connection as needing a new consent because its entry has another identity now: its tokens must not be sent
 * to other endpoints. Returns `false`, with nothing marked, when the entry or the connection has changed since it was
 * read: an administrator may have kept the connection.
 */
export async function markProviderChanged(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): Promise<boolean> {
  const current = await broker.store.providers.findByUid(entry.uid)
  if (current?.updatedAt !== entry.updatedAt) return false
  registeredClient(broker, entry) // throws if the client id is missing, which must not end the connection
  const { providerIdentity } = connection
  return markUnusable(broker, entry, connection, { reason: 'provider_changed', providerIdentity })
}

async function refreshed(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: CachedConnection,
): Promise<TokenOutcome> {
  const { scopes, forceRefresh = false } = need
  const { connection } = held
  const { entry: current, ...refresh } = await refreshConnection(
    broker,
    entry,
    connection,
    forceRefresh ? rejecting(broker, connection) : {},
  )
  switch (refresh.outcome) {
    case 'usable': {
      const missing = missingScopes(scopes, refresh.connection.scopes, factsOf(current.provider))
      if (missing.length === 0) return release(broker, need, current, { connection: refresh.connection })
      // the refresh, or a consent in the meantime, removed scopes
      return { outcome: 'authorization_required', missingScopes: missing, connection: refresh.connection }
    }
    case 'authorization_required':
      return { outcome: 'authorization_required', missingScopes: scopes, connection }
    case 'provider_unavailable':
      return refresh
  }
}

/** Decrypts the token. If that fails, the connection needs a new consent; the user's other connections are unaffected. */
function release(
  broker: Broker,
  need: TokenNeed,
  entry: ProviderEntry,
  held: CachedConnection,
): TokenOutcome | Promise<TokenOutcome> {
  const { connection } = held
  try {
    if (held.ready?.entry !== entry) held.ready = open(broker, entry, connection)
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    broker.log.error({ connection: connection.id, reason: error.message }, 'a connection cannot be opened')
    return markUnusable(broker, entry, connection, { reason: 'unreadable' }).then((isMarked) =>
      isMarked
        ? { outcome: 'authorization_required', missingScopes: [], connection }
        : findStoredToken(broker, need),
    )
  }
  if (!fitsDpop(entry.provider, held.ready)) return changed(broker, need, entry, connection)
  broker.uses.used('connections', connection.id, broker.now())
  return held.ready
}

function open(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): { readonly outcome: 'ready' } & Release {
  const secrets = openAccess(broker, connection)
  const fingerprint = broker.audit.fingerprint(secrets.accessToken)
  const clientId = clientIdOf(broker, entry)
  return { outcome: 'ready', connection, entry, ...secrets, fingerprint, texts: {}, clientId }
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

function needOwner({ projectId, userId, entry }: Omit<TokenNeed, 'scopes'>): ConnectionOwner {
  return { projectId, userId, providerUid: entry.uid }
}

function chooseHeld(held: readonly CachedConnection[], account: string): CachedConnection | undefined {
  const chosen = chooseConnection(
    held.map((candidate) => candidate.connection),
    account,
  )
  return held.find((candidate) => candidate.connection === chosen)
}
