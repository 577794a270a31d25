import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AccessSecrets, Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { coveredScopes } from '../domain/scopes.ts'
import { mergedExtra } from '../providers/extra-members.ts'
import type { Grant } from '../providers/grant.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider.ts'
import { AUTHORIZATION_REQUIRED, type RefreshOutcome } from '../services/refresh-outcome.ts'
import type { RefreshedTokens } from '../store/grants.ts'
import type { AuditEntries } from '../store/store.ts'
import { markUnusable } from './mark-unusable.ts'
import { sealGrant } from './seal-grant.ts'

/** How long, and how often, an answer is tried to be stored while the database is away: as long as a failover takes. */
const LONGEST_STORE_MS = 60_000
const FIRST_STORE_PAUSE_MS = 50
const LONGEST_STORE_PAUSE_MS = 1_000
/** How long those who wait for the token wait for that. */
const WAIT_FOR_STORE_MS = 3_000

export interface LetGo {
  /** Lets those go who wait for the refresh, with that; it goes on without them. */
  readonly letGo: (reason: BrokerError) => void
}

/** A refresh that the provider has answered with tokens. */
export interface AnsweredRefresh extends LetGo {
  readonly entry: ProviderEntry
  readonly registered: RegisteredClient
  /** As it was when the refresh token was sent. */
  readonly connection: Connection
  /** What is known from before. */
  readonly known: AccessSecrets
  readonly grant: Grant
}

/**
 * Stores what a refresh brought, first of all: a rotated refresh token that is lost here is lost for good (RFC 9700
 * section 4.14). Then asks what the entry wants to be asked after a refresh.
 */
export async function takeRefreshed(broker: Broker, answered: AnsweredRefresh): Promise<RefreshOutcome> {
  const { entry, registered, connection, known, grant } = answered
  if (grant.subject !== undefined && isAnother(known.userInfo.sub, grant.subject))
    return refuseAccount(broker, answered)
  const settled = await store(broker, answered, grant)
  if (settled === undefined) return yieldToOthers(broker, answered)
  broker.metrics.refreshed(entry.id, 'refreshed')

  const more = await broker.oauth.askAgain(registered, grant)
  if (more === undefined) return { outcome: 'usable', connection: settled }
  if (tellsAnotherAccount(entry, settled, more))
    return refuseAccount(broker, { ...answered, connection: settled })
  const { refreshToken: _, ...told } = more
  try {
    const complete = await store(broker, { ...answered, connection: settled }, told)
    return { outcome: 'usable', connection: complete ?? settled }
  } catch (error) {
    // what counts is stored; what was found out besides is asked for after the next refresh too
    broker.log.warn(
      { connection: connection.id, error },
      'what a provider told after a refresh was not stored',
    )
    return { outcome: 'usable', connection: settled }
  }
}

const AWAY = new BrokerError(
  'store_unavailable',
  'The token was refreshed, but the database cannot be used right now. Try again shortly.',
  { retryAfter: 5 },
)

/**
 * Stores what was received if the tokens that were used still stand, whoever holds the lease by now. A database that
 * is away is waited for: there is no other copy of these tokens. A commit whose end is not known is made again, which
 * is seen by what stands then.
 */
async function store(
  broker: Broker,
  { entry, connection, known, letGo }: AnsweredRefresh,
  grant: Omit<Grant, 'account'>,
): Promise<Connection | undefined> {
  const tokens = sealRefreshed(broker, entry, connection, grant, known)
  const audit = broker.audit.of(connection.projectId, {
    action: 'connection.refreshed',
    userId: connection.userId,
    providerId: entry.id,
    connectionId: connection.id,
    scopes: tokens.scopes,
    fingerprint: broker.audit.fingerprint(grant.accessToken),
  })
  const late = setTimeout(() => {
    broker.log.warn({ connection: connection.id }, 'refreshed tokens wait for the database')
    letGo(AWAY)
  }, WAIT_FOR_STORE_MS)
  try {
    return await settle(broker, connection, tokens, audit)
  } finally {
    clearTimeout(late)
  }
}

