import { LRUCache } from 'lru-cache'
import type { Broker, OidcVerifier } from '../broker.ts'
import { type Authorization, at, isSettled } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { randomToken, sha256 } from '../domain/ids.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { LoginRegistration, LoginSecrets } from '../providers/login-client.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { saying, wordsOf } from '../providers/provider-words.ts'
import { type SealedPlace, UnsealError } from '../store/seal.ts'
import { failureAudit, recordRefusal } from './authorization-audit.ts'
import { mayComeFrom, only, reasonOf, sanitized } from './authorization-response.ts'
import { type LoginProof, proveLogin } from './login-proof.ts'
import { type StartedAttempt, startAttempt } from './start-attempt.ts'

// The broker's own login (`GATEPASS_USER_VERIFIER=oidc:<issuer>`). It comes after the click and before the provider, so
// that the wrong user does not consent in vain and there is no code yet that could be redeemed for them.
//
// The state of a login is kept in a sealed cookie of the browser, one for each login, named after the hash of `state`. So
// opening a link writes nothing to the database, any process can finish a login that another began, and several tabs do
// not disturb each other. The cookie is valid only for that `state`, together with the cookie of the browser that
// clicked, and until it expires. It holds the code verifier and the nonce, so the code of another login fails; and it can
// be used once, since the issuer redeems a code once. A login either starts an attempt in that browser or ends the
// authorization as failed.

/** How long a user may take to log in. */
const LOGIN_SECONDS = 600
/** How long the outcome of a login is kept for a browser that sends the response twice. */
const REMEMBERED_MS = 60_000
const MAX_REMEMBERED = 1_000

/** A login that has begun: the cookie that the browser keeps, and the hash that names it. */
export interface BegunLogin {
  readonly loginUrl: URL
  readonly stateHash: string
  readonly kept: Sealed
  readonly seconds: number
}

interface KeptLogin extends LoginSecrets {
  readonly authorizationId: string
  readonly browserHash: string
  readonly issuer: string
  readonly expiresAt: EpochSeconds
}

/** Why a login ended without identifying the user. The authorization stays pending: the user may click again. */
export const LOGIN_TROUBLES = ['cancelled', 'unavailable', 'failed'] as const
export type LoginTrouble = (typeof LOGIN_TROUBLES)[number]

export type LoginOutcome =
  /** No login of this browser has this `state`: it is forged, expired, or of another browser. */
  | { readonly outcome: 'unknown_login' }
  /** The authorization's user has logged in, and the attempt starts; once, even if the browser repeats the response. */
  | {
      readonly outcome: 'logged_in'
      readonly authorization: Authorization
      readonly proof: LoginProof
      readonly start: () => Promise<StartedAttempt>
    }
  | { readonly outcome: 'trouble'; readonly trouble: LoginTrouble; readonly authorization: Authorization }
  /** The authorization has ended: before this login, or now because another user logged in. */
  | { readonly outcome: 'stands'; readonly authorization: Authorization }

/** Sends the user to log in (OpenID Connect Core section 3.1.2.1). Throws `ProviderRefusal` when the issuer cannot be reached. */
export async function beginLogin(
  broker: Broker,
  verifier: OidcVerifier,
  authorization: Authorization,
  browserId: string,
): Promise<BegunLogin> {
  const { sealer, now } = broker
  const registration = await loginRegistration(broker, verifier)
  const state = randomToken()
  const stateHash = sha256(state)
  const secrets = broker.login.newSecrets()
  const kept: KeptLogin = {
    ...secrets,
    authorizationId: authorization.id,
    browserHash: sha256(browserId),
    issuer: verifier.issuer,
    expiresAt: now() + LOGIN_SECONDS,
  }
  return {
    loginUrl: await broker.login.authorizationUrl(registration, { state, secrets, scopes: verifier.scopes }),
    stateHash,
    kept: sealer.seal(JSON.stringify(kept), keptPlace(stateHash)),
    seconds: LOGIN_SECONDS,
  }
}

/** An authentication response, received from a browser. */
export interface ReceivedLogin {
  readonly query: URLSearchParams
  readonly browserId: string | undefined
  /** The browser's sealed cookie for the login with this `state`. */
  readonly kept: string | undefined
}

/**
 * Finishes a login. Checks the state, the browser, the expiry, the issuer and the user, in this order; the right user is
 * sent on to the provider at once. Throws like `startAttempt`.
 */
export async function finishLogin(
  broker: Broker,
  verifier: OidcVerifier,
  { query, browserId, kept: sealed }: ReceivedLogin,
): Promise<LoginOutcome> {
  const state = only(query, 'state')
  if (state === undefined || browserId === undefined) return { outcome: 'unknown_login' }
  const stateHash = sha256(state)
  const kept = openKept(broker, stateHash, sealed)
  if (
    kept === undefined ||
    kept.browserHash !== sha256(browserId) ||
    kept.issuer !== verifier.issuer ||
    broker.now() >= kept.expiresAt
  )
    return { outcome: 'unknown_login' }
  return once(broker, stateHash, () => identify(broker, verifier, { query, browserId, kept }))
}

