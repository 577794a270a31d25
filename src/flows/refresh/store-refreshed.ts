import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AccessSecrets, Connection, SealedGrant } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import { coveredScopes } from '../../domain/scopes.ts'
import { mergedExtra } from '../../providers/extra-members.ts'
import type { Grant } from '../../providers/grant.ts'
import { collectValues } from '../../providers/kept-values.ts'
import { factsOf } from '../../providers/known-facts.ts'
import type { ProviderEntry, RegisteredClient } from '../../providers/provider-entry.ts'
import { isUserless } from '../../providers/provider-grant.ts'
import type { RefreshOutcome } from '../../services/refresh-table.ts'
import { doublingPause, retryWrite } from '../../store/retry.ts'
import { markUnusable } from '../mark-unusable.ts'
import { sealGrant } from '../seal-grant.ts'
import { countRefresh } from './count-refresh.ts'

/** While the database is unavailable, storing the tokens is retried for this long: longer than a failover takes. */
const LONGEST_STORE_MS = 60_000
/** How long callers wait for the tokens to be stored. */
const CALLERS_WAIT_MS = 3_000

const AUTHORIZATION_REQUIRED = { outcome: 'authorization_required' } as const

/** A refresh that the provider has answered with tokens. */
export interface AnsweredRefresh {
  readonly entry: ProviderEntry
  readonly registered: RegisteredClient
  /** The connection when the refresh token was sent. */
  readonly connection: Connection
  /** The connection's secrets at that time. */
  readonly known: AccessSecrets
  readonly grant: Grant
  /** When the tokens were received, if that is some time ago. */
  readonly receivedAt?: EpochSeconds
}

/** Answers all callers with an error, while the refresh goes on without them. */
export type ReleaseCallers = (reason: BrokerError) => void

/**
 * First stores the tokens of a refresh, because there is no other copy of a rotated refresh token (RFC 9700 section 4.14).
 * Then requests the user info or introspection that the provider entry wants after a refresh, and stores that too.
 */
export async function storeRefreshed(
  broker: Broker,
  answer: AnsweredRefresh,
  releaseCallers: ReleaseCallers,
): Promise<RefreshOutcome> {
  const { entry, registered, connection, known, grant } = answer
  if (grant.subject !== undefined && isAnotherSubject(known.userInfo.sub, grant.subject))
    return refuseAccount(broker, answer)
  const stored = await storeTokens(broker, answer, grant, releaseCallers)
  if (stored === undefined) return discard(broker, answer)
  countRefresh(broker, entry, 'refreshed')

  const more = await broker.oauth.askAgain(registered, grant)
  if (more === undefined) return { outcome: 'usable', connection: stored }
  if (isAnotherAccount(entry, stored, more)) return refuseAccount(broker, { ...answer, connection: stored })
  const { refreshToken: _, ...details } = more
  try {
    // the lifetime of the tokens began before the user info was requested
    const again = { ...answer, connection: stored, receivedAt: stored.receivedAt }
    const complete = await storeTokens(broker, again, details, releaseCallers)
    return { outcome: 'usable', connection: complete ?? stored }
  } catch (error) {
    // the tokens are stored; the details are asked for again after the next refresh
    broker.log.warn(
      { connection: connection.id, error },
      'the user info or introspection after a refresh was not stored',
    )
    return { outcome: 'usable', connection: stored }
  }
}

/**
 * Stores the tokens if the ones that were refreshed are still the stored ones, whichever process holds the lease by
 * now; `undefined` if they are not. Waits for a database that is unavailable: there is no other copy of these tokens.
 */
async function storeTokens(
  broker: Broker,
  answer: AnsweredRefresh,
  grant: Omit<Grant, 'account'>,
  releaseCallers: ReleaseCallers,
): Promise<Connection | undefined> {
  const { refreshes, log } = broker
  const { connections } = broker.store
  const { entry, connection } = answer
  const { id, generation } = connection
  const tokens = sealRefreshed(broker, answer, grant)
  const audit = broker.audit.of(connection.projectId, {
    action: 'connection.refreshed',
    userId: connection.userId,
    providerId: entry.id,
    connectionId: id,
    scopes: tokens.scopes,
    fingerprint: broker.audit.fingerprint(grant.accessToken),
  })
  const late = setTimeout(() => {
    log.warn({ connection: id }, 'refreshed tokens wait for the database')
    releaseCallers(
      new BrokerError(
        'store_unavailable',
        'The token was refreshed, but the database cannot be used right now. Try again shortly.',
        { retryAfter: 5 },
      ),
    )
  }, CALLERS_WAIT_MS)
  try {
    return await retryWrite(
      () => connections.settleRefresh(id, generation, tokens, audit, connection.scopes),
      async () => {
        const stored = await connections.find(id)
        return stored?.access === tokens.access ? stored : undefined
      },
      {
        mayRetry: (elapsedMs) => elapsedMs <= LONGEST_STORE_MS && refreshes.mayFinish,
        pauseMs: doublingPause(50, 1_000),
      },
    )
  } catch (error) {
    log.error({ connection: id }, 'refreshed tokens could not be stored')
    throw error
  } finally {
    clearTimeout(late)
  }
}

