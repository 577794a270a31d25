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

// The broker's own login (`GATEPASS_USER_VERIFIER=oidc:<issuer>`): after the click and before the provider, so that
// nobody consents in vain and there is no code yet that could be redeemed for the wrong user.
//
// What a login keeps between its two halves is kept by the browser: a sealed cookie of its own for each login, found
// by the hash of `state`. Opening a link writes nothing, any process can finish what another began, and several tabs
// do not disturb each other. The envelope opens only for that `state`, counts only beside the cookie of the browser
// that clicked, and runs out. It holds the code verifier and the nonce, so that a code of another login is worth
// nothing here; and it can be used once, because the issuer redeems a code once. What a login changes is that an
// attempt starts in that very browser, or that the authorization fails.

/** How long somebody may take to log in. */
const LOGIN_SECONDS = 600
/** A browser that comes back twice at once is answered twice, out of one token request. */
const REMEMBERED_MS = 60_000
const MAX_REMEMBERED = 1_000

/** A login on its way: what the browser keeps, under a name made of `stateHash`. */
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

/** Why a login ended without telling who the user is. The authorization stands: the user may click again. */
export const LOGIN_TROUBLES = ['cancelled', 'unavailable', 'failed'] as const
export type LoginTrouble = (typeof LOGIN_TROUBLES)[number]

export type LoginOutcome =
  /** No login of this browser has this `state`: made up, too late, or begun in another browser. */
  | { readonly outcome: 'unknown_login' }
  /** It is the user who was meant, and their attempt starts: once, however often the browser comes back. */
  | {
      readonly outcome: 'logged_in'
      readonly authorization: Authorization
      readonly proof: LoginProof
      readonly start: () => Promise<StartedAttempt>
    }
  | { readonly outcome: 'trouble'; readonly trouble: LoginTrouble; readonly authorization: Authorization }
  /** Where the authorization stands: it has ended before, or just now because another user logged in. */
  | { readonly outcome: 'stands'; readonly authorization: Authorization }

/** Sends the user to log in (OpenID Connect Core section 3.1.2.1). Throws `ProviderRefusal` while the issuer is out of reach. */
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

/** An authentication response as a browser brought it. */
export interface ReceivedLogin {
  readonly query: URLSearchParams
  readonly browserId: string | undefined
  /** What the browser keeps for the login with this `state`. */
  readonly kept: string | undefined
}

/**
 * The state is looked at before anything else, then the browser, the time, the issuer, and last who it is; when it is
 * the right user, they go on to the provider at once. Throws like `startAttempt`.
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
  started.catch(() => {}) // told to whoever calls `start`
  return { outcome: 'logged_in', authorization, proof, start: () => started }
}

const TROUBLES: Readonly<Record<string, LoginTrouble>> = {
  access_denied: 'cancelled',
  provider_unavailable: 'unavailable',
}

/** Ends the authorization, as a caller's confirmation of another user does: its link is in the wrong hands. */
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

/** No provider's: an answer of one of them never counts as a login, nor the other way round (RFC 9700 section 4.4). */
export function loginRedirectUri(publicUrl: URL): string {
  return new URL('/login/callback', publicUrl).href
}

function openKept(broker: Broker, stateHash: string, kept: string | undefined): KeptLogin | undefined {
  if (kept === undefined) return undefined
  try {
    // made by beginLogin, in this shape, if it opens at all
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
