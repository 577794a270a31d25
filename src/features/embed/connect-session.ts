import type { Broker } from '../../broker.ts'
import { type Authorization, authorizationAt, isSettled } from '../../domain/authorization.ts'
import { BrokerError } from '../../domain/errors.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import { acquireConnections } from '../../flows/acquire-tokens.ts'
import { failureAudit } from '../../flows/authorization-audit.ts'
import { awaitAuthorization } from '../../flows/await-authorization.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { Openers } from '../../services/openers.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Store } from '../../store/store.ts'
import { type ConnectSession, isLive, MAX_RESTARTS, OPENER_SECONDS, type OpenedIn } from './domain.ts'

// The actions that the token of a connect session allows: to open, read, cancel and restart one authorization, from the
// pages of one origin. `begin-connect-session.ts` makes the session.

/** A session with its latest authorization, which is absent if connections covered the need already. */
export interface CurrentSession {
  readonly session: ConnectSession
  readonly authorization?: Authorization
}

export type FoundSession =
  | { readonly outcome: 'unknown' }
  /** It has expired, or its authorization ended some time ago. */
  | { readonly outcome: 'over'; readonly session: ConnectSession }
  | ({ readonly outcome: 'live' } & CurrentSession)

const TOKEN = /^gps_[\w-]{43}$/

/** Looks up the session of a token. */
export async function findConnectSession(broker: Broker, token: string): Promise<FoundSession> {
  const { store, now } = broker
  const session = TOKEN.test(token) ? await store.connectSessions.findByToken(sha256(token)) : undefined
  if (session === undefined) return { outcome: 'unknown' }
  const current = await withAuthorization(broker, session)
  return isLive(session, settledAt(current), now())
    ? { outcome: 'live', ...current }
    : { outcome: 'over', session }
}

async function withAuthorization(broker: Broker, session: ConnectSession): Promise<CurrentSession> {
  const found = await broker.store.authorizations.find(firstIdOf(session))
  return found === undefined ? { session } : { session, authorization: authorizationAt(found, broker.now()) }
}

function settledAt({ session, authorization }: CurrentSession): number | undefined {
  if (authorization === undefined)
    // the authorization was deleted with all data of the user, or connections covered the need and there was none
    return session.authorizationId.startsWith('auth_') ? 0 : session.createdAt
  return isSettled(authorization) ? authorization.completedAt : undefined
}

/** Waits until the authorization has ended, like `awaitAuthorization`. */
export async function awaitConnectSession(
  broker: Broker,
  { session, authorization }: CurrentSession,
  wait: Parameters<typeof awaitAuthorization>[3],
): Promise<CurrentSession> {
  if (authorization === undefined) return { session }
  const { projectId, id } = authorization
  return { session, authorization: await awaitAuthorization(broker, projectId, id, wait) }
}

/**
 * Whether a form with the session's token may open the session from a page of this origin. A page that hides its referrer
 * sends the origin `null`, and a page of another origin can do so too. So `null` is accepted only if a verifier checks who
 * the user is.
 */
export function mayOpenFrom(
  { settings }: Pick<Broker, 'settings'>,
  { origin: allowed }: ConnectSession,
  origin: string | undefined,
): boolean {
  return origin === allowed || (origin === 'null' && settings.verifier.kind !== 'open')
}

/** Binds the session to the browser that gets the returned cookie. A click in any other browser then has no effect. */
export async function openConnectSession(
  broker: Broker,
  session: ConnectSession,
  openedIn: OpenedIn,
): Promise<string> {
  const opener = randomToken()
  const audit = sessionAudit(broker, session, 'opened')
  await broker.store.connectSessions.open(session.id, { openerHash: sha256(opener), openedIn }, audit)
  return opener
}

/** The audit entry for an event of a session. */
export function sessionAudit(
  broker: Broker,
  session: ConnectSession,
  what: 'created' | 'opened' | 'restarted' | 'cancelled',
): AuditEntries {
  const { id, projectId, userId } = session
  const first = firstIdOf(session)
  const began = first.startsWith('auth_') ? { authorizationId: first } : { connectionId: first }
  return broker.audit.of(projectId, { action: `connect_session.${what}`, userId, subject: id, ...began })
}

/** The id of the session's latest authorization, or of the first of the connections that covered the need. */
export function firstIdOf({ authorizationId }: ConnectSession): string {
  return authorizationId.split(' ', 1)[0] ?? ''
}