/**
 * The stored tokens were replaced or deleted during the refresh, so the new ones are discarded. They are revoked only
 * if the user deleted the connection and has no newer one to the same account: many servers end the whole grant with
 * one token, which would end the newer tokens too.
 */
async function discard(
  broker: Broker,
  { entry, connection, registered, grant }: AnsweredRefresh,
): Promise<RefreshOutcome> {
  const { connections } = broker.store
  const current = await connections.find(connection.id)
  countRefresh(broker, entry, current === undefined ? 'revoked_meanwhile' : 'superseded')
  if (current?.status === 'active') return { outcome: 'usable', connection: current }
  if (current === undefined) {
    const others = await connections.ofOwner(connection)
    if (!others.some((other) => other.account.id === connection.account.id))
      await broker.oauth.revoke(registered, grant)
  }
  return AUTHORIZATION_REQUIRED
}

/**
 * Revokes tokens of another account and marks the connection (RFC 9700 section 4.14, OpenID Connect Core section 12.2). If
 * the ID token named the account, they were not stored; if the user info did, they were stored before it was requested.
 */
async function refuseAccount(
  broker: Broker,
  { entry, connection, registered, grant }: AnsweredRefresh,
): Promise<RefreshOutcome> {
  broker.log.error(
    { connection: connection.id, provider: entry.id },
    'a refresh answered with the tokens of another account',
  )
  countRefresh(broker, entry, 'refused')
  await markUnusable(broker, entry, connection, { reason: 'account_changed' })
  await broker.oauth.revoke(registered, grant)
  return AUTHORIZATION_REQUIRED
}

/**
 * Whether the ID token names another user than the user info of the consent: both have the same `sub` (OpenID Connect
 * Core sections 5.3.2 and 12.2).
 */
function isAnotherSubject(known: unknown, subject: string): boolean {
  return typeof known === 'string' && known !== subject
}

/**
 * Whether the new user info names another account. They are compared only if user info named the account at the consent
 * too, because another source may name it differently. With a grant without a user, the account is our own name of
 * the connection.
 */
function isAnotherAccount({ provider }: ProviderEntry, connection: Connection, more: Grant): boolean {
  const { account } = connection
  const isNamedByInfo = provider.userInfoRequest?.triggers.onTokenGrant === true && !isUserless(provider)
  const isComparable = isNamedByInfo && more.userInfo !== undefined
  const isNamed = account.id !== '' && account.id !== connection.id && more.account.id !== ''
  return isComparable && isNamed && account.id !== more.account.id
}

/** Seals the new tokens. Members that the answer left out are taken from the previous ones. */
function sealRefreshed(
  broker: Broker,
  { entry, connection, known, receivedAt }: AnsweredRefresh,
  grant: Omit<Grant, 'account'>,
): SealedGrant {
  const { provider } = entry
  const complete = {
    ...grant,
    userInfo: grant.userInfo ?? known.userInfo,
    extra: mergedExtra(known.extra, grant.extra),
    kept: collectValues(provider, { tokenResponse: grant.extra, userInfo: grant.userInfo }, known.kept),
    scopes: stillGranted(broker, entry, connection, grant.scopes),
    expiresIn: grant.expiresIn ?? lifetimeOf(connection) ?? provider.defaultExpiresIn,
  }
  return sealGrant(broker, connection, complete, { provider, before: connection, receivedAt })
}

/** A refresh may take scopes away; it cannot add any that the user did not grant (RFC 6749 section 6). */
function stillGranted(
  broker: Broker,
  entry: ProviderEntry,
  { id, scopes: granted }: Connection,
  told: readonly string[] | undefined,
): readonly string[] {
  // no scopes are stored if the provider named none at the consent: the first answer that names some is accepted
  if (told === undefined || granted.length === 0) return told ?? granted
  const covered = coveredScopes(granted, factsOf(entry.provider))
  const still = told.filter((scope) => covered.has(scope))
  if (still.length < told.length)
    broker.log.warn(
      { connection: id, provider: entry.id, more: told.length - still.length },
      'a refresh answered with scopes that were not granted: they are left out',
    )
  return still
}

/**
 * The lifetime of the previous token, in seconds: an answer without `expires_in` is assumed to mean the same.
 * `undefined` if it is unknown, as of a token that had expired when it was imported.
 */
function lifetimeOf({ receivedAt, expiresAt }: Connection): number | undefined {
  const seconds = expiresAt === undefined ? 0 : expiresAt - receivedAt
  return seconds > 0 ? seconds : undefined
}
