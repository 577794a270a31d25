import { withoutUndefined } from '../sdk/without-undefined.ts'
import type { EpochSeconds } from './clock.ts'
import type { ProofKey } from './connection.ts'
import type { Sealed } from './sealed.ts'

/**
 * One run of "send the user through consent", possibly at several providers in turn:
 *
 *   pending --click--> pending (attempt) --callback------------------> exchanging --> completed
 *                        |                                                 |  |  `----> pending (next step)
 *                        `--callback--> confirming --vouch--> confirmed ---'  |-------> failed
 *                                                                             `-------> pending (choice)
 *
 * While the user chooses a tenant, the grant waits as `granted` in the pending authorization.
 *
 * With a device code (RFC 8628) no callback comes. The attempt is polled, `granted` waits in the pending authorization, and
 * goes on as a callback's response does once the user has confirmed the account.
 *
 * Expiry is no state: `expiresAt` is compared with the clock. After `deadline` a held response can no longer be used, and
 * an unfinished exchange counts as dead: the authorization is then treated as pending without an attempt.
 */
export type Authorization = Pending | Confirming | Confirmed | Exchanging | Completed | Failed

/** What one provider is asked for. `connectionId` is set once the step is done. */
export interface Step {
  readonly providerUid: string
  readonly scopes: readonly string[]
  /** The account that must approve at this step, if not the authorization's `account`. */
  readonly account?: string | undefined
  /** Values that the caller gave for variables of the provider, so that the user is not asked for them. */
  readonly given?: Readonly<Record<string, string>> | undefined
  /**
   * The tokens that the step brings, where other entries exchange the token of its connection (RFC 8693). Absent: that of
   * its connection alone.
   */
  readonly brings?: readonly BroughtToken[] | undefined
  readonly connectionId?: string
  /** Scopes that were requested and that the user or the provider did not grant. */
  readonly missingScopes?: readonly string[]
  /** The account that was used before, if another one approved. */
  readonly previousAccount?: PreviousAccount
}

/** A needed token. `providerUid`: that of the step, or of an entry that exchanges the step's token. */
export interface BroughtToken {
  readonly providerUid: string
  readonly scopes: readonly string[]
}

/** The account and the connection that calls used before a consent by another account. */
export interface PreviousAccount {
  readonly id: string
  readonly name: string
  readonly connectionId: string
}

interface Common {
  readonly id: string
  readonly projectId: string
  readonly userId: string
  readonly steps: readonly Step[]
  /** Index of the current step; of the last one when completed. */
  readonly step: number
  /** The tool or application that requested the authorization, for the connect page. */
  readonly requester?: string | undefined
  /**
   * The account that must approve at every step that names none: an account's id or name, or `new` to connect one
   * more.
   */
  readonly account?: string | undefined
  /** The address to which the browser is sent at the end. It was checked against the allowed origins when it was received. */
  readonly nextUri?: string | undefined
  /** The connect session that began the authorization: a click then needs the cookie that opening the session has set. */
  readonly connectSessionId?: string | undefined
  /** The user's name as the pages show it; the caller sets it. */
  readonly userDisplay?: string | undefined
  /** The language of the pages; the caller sets it. */
  readonly lang?: string | undefined
  readonly createdAt: EpochSeconds
  readonly expiresAt: EpochSeconds
}

/** A user's click on the connect page: one authorization request, bound to the browser that clicked. */
export interface Attempt {
  /** SHA-256 of `state` (RFC 6749 section 10.12), as `ownedTokenHash` gives it. */
  readonly stateHash: string
  /** SHA-256 of the browser's cookie (RFC 9700 section 4.7). */
  readonly browserHash: string
  /** `AttemptSecrets` as JSON. */
  readonly secrets: Sealed
  /** The time of the click: by the database's clock on PostgreSQL, by the process's on SQLite. */
  readonly startedAt: EpochSeconds
  /** When the provider is next asked for the tokens of a device code. Absent: it is not asked. */
  readonly pollAt?: EpochSeconds
  /** Seconds between two requests for the tokens of a device code. */
  readonly pollSeconds?: number
}

/** What the token request needs from the authorization request (RFC 7636 section 4.1, OpenID Connect nonce). */
export interface AttemptSecrets {
  readonly codeVerifier?: string
  readonly nonce?: string
  /** `identityOf` the provider when the attempt began: the code is sent only to a provider with this identity. */
  readonly providerIdentity: string
  /** The redirect URI of the authorization request. The token request repeats it, even if the project's domain has changed. */
  readonly redirectUri?: string
  /** Values that the user gave for variables of the provider. */
  readonly given?: Readonly<Record<string, string>>
  /** The key that the tokens will be bound to (RFC 9449). */
  readonly dpopKey?: ProofKey
  /** OAuth 1.0a: `tokenHash` is the SHA-256 of the token that the browser must bring back, `secret` signs the token request. */
  readonly temporary?: { readonly tokenHash: string; readonly secret: string }
  /** The code that the user enters at the provider (RFC 8628). Only the browser that clicked is shown it. */
  readonly device?: DeviceSecrets
  /** Installations or tenants among which this browser has to choose one; the code was redeemed then. */
  readonly choice?: OfferedChoice
  /** The state for the page on which the client is installed: the user had no installation. */
  readonly installState?: string
  /** The issuer at which this browser's user logged in before the attempt; set where the verifier is `oidc`. */
  readonly loggedInAt?: string
}

export interface DeviceSecrets {
  readonly deviceCode: string
  readonly userCode: string
  readonly verificationUri: string
  /** When the code expires. The authorization may expire earlier. */
  readonly expiresAt: EpochSeconds
}

