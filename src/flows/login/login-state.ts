import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { LoginSecrets } from '../../providers/login-client.ts'
import { carriedContext } from '../../store/protection.ts'
import { openCarried } from '../carried-seal.ts'

// The state of a login is kept in a sealed cookie of the browser, one for each login, named after the hash of `state`. So
// opening a link writes nothing to the database, any process can finish a login that another began, and several tabs do
// not disturb each other. The cookie is valid only for that `state`, together with the cookie of the browser that
// clicked, and until it expires.

/** How long a user may take to log in. */
export const LOGIN_SECONDS = 600

/** A login that has begun: the cookie that the browser keeps, and the hash that names it. */
export interface BegunLogin {
  readonly loginUrl: URL
  readonly stateHash: string
  readonly kept: Sealed
  readonly seconds: number
}

/** What a login is for: an authorization, a session of the browser, or a session of the console. */
export type LoginPurpose =
  | {
      readonly authorizationId: string
      /** Values that the user gave on the connect page, for the attempt. */
      readonly given?: Readonly<Record<string, string>>
    }
  | {
      readonly session: {
        readonly projectId: string
        /** The path of this server on which the browser goes on. */
        readonly returnTo: string
        /** The login begins a stored session of `/me`; absent: a session in a cookie. */
        readonly page?: 'me'
        /** The user logs in again to confirm a session, so the issuer must ask for the credentials. */
        readonly confirms?: true
      }
    }
  | {
      readonly console: {
        readonly returnTo: string
        /** The subject who confirms an existing session by logging in again. */
        readonly confirms?: string
      }
    }

interface SealedLogin {
  readonly browserHash: string
  readonly expiresAt: EpochSeconds
  /** The verifier of the user (`verifierName`): the login becomes invalid when the settings name another. */
  readonly verifier: string
  /** Set for a login at an issuer. */
  readonly secrets?: LoginSecrets | undefined
  /** The redirect URI of the authentication request, which the token request repeats. */
  readonly redirectUri?: string | undefined
}
export type LoginState = SealedLogin & LoginPurpose

/** Seals the state of a login that begins now in the browser `browserId`. */
export function sealLogin(
  broker: Broker,
  {
    state,
    browserId,
    verifier,
    purpose,
    secrets,
    redirectUri,
  }: {
    readonly state: string
    readonly browserId: string
    readonly verifier: string
    readonly purpose: LoginPurpose
    readonly secrets?: LoginSecrets
    readonly redirectUri?: string
  },
): Omit<BegunLogin, 'loginUrl'> {
  const stateHash = sha256(state)
  const login: LoginState = {
    ...purpose,
    secrets,
    redirectUri,
    browserHash: sha256(browserId),
    verifier,
    expiresAt: broker.now() + LOGIN_SECONDS,
  }
  return {
    stateHash,
    kept: broker.sealer.seal(
      JSON.stringify(login),
      carriedContext('kept', { rowId: stateHash, projectId: '' }),
    ),
    seconds: LOGIN_SECONDS,
  }
}

/** The login that this browser began with this state; `undefined` for one that is forged, expired or of another browser. */
export function openLogin(
  broker: Broker,
  {
    stateHash,
    browserId,
    verifier,
    kept: sealed,
  }: {
    readonly stateHash: string
    readonly browserId: string
    readonly verifier: string
    readonly kept: string | undefined
  },
): LoginState | undefined {
  const login = openCarried<LoginState>(
    broker.sealer,
    sealed,
    carriedContext('kept', { rowId: stateHash, projectId: '' }),
  )
  if (login === undefined) return undefined
  const isSameLogin = login.browserHash === sha256(browserId) && login.verifier === verifier
  return isSameLogin && broker.now() < login.expiresAt ? login : undefined
}