async function settle(
  broker: Broker,
  { id, generation }: Connection,
  tokens: RefreshedTokens,
  audit: AuditEntries,
): Promise<Connection | undefined> {
  const { connections } = broker.store
  const began = performance.now()
  for (let pauseMs = FIRST_STORE_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_STORE_PAUSE_MS)) {
    try {
      const settled = await connections.settleRefresh(id, generation, tokens, audit)
      if (settled !== undefined || pauseMs === FIRST_STORE_PAUSE_MS) return settled
      const stands = await connections.find(id)
      return stands?.access === tokens.access ? stands : undefined
    } catch (error) {
      const isAway = error instanceof BrokerError && error.code === 'store_unavailable'
      const isTooLate = performance.now() - began > LONGEST_STORE_MS || !broker.refreshes.mayFinish
      if (!isAway || isTooLate) {
        broker.log.error({ connection: id }, 'refreshed tokens could not be stored')
        throw error
      }
      await sleep(pauseMs)
    }
  }
}

/**
 * Other tokens stand by now, or none: what the store says counts. A late answer is given back only when its user has
 * deleted the connection and not approved anew since: many servers end a whole grant with one token, and that would
 * take along the newer tokens of the same account. Nobody has a copy of the ones that are dropped.
 */
async function yieldToOthers(
  broker: Broker,
  { entry, connection, registered, grant }: AnsweredRefresh,
): Promise<RefreshOutcome> {
  const { connections } = broker.store
  const current = await connections.find(connection.id)
  broker.metrics.refreshed(entry.id, current === undefined ? 'revoked_meanwhile' : 'superseded')
  if (current?.status === 'active') return { outcome: 'usable', connection: current }
  if (current === undefined) {
    const others = await connections.ofOwner(connection)
    if (!others.some((one) => one.account.id === connection.account.id))
      await broker.oauth.revoke(registered, grant)
  }
  return AUTHORIZATION_REQUIRED
}

/** Tokens of somebody else are kept for nobody (RFC 9700 section 4.14, OpenID Connect Core section 12.2). */
async function refuseAccount(
  broker: Broker,
  { entry, connection, registered, grant }: AnsweredRefresh,
): Promise<RefreshOutcome> {
  broker.log.error(
    { connection: connection.id, provider: entry.id },
    'a refresh answered with the tokens of another account',
  )
  broker.metrics.refreshed(entry.id, 'refused')
  await markUnusable(broker, entry, connection, 'account_changed')
  await broker.oauth.revoke(registered, grant)
  return AUTHORIZATION_REQUIRED
}

/** OpenID Connect Core section 12.2: `sub` stays the same. The user info of the first answer has it too (5.3.2). */
function isAnother(known: unknown, subject: string): boolean {
  return typeof known === 'string' && known !== subject
}

/** Only where the account was named by the same request before: other sources may call it otherwise. */
function tellsAnotherAccount({ provider }: ProviderEntry, connection: Connection, more: Grant): boolean {
  const { account } = connection
  const isComparable = provider.userInfoRequest?.triggers.onTokenGrant === true && more.userInfo !== undefined
  const isNamed = account.id !== '' && account.id !== connection.id && more.account.id !== ''
  return isComparable && isNamed && account.id !== more.account.id
}

/** The tokens of a refresh, with what is known from before where the answer does not say. */
function sealRefreshed(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  grant: Omit<Grant, 'account'>,
  known: AccessSecrets,
): RefreshedTokens {
  const extra = mergedExtra(known.extra, grant.extra)
  return sealGrant(broker, connection, {
    ...grant,
    userInfo: grant.userInfo ?? known.userInfo,
    ...(extra !== undefined && { extra }),
    scopes: grantedStill(broker, entry, connection, grant.scopes),
    expiresIn: grant.expiresIn ?? lifeOf(connection),
  })
}

/** RFC 6749 section 6: a refresh may take scopes away, never add any that the user did not grant. */
function grantedStill(
  broker: Broker,
  entry: ProviderEntry,
  { id, scopes: granted }: Connection,
  told: readonly string[] | undefined,
): readonly string[] {
  // where nobody ever said what was granted, this is the first to say
  if (told === undefined || granted.length === 0) return told ?? granted
  const covered = coveredScopes(granted, factsOf(entry.provider))
  const still = told.filter((scope) => covered.has(scope))
  if (still.length < told.length)
    broker.log.warn(
      { connection: id, provider: entry.id, more: told.length - still.length },
      'a refresh told of scopes that were not granted: they are left out',
    )
  return still
}

/** An answer without `expires_in` is taken to live as long as the one before. */
function lifeOf({ receivedAt, expiresAt }: Connection): EpochSeconds | undefined {
  return expiresAt === undefined ? undefined : expiresAt - receivedAt
}
