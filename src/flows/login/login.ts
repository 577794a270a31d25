import { LRUCache } from 'lru-cache'
import type { Broker, OidcVerifier } from '../../broker.ts'
import { type Authorization, authorizationAt, isSettled } from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import type { OpenerOf } from '../../services/openers.ts'
import { failAsAnotherUser } from '../another-user.ts'
import { recordRefusal } from '../authorization-audit.ts'
import { only } from '../authorization-response.ts'
import {
  authTimeOf,
  identifyUser,
  type LoginTrouble,
  loginRedirectUri,
  loginRegistration,
} from '../identify-user.ts'
import { startAttempt } from '../start-attempt.ts'
import type { StartedAttempt } from '../started-attempt.ts'
import { type IdentifiedUser, verifierName } from '../user-session.ts'
import { type LoginProof, proveLogin } from './login-proof.ts'
import { type BegunLogin, type LoginPurpose, type LoginState, openLogin, sealLogin } from './login-state.ts'

// The broker's own login (`GATEPASS_USER_VERIFIER=oidc:<issuer>`). For an authorization it comes after the click and
// before the provider, so that a wrong user is detected before a consent, and before there is a code to redeem. The login's
// cookie (`login-state.ts`) holds the code verifier and the nonce, so the code of another login fails. A login works once,
// since the issuer redeems a code once: it either starts an attempt in that browser or ends the authorization as failed.

/** How long the outcome of a login is kept for a browser that sends the response twice. */
const REMEMBERED_MS = 60_000
const MAX_REMEMBERED = 1_000

export type LoginOutcome =
  /** No login of this browser has this `state`: it is forged, expired, or of another browser. */
  | { readonly outcome: 'unknown_login' }
  /** The authorization's user has logged in, and the attempt starts; once, even if the browser repeats the response. */
  | {
      readonly outcome: 'logged_in'
      readonly authorization: Authorization
      readonly proof: LoginProof
      /** Replaces the browser's session, which may belong to another user. */
      readonly session: IdentifiedUser
      readonly start: () => Promise<StartedAttempt>
    }
  | { readonly outcome: 'trouble'; readonly trouble: LoginTrouble; readonly authorization: Authorization }
  /** The authorization has ended: before this login, or now because another user logged in. */
  | { readonly outcome: 'current'; readonly authorization: Authorization }
  | PageLogin
  /** A login for a session in a cookie. */
  | { readonly outcome: 'session'; readonly session: IdentifiedUser; readonly returnTo: string }
  | { readonly outcome: 'session_trouble'; readonly trouble: LoginTrouble; readonly returnTo: string }

/** A login for a stored session of `/me`. */
export interface PageLogin {
  readonly outcome: 'page_session'
  readonly projectId: string
  readonly userId: string
  readonly authTime: EpochSeconds | undefined
  readonly returnTo: string
}

/**
 * Sends the user to log in (OpenID Connect Core section 3.1.2.1). Throws `ProviderRefusal` when the issuer cannot be
 * reached.
 *
 * @param how.prompt `login`: the issuer asks for the credentials even if it has a session.
 * @param how.maxAge in seconds: the issuer asks again if the user logged in longer ago, and says when that was.
 */
export async function beginLogin(
  broker: Broker,
  verifier: OidcVerifier,
  purpose: LoginPurpose,
  {
    browserId,
    at,
    prompt,
    maxAge,
  }: {
    readonly browserId: string
    /** The origin at which the browser is. It comes back there, because its cookies are valid for that host only. */
    readonly at: URL
    readonly prompt?: 'login' | undefined
    readonly maxAge?: number | undefined
  },
): Promise<BegunLogin> {
  const redirectUri = loginRedirectUri(at)
  const registration = await loginRegistration(broker, verifier, redirectUri)
  const state = randomToken()
  const secrets = broker.login.newSecrets()
  const { scopes } = verifier
  return {
    ...sealLogin(broker, {
      state,
      browserId,
      verifier: verifierName(verifier),
      purpose,
      secrets,
      redirectUri,
    }),
    loginUrl: await broker.login.authorizationUrl(registration, {
      state,
      secrets,
      scopes,
      ...(prompt && { prompt }),
      maxAge,
    }),
  }
}

/** An authentication response, received from a browser. */
export interface ReceivedLogin {
  readonly query: URLSearchParams
  readonly browserId: string | undefined
  /** The browser's sealed cookie for the login with this `state`. */
  readonly kept: string | undefined
  readonly openerOf: OpenerOf
}

/**
 * Finishes a login. Checks the state, the browser, the expiry, the issuer and the user, in this order; the right user is
 * sent on to the provider at once. Throws like `startAttempt`.
 */