/** What the provider listed for the user who approved. */
export interface OfferedChoice {
  readonly options: readonly OfferedOption[]
}

/** An installation of the client, or a tenant. */
export interface OfferedOption {
  readonly id: string
  readonly name: string
  /** What tells tenants of the same name apart. */
  readonly detail?: string
  /** What an installation grants; absent: the provider does not tell. */
  readonly scopes?: readonly string[]
  /** The values that a connection to the tenant keeps. Absent for an installation. */
  readonly kept?: Readonly<Record<string, string>>
}

/** Waits for a click, or with an attempt for the authorization response. */
export interface Pending extends Common {
  readonly status: 'pending'
  readonly attempt?: Attempt
  /**
   * A grant that is not stored yet: of a device code, before the user has confirmed the account; of a code, before the user
   * has chosen the tenant.
   */
  readonly granted?: Sealed
  readonly flowHash?: string
}

/** States in which the authorization response has arrived and its code is not redeemed yet. */
interface WithResponse extends Common {
  readonly attempt: Attempt
  /** SHA-256 of the flow id, as `ownedTokenHash` gives it. The id was given only to the browser that came back. */
  readonly flowHash: string
  /** The query of the authorization response. */
  readonly response: Sealed
  /** The response may be used until this time: codes are short-lived (RFC 6749 section 4.1.2). */
  readonly deadline: EpochSeconds
}

/** The response has arrived; the caller's page has not confirmed the user yet. */
export interface Confirming extends WithResponse {
  readonly status: 'confirming'
}

/**
 * The caller's page has confirmed the user. The code is redeemed when that page sends back the browser that clicked,
 * which proves that the confirmed user is the one who approved.
 */
export interface Confirmed extends WithResponse {
  readonly status: 'confirmed'
}

/** The code is being redeemed, by the one process that claimed it. */
export interface Exchanging extends Common {
  readonly status: 'exchanging'
  readonly attempt: Attempt
  readonly deadline: EpochSeconds
  readonly flowHash?: string
}

/** Every step has its connection. */
export interface Completed extends Common {
  readonly status: 'completed'
  readonly completedAt: EpochSeconds
  readonly flowHash?: string
  /** `browserHash` of the latest attempt: only that browser is sent on to `nextUri`. */
  readonly browserHash?: string
}

/** Ended before every step had its connection. */
export interface Failed extends Common {
  readonly status: 'failed'
  readonly reason: FailureReason
  /** What happened and what to do, for people. */
  readonly message: string
  readonly completedAt: EpochSeconds
  readonly flowHash?: string
  readonly browserHash?: string
}

/** Why an authorization ended without a connection. The codes are stable: callers switch on them. */
export const FAILURE_REASONS = [
  'access_denied',
  'expired',
  'user_mismatch',
  'issuer_mismatch',
  'invalid_scope',
  'invalid_client',
  'invalid_grant',
  'provider_refused',
  'provider_bad_response',
  'provider_unavailable',
  'provider_changed',
  'account_mismatch',
  'nothing_to_choose',
] as const
export type FailureReason = (typeof FAILURE_REASONS)[number]

export const EXPIRED_MESSAGE = 'The link was not used in time. Ask for a new one and open it within its time.'

/**
 * Returns the authorization in its state at `now`. At `expiresAt` an authorization that has not ended is failed as
 * `expired`, unless its code is being redeemed. After `deadline`, an exchange that has not ended, or a response that was
 * not used, no longer counts: the authorization is pending without an attempt.
 */
export function authorizationAt(authorization: Authorization, now: EpochSeconds): Authorization {
  const { status } = authorization
  if (status === 'completed' || status === 'failed') return authorization
  if (status === 'exchanging' && now < authorization.deadline) return authorization
  if (now < authorization.expiresAt)
    return status === 'pending' || now < authorization.deadline
      ? authorization
      : { ...commonOf(authorization), status: 'pending' }
  const { browserHash } = 'attempt' in authorization ? (authorization.attempt ?? {}) : {}
  return {
    ...commonOf(authorization),
    status: 'failed',
    reason: 'expired',
    message: EXPIRED_MESSAGE,
    completedAt: authorization.expiresAt,
    ...(browserHash !== undefined && { browserHash }),
  }
}

/** The members that every state has. They are listed one by one, so that no secret of a state is carried over. */
function commonOf(authorization: Common): Common {
  const { id, projectId, userId, steps, step, createdAt, expiresAt } = authorization
  const { requester, account, nextUri, connectSessionId, userDisplay, lang } = authorization
  return {
    id,
    projectId,
    userId,
    steps,
    step,
    createdAt,
    expiresAt,
    ...withoutUndefined({ requester, account, nextUri, connectSessionId, userDisplay, lang }),
  }
}

/** Whether the authorization has ended, so that waiting for it is over. */
export function isSettled(authorization: Authorization): authorization is Completed | Failed {
  return authorization.status === 'completed' || authorization.status === 'failed'
}

/** All scopes requested, over all steps. */
export function scopesOf(authorization: Authorization): string[] {
  return [...new Set(authorization.steps.flatMap((step) => step.scopes))]
}

/** The account that must approve at the current step; `undefined`: any. */
export function requestedAccount(authorization: Authorization): string | undefined {
  return currentStep(authorization).account ?? authorization.account
}

export function currentStep(authorization: Authorization): Step {
  const step = authorization.steps[authorization.step]
  if (step === undefined)
    throw new Error(`authorization ${authorization.id} has no step ${authorization.step}`)
  return step
}