/** The pages that open authorizations by their connect session, for the connect page. */
export function createOpeners({ connectSessions }: Pick<Store, 'connectSessions'>): Openers {
  return {
    // so a forwarded link of a session ends in `wrong_browser`, even if no verifier checks users
    async openedIn({ connectSessionId }, openerOf) {
      const opener = connectSessionId === undefined ? undefined : openerOf(connectSessionId)
      if (connectSessionId === undefined || opener === undefined) return undefined
      const session = await connectSessions.find(connectSessionId)
      return session?.openerHash === sha256(opener) ? (session.openedIn ?? 'tab') : undefined
    },
    originOf: async (id) => (await connectSessions.find(id))?.origin,
  }
}

const CANCELLED = 'It was canceled in your application. To connect, start again there.'

/** Ends the authorization if it has not ended. */
export async function cancelConnectSession(broker: Broker, current: CurrentSession): Promise<CurrentSession> {
  const { session, authorization } = current
  if (authorization === undefined || isSettled(authorization)) return current
  const { store, now } = broker
  const failure = failureAudit(broker, authorization, 'access_denied')
  const { lines } = sessionAudit(broker, session, 'cancelled')
  const audit = { ...failure, lines: [...lines, ...failure.lines] }
  await store.authorizations.fail(authorization.id, 'access_denied', CANCELLED, now(), undefined, audit)
  return withAuthorization(broker, session)
}

/**
 * Begins another authorization for the consents that the failed one lacks. Changes nothing if it is pending or
 * completed. Throws `invalid_request` after `MAX_RESTARTS`, and the errors of `acquireTokens`.
 */
export async function restartConnectSession(
  broker: Broker,
  current: CurrentSession,
): Promise<CurrentSession> {
  const { session, authorization } = current
  if (authorization?.status !== 'failed') return current
  if (session.restarts >= MAX_RESTARTS)
    throw new BrokerError(
      'invalid_request',
      `This session has begun again ${MAX_RESTARTS} times. Make a new one: POST /v1/connect_sessions.`,
    )
  const { projectId, userId, requester, account, nextUri, userDisplay, lang, steps } = authorization
  const providers = []
  const approved = approvedBefore(session)
  for (const { providerUid, connectionId, ...step } of steps) {
    if (connectionId !== undefined) {
      approved.push(connectionId)
      continue
    }
    const entry = await findProviderByUid(broker, projectId, providerUid)
    if (entry === undefined)
      throw new BrokerError('provider_not_found', 'The provider was removed meanwhile.')
    const { scopes, account: own, given } = step
    providers.push({
      entry,
      scopes,
      isAskedAnyway: true,
      account: own,
      given,
    })
  }
  const begun = await acquireConnections(broker, {
    projectId,
    userId,
    providers,
    connectSessionId: session.id,
    ...withoutUndefined({ requester, account, nextUri, userDisplay, lang }),
  })
  if (begun.outcome === 'authorization_required') {
    const after = { authorizationId: [begun.authorization.id, ...approved].join(' ') }
    const audit = sessionAudit(broker, { ...session, ...after }, 'restarted')
    await broker.store.connectSessions.restart(session, after, audit)
  }
  return withAuthorization(broker, (await broker.store.connectSessions.find(session.id)) ?? session)
}

/** The connections of a completed session, in the order of the providers. */
export async function connectionsOf(
  broker: Broker,
  { session, authorization }: CurrentSession,
): Promise<readonly { readonly id: string; readonly providerId: string }[]> {
  const ids = authorization === undefined ? session.authorizationId.split(' ') : approvedBefore(session)
  const found = await Promise.all(ids.map((id) => broker.store.connections.find(id)))
  const steps = found
    .flatMap((connection) => connection ?? [])
    .map(({ id, providerUid }) => ({ providerUid, connectionId: id }))
  return withProviderIds(broker, session.projectId, [...steps, ...(authorization?.steps ?? [])])
}

/** The ids of the connections that were approved before the session's latest authorization began. */
function approvedBefore({ authorizationId }: ConnectSession): string[] {
  return authorizationId.split(' ').slice(1)
}

async function withProviderIds(
  broker: Broker,
  projectId: string,
  steps: readonly { readonly providerUid: string; readonly connectionId?: string }[],
) {
  const connections = []
  for (const { providerUid, connectionId } of steps) {
    if (connectionId === undefined) continue
    const entry = await findProviderByUid(broker, projectId, providerUid)
    connections.push({ id: connectionId, providerId: entry?.id ?? providerUid })
  }
  return connections
}

/** Deletes sessions that no browser can use any more. */
export function sweepConnectSessions({ store, now, settings }: Broker): Promise<unknown> {
  return store.connectSessions.sweep(now() - Math.max(OPENER_SECONDS, settings.authorizationTtlSeconds))
}