export async function finishLogin(
  broker: Broker,
  verifier: OidcVerifier,
  { query, browserId, kept: sealed, openerOf }: ReceivedLogin,
): Promise<LoginOutcome> {
  const state = only(query, 'state')
  if (state === undefined || browserId === undefined) return { outcome: 'unknown_login' }
  const stateHash = sha256(state)
  const kept = openLogin(broker, { stateHash, browserId, verifier: verifierName(verifier), kept: sealed })
  if (kept?.secrets === undefined || 'console' in kept) return { outcome: 'unknown_login' }
  const { secrets, redirectUri } = kept
  const received = { query, browserId, secrets, redirectUri, openerOf }
  return once(broker, stateHash, () =>
    'session' in kept
      ? finishForSession(broker, verifier, kept.session, received)
      : finishForAuthorization(broker, verifier, kept, received),
  )
}

interface Received {
  readonly query: URLSearchParams
  readonly browserId: string
  readonly secrets: NonNullable<LoginState['secrets']>
  readonly redirectUri: string | undefined
  readonly openerOf: OpenerOf
}

async function finishForAuthorization(
  broker: Broker,
  verifier: OidcVerifier,
  { authorizationId, given }: Extract<LoginPurpose, { readonly authorizationId: string }>,
  received: Received,
): Promise<LoginOutcome> {
  const { store, now, log } = broker
  const found = await store.authorizations.find(authorizationId)
  if (found === undefined) return { outcome: 'unknown_login' }
  const authorization = authorizationAt(found, now())
  if (isSettled(authorization)) return { outcome: 'current', authorization }
  const identified = await identifyUser(broker, verifier, received)
  if ('trouble' in identified) {
    const { trouble, why } = identified
    log.warn({ authorizationId, issuer: verifier.issuer, trouble, why }, 'a user could not log in')
    await recordRefusal(broker, authorization, `login_${trouble}`, why)
    return { outcome: 'trouble', trouble, authorization }
  }
  const user = identified.userId
  if (user !== authorization.userId) return await anotherUser(broker, verifier, authorization)
  const { browserId } = received
  const proof = proveLogin(broker, verifier, authorization, browserId)
  const started = startAttempt(broker, authorization, {
    browserId,
    loginProof: proof.value,
    given,
    openerOf: received.openerOf,
  })
  started.catch(() => {}) // the caller of `start` gets the error
  const session = { projectId: authorization.projectId, userId: user, at: siteOfLogin(received) }
  return { outcome: 'logged_in', authorization, proof, session, start: () => started }
}

/** The origin at which the login began, from the sealed redirect URI: the client chooses the `Host` of this request. */
function siteOfLogin({ redirectUri }: Received): URL | undefined {
  return redirectUri === undefined ? undefined : new URL(redirectUri)
}

async function finishForSession(
  broker: Broker,
  verifier: OidcVerifier,
  { projectId, returnTo, page, confirms }: Extract<LoginPurpose, { readonly session: unknown }>['session'],
  received: Received,
): Promise<LoginOutcome> {
  const identified = await identifyUser(broker, verifier, received)
  if ('trouble' in identified) {
    const { trouble, why } = identified
    broker.log.warn({ issuer: verifier.issuer, trouble, why }, 'a user could not log in')
    return { outcome: 'session_trouble', trouble, returnTo }
  }
  const { userId, claims } = identified
  if (page === undefined)
    return {
      outcome: 'session',
      session: { projectId, userId, at: siteOfLogin(received) },
      returnTo,
    }
  const authTime = authTimeOf(claims, broker.now(), { wasAsked: confirms === true })
  return { outcome: 'page_session', projectId, userId, authTime, returnTo }
}

/** Ends the authorization, because another user logged in than the one for whom it was begun. */
async function anotherUser(
  broker: Broker,
  { claim, issuer }: OidcVerifier,
  authorization: Authorization,
): Promise<LoginOutcome> {
  broker.log.warn(
    { authorizationId: authorization.id, issuer, claim, reason: 'user_mismatch' },
    'the user who logged in is not the user of the authorization; if this happens at every login, the claim is not what callers send as user_id',
  )
  return { outcome: 'current', authorization: await failAsAnotherUser(broker, authorization) }
}

const recentLogins = new WeakMap<Broker, LRUCache<string, Promise<LoginOutcome>>>()

/**
 * A browser that sends the same response twice, at once or soon after, gets the first outcome both times. After an error
 * the response is processed again; a code that was redeemed before is refused by the issuer then.
 */
function once(broker: Broker, stateHash: string, run: () => Promise<LoginOutcome>): Promise<LoginOutcome> {
  const logins = recentLogins.get(broker) ?? new LRUCache({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS })
  recentLogins.set(broker, logins)
  const known = logins.get(stateHash)
  if (known !== undefined) return known
  const outcome = run()
  logins.set(stateHash, outcome)
  outcome.catch(() => logins.delete(stateHash))
  return outcome
}