async function identify(
  broker: Broker,
  verifier: OidcVerifier,
  { query, browserId, kept }: { query: URLSearchParams; browserId: string; kept: KeptLogin },
): Promise<LoginOutcome> {
  const { store, now, log } = broker
  const found = await store.authorizations.find(kept.authorizationId)
  if (found === undefined) return { outcome: 'unknown_login' }
  const authorization = at(found, now())
  if (isSettled(authorization)) return { outcome: 'stands', authorization }
  const authorizationId = authorization.id
  const inTrouble = async (trouble: LoginTrouble, why: string): Promise<LoginOutcome> => {
    log.warn({ authorizationId, issuer: verifier.issuer, trouble, why }, 'a user could not log in')
    await recordRefusal(broker, authorization, `login_${trouble}`, why)
    return { outcome: 'trouble', trouble, authorization }
  }

  try {
    const registration = await loginRegistration(broker, verifier)
    const announcesIss = registration.server.authorization_response_iss_parameter_supported
    if (!mayComeFrom(query, { issuer: verifier.issuer, announcesIss }))
      return await inTrouble('failed', 'the answer does not come from the issuer')
    const error = query.get('error')
    if (error !== null) {
      const secrets = [verifier.client.clientSecret, kept.codeVerifier, kept.nonce, query.get('state')]
      const words = wordsOf(query.get('error_description'), secrets)
      const why = `${sanitized(error)}.${saying(verifier.issuer, words)}`
      return await inTrouble(TROUBLES[reasonOf(error)] ?? 'failed', why)
    }
    const needed = verifier.claim === 'email' ? ['email', 'email_verified'] : [verifier.claim]
    const claims = await broker.login.identify(registration, query, kept, needed)
    const user = claims[verifier.claim]
    if (typeof user !== 'string' || user === '')
      return await inTrouble(
        'failed',
        `there is no claim "${verifier.claim}" that is text: see GATEPASS_OIDC_SCOPES`,
      )
    if (verifier.claim === 'email' && claims.email_verified !== true)
      return await inTrouble('failed', 'the issuer does not vouch for the email address (email_verified)')
    if (user !== authorization.userId) return await anotherUser(broker, verifier, authorization)
  } catch (error) {
    if (error instanceof ProviderRefusal) return inTrouble(TROUBLES[error.reason] ?? 'failed', error.message)
    throw error
  }
  const proof = proveLogin(broker, verifier, authorization, browserId)
  const started = startAttempt(broker, authorization, { browserId, loginProof: proof.value })
  started.catch(() => {}) // the caller of `start` gets the error
  return { outcome: 'logged_in', authorization, proof, start: () => started }
}

const TROUBLES: Readonly<Record<string, LoginTrouble>> = {
  access_denied: 'cancelled',
  provider_unavailable: 'unavailable',
}

/** Ends the authorization, as a caller's confirmation of another user does, since another user has its link. */
async function anotherUser(
  broker: Broker,
  { claim, issuer }: OidcVerifier,
  authorization: Authorization,
): Promise<LoginOutcome> {
  const { store, log, now } = broker
  const { id } = authorization
  log.warn(
    { authorizationId: id, issuer, claim, reason: 'user_mismatch' },
    'another user logged in than the one who was meant; if it is always so, the claim is not what callers use as user_id',
  )
  const message =
    'Another user logged in than the one who was asked. Ask for a new link, and open it as the right user.'
  const audit = failureAudit(broker, authorization, 'user_mismatch')
  const failed = await store.authorizations.fail(id, 'user_mismatch', message, now(), undefined, audit)
  const current = failed ?? (await store.authorizations.find(id)) ?? authorization
  return { outcome: 'stands', authorization: at(current, now()) }
}

async function loginRegistration(
  broker: Broker,
  { issuer, client }: OidcVerifier,
): Promise<LoginRegistration> {
  const server = await broker.discover(issuer)
  if (server.jwks_uri === undefined)
    throw new ProviderRefusal(
      'provider_bad_response',
      `${issuer} names no keys for its ID tokens (jwks_uri).`,
    )
  return { server, client, redirectUri: loginRedirectUri(broker.settings.publicUrl) }
}

/** Differs from every provider's, so that a provider's response never counts as a login (RFC 9700 section 4.4). */
export function loginRedirectUri(publicUrl: URL): string {
  return new URL('/login/callback', publicUrl).href
}

function openKept(broker: Broker, stateHash: string, kept: string | undefined): KeptLogin | undefined {
  if (kept === undefined) return undefined
  try {
    // only beginLogin seals this cookie, in this shape
    return JSON.parse(broker.sealer.open(kept as Sealed, keptPlace(stateHash))) as KeptLogin
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

function keptPlace(stateHash: string): SealedPlace {
  return { table: 'logins', column: 'kept', rowId: stateHash, projectId: '' }
}

const recentLogins = new WeakMap<Broker, LRUCache<string, Promise<LoginOutcome>>>()

/** A browser that sends the same response twice, at once or soon after, gets the first outcome both times. */
function once(broker: Broker, stateHash: string, run: () => Promise<LoginOutcome>): Promise<LoginOutcome> {
  const logins = recentLogins.get(broker) ?? new LRUCache({ max: MAX_REMEMBERED, ttl: REMEMBERED_MS })
  recentLogins.set(broker, logins)
  const known = logins.get(stateHash)
  if (known !== undefined) return known
  const outcome = run()
  logins.set(stateHash, outcome)
  return outcome
}
