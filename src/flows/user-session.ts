import type { Broker, Verifier } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { sha256 } from '../domain/ids.ts'
import { beginPageSession, openPageSession } from './page-session.ts'

// The session of a user who has logged in for the connect page or for an MCP client. It is a row, as the sessions of
// `/me` are: after a log-out, or once the user has deleted everything, a copy of the cookie opens nothing.

/** The logged-in user of a browser. */
export interface UserSession {
  readonly userId: string
  readonly loggedInAt: EpochSeconds
}

/** A user whom the verifier has identified. */
export interface IdentifiedUser {
  /** The project whose caller confirmed the user. */
  readonly projectId: string
  readonly userId: string
  /** The origin to which the browser came back from the login; absent: the public URL. */
  readonly at?: URL | undefined
}

/** Starts a session; returns the token for the cookie. `replaces`: the token that the cookie had until now. */
export async function beginSession(
  broker: Broker,
  { projectId, userId, at }: IdentifiedUser,
  replaces: string | undefined,
): Promise<{ readonly token: string; readonly seconds: number }> {
  const { settings, now } = broker
  const isElsewhere = at !== undefined && at.origin !== settings.publicUrl.origin
  return beginPageSession(broker, {
    kind: 'user',
    projectId,
    subject: userId,
    may: [],
    authority: verifierName(settings.verifier),
    authTime: now(),
    ...(isElsewhere && { origin: at.origin }),
    replaces,
  })
}

/**
 * The user of the session of the cookie's token. A caller's page verifies the users of its own project, so such a session
 * is valid only in that project; an issuer's users are the same in every project. A session is valid only at the host of
 * its login, because those who run the host of a project's domain can read the cookies there.
 *
 * @param at the site to which the request was sent.
 */
export async function openSession(
  broker: Broker,
  projectId: string,
  token: string | undefined,
  at: URL,
): Promise<UserSession | undefined> {
  const { verifier, publicUrl } = broker.settings
  const session = await openPageSession(broker, 'user', token, { isUse: false })
  if (session === undefined || (session.origin ?? publicUrl.origin) !== at.origin) return undefined
  if (verifier.kind !== 'oidc' && session.projectId !== projectId) return undefined
  if (session.authority !== verifierName(verifier)) return undefined
  return { userId: session.subject, loggedInAt: session.authTime ?? session.row.createdAt }
}

/** Ends all sessions of a user, in every project where an issuer identified the user. */
export async function endSessionsOf(
  { store, settings }: Pick<Broker, 'store' | 'settings'>,
  { projectId, userId }: IdentifiedUser,
): Promise<void> {
  await store.pageSessions.endOf('user', userId, settings.verifier.kind === 'oidc' ? undefined : projectId)
}

/** A name of the verifier in the settings. Sessions, logins and approvals are bound to it: they become invalid when the verifier or its claim changes. */
export function verifierName(verifier: Verifier): string {
  switch (verifier.kind) {
    case 'open':
      return 'open'
    case 'caller':
      return sha256(JSON.stringify(['caller', verifier.url.href]))
    case 'oidc':
      return sha256(JSON.stringify([verifier.issuer, verifier.client.clientId, verifier.claim]))
  }
}
