import type { Broker, Verifier } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { sha256 } from '../domain/ids.ts'
import type { Sealed } from '../domain/sealed.ts'
import { CARRIED_TABLE, type SealedPlace } from '../store/seal.ts'
import { openCarried } from './carried-seal.ts'

/** How long a login is valid in a browser. */
const SESSION_SECONDS = 8 * 3600

/** The logged-in user of a browser. */
export interface UserSession {
  readonly userId: string
  readonly loggedInAt: EpochSeconds
}

/** The sealed cookie of a session. */
export interface SessionCookie {
  readonly value: Sealed
  readonly seconds: number
}

interface Kept extends UserSession {
  /** The project whose caller confirmed the user. */
  readonly projectId: string
  readonly verifier: string
  readonly expiresAt: EpochSeconds
  /** Where the user logged in; absent: at the public URL. */
  readonly origin?: string
}

/**
 * Starts a session. Called after the verifier has identified the user.
 *
 * @param at the origin to which the browser came back from the login; default: the public URL.
 */
export function beginSession(
  { sealer, settings, now }: Broker,
  projectId: string,
  userId: string,
  at: URL = settings.publicUrl,
): SessionCookie {
  const kept: Kept = {
    userId,
    projectId,
    verifier: verifierName(settings.verifier),
    loggedInAt: now(),
    expiresAt: now() + SESSION_SECONDS,
    ...(at.origin !== settings.publicUrl.origin && { origin: at.origin }),
  }
  return { value: sealer.seal(JSON.stringify(kept), SESSION_PLACE), seconds: SESSION_SECONDS }
}

/**
 * The user of the session in the cookie. A caller's page verifies the users of its own project, so such a session is valid
 * only in that project; an issuer's users are the same in every project. A session is valid only at the host of its login,
 * because those who run the host of a project's domain can read the cookies there.
 *
 * @param at the site to which the request was sent.
 */
export function openSession(
  { sealer, settings, now }: Broker,
  projectId: string,
  cookie: string | undefined,
  at: URL,
): UserSession | undefined {
  const kept = openCarried<Kept>(sealer, cookie, SESSION_PLACE)
  if (kept === undefined || (kept.origin ?? settings.publicUrl.origin) !== at.origin) return undefined
  const isValidHere = settings.verifier.kind === 'oidc' || kept.projectId === projectId
  if (!isValidHere || kept.verifier !== verifierName(settings.verifier) || now() >= kept.expiresAt)
    return undefined
  return { userId: kept.userId, loggedInAt: kept.loggedInAt }
}

/** A name of the verifier in the settings. Cookies are bound to it: they become invalid when the verifier or its claim changes. */
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

const SESSION_PLACE: SealedPlace = {
  table: CARRIED_TABLE,
  column: 'session',
  rowId: 'session',
  projectId: '',
}
