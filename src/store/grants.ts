import type {
  Attempt,
  Authorization,
  Completed,
  Confirmed,
  Confirming,
  Exchanging,
  Failed,
  FailureReason,
  Pending,
} from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { AuditEntries, Lease, Page, PageRequest } from './store.ts'

// What users have consented to, and how it is kept: part of `Store`, which says what all of it promises.

/** Projects, users and providers whose connections are one list. */
export interface ConnectionOwner {
  readonly projectId: string
  readonly providerUid: string
  readonly userId: string
}

export interface Authorizations {
  /**
   * Begins the authorization, or answers the live one of the same `shareKey`: of two racing calls both get the
   * same. One that has expired does not count as live. The live one takes over a `nextUri` that is given now.
   * Throws `too_many_pending` instead of adding one to `most` live ones of that user at one of its providers; racing
   * calls of several nodes may add a few more.
   */
  begin(fresh: Pending, shareKey: string, now: EpochSeconds, most?: number): Promise<Authorization>
  /** How many of the project are neither settled nor expired. */
  countLive(projectId: string, now: EpochSeconds): Promise<number>
  find(id: string): Promise<Authorization | undefined>
  findByState(stateHash: string): Promise<Authorization | undefined>
  findByFlow(flowHash: string): Promise<Authorization | undefined>
  /**
   * Starts an attempt of the step under way and ends an earlier one. `undefined` when there is nothing to attempt:
   * settled, expired, exchanging within its deadline, or another step by now.
   */
  attempt(id: string, step: number, attempt: Attempt, now: EpochSeconds): Promise<Pending | undefined>
  /** Holds the authorization response until the user is confirmed: at most once per attempt, and until its deadline. */
  confirming(
    stateHash: string,
    held: { readonly flowHash: string; readonly response: Sealed; readonly deadline: EpochSeconds },
    now: EpochSeconds,
  ): Promise<Confirming | undefined>
  /** The caller has vouched for the user of this flow. `undefined`: it does not wait for that, or no longer. */
  confirm(flowHash: string, now: EpochSeconds, audit?: AuditEntries): Promise<Confirmed | undefined>
  /**
   * Claims the unexpired attempt that owns `state` and is `from` that status, at most once, and drops the response that
   * was held for it: of two racing callbacks one gets it, the other `undefined` (RFC 9700 section 4.7). The claim is over at its deadline, or when the process
   * `claimedBy` is declared dead.
   */
  claim(
    stateHash: string,
    now: EpochSeconds,
    claim: {
      readonly from: 'pending' | 'confirmed'
      readonly deadline: EpochSeconds
      readonly claimedBy: string
    },
  ): Promise<Exchanging | undefined>
  /**
   * Stores the connection and finishes the step in one transaction: the next step is pending, or all is completed.
   * The connection becomes the default when `makeDefault`, or when it is the first of its owner. Over one whose user set
   * out for its consent later (`consentedAt`) nothing is written: the newest consent stands, whichever ends last.
   * `undefined`, and nothing stored, when this exchange no longer holds its claim or its provider is gone.
   */
  finishStep(
    claimed: Exchanging,
    connection: Connection,
    options: { readonly makeDefault: boolean },
    now: EpochSeconds,
    audit?: AuditEntries,
  ): Promise<Pending | Completed | undefined>
  /** Fails the authorization if it is not settled yet and, where `stateHash` is said, that attempt is still its latest. */
  fail(
    id: string,
    reason: FailureReason,
    message: string,
    now: EpochSeconds,
    stateHash?: string,
    audit?: AuditEntries,
  ): Promise<Failed | undefined>
  /** Deletes the responses that were held until now or longer ago; their users may start again. */
  forgetResponses(now: EpochSeconds): Promise<number>
  /** Deletes what was settled or ran out before `before`. */
  sweep(before: EpochSeconds): Promise<number>
}

export interface RefreshedTokens {
  readonly access: Sealed
  /** Absent: the answer had no refresh token and the one that was used stays (RFC 6749 section 6). */
  readonly refresh?: Sealed
  readonly tokenType: string
  readonly scopes: readonly string[]
  readonly receivedAt: EpochSeconds
  readonly expiresAt?: EpochSeconds
}

/** Connections of one of these identities are of that identity from now on, so that their tokens stay usable. */
export interface KeptConnections {
  readonly from: readonly string[]
  readonly to: string
}

export interface Connections {
  find(id: string): Promise<Connection | undefined>
  /** All of one user at one provider, the default first. */
  ofOwner(owner: ConnectionOwner): Promise<readonly Connection[]>
  list(
    projectId: string,
    filter: { readonly userId?: string; readonly providerUid?: string },
    page: PageRequest,
  ): Promise<Page<Connection>>
  /**
   * Takes the lease on refreshing this generation, and writes down the intent in the same statement: `unansweredRefreshes`
   * counts this request too until its outcome is known. One holder at a time; a lease that has run out may be taken
   * over. `undefined`: somebody else holds it, or the tokens have changed. Time is the database's own where it has
   * one, so that the clocks of nodes need not agree; `now` is for one that has none.
   */
  claimRefresh(
    id: string,
    generation: number,
    lease: Lease,
    now: EpochSeconds,
  ): Promise<Connection | undefined>
  /**
   * How many seconds are left of the lease on refreshing this generation, by the clock that `claimRefresh` goes by;
   * `undefined` when it is not the owner's, or the tokens have changed.
   */
  leaseLeft(id: string, generation: number, owner: string, now: EpochSeconds): Promise<number | undefined>
  /**
   * Stores refreshed tokens if the tokens that were used are still the ones stored, whoever holds the lease by now;
   * the only valid answer is never thrown away because it came late.
   */
  settleRefresh(
    id: string,
    generation: number,
    tokens: RefreshedTokens,
    audit?: AuditEntries,
  ): Promise<Connection | undefined>
  /**
   * Gives the lease back with the tokens unchanged. `answered`: the refresh token was certainly not used up, so the
   * intent is taken back; `unknown`: it may have been, so it stays.
   */
  releaseRefresh(id: string, owner: string, outcome: 'answered' | 'unknown'): Promise<void>
  /**
   * Marks the grant as unusable, if its tokens are still those of `generation` and, where `leaseOwner` is said, the lease
   * on refreshing them has not passed to another owner.
   */
  needsAuthorization(
    id: string,
    generation: number,
    reason: NeedsAuthorizationReason,
    audit?: AuditEntries,
    leaseOwner?: string,
  ): Promise<boolean>
  /**
   * Active connections with a refresh token whose access token runs out before `before` and has not yet, lives at least
   * `leastLife` seconds, and was used since it was received; not those that are being refreshed. The first to run out first.
   */
  dueForRefresh(
    before: EpochSeconds,
    leastLife: number,
    now: EpochSeconds,
    limit: number,
  ): Promise<readonly Connection[]>
  makeDefault(id: string, audit?: AuditEntries): Promise<void>
  /** As `KeptConnections` says, for all of a provider entry; answers how many. */
  reidentify(
    entry: Pick<ConnectionOwner, 'projectId' | 'providerUid'>,
    kept: KeptConnections,
    audit?: AuditEntries,
  ): Promise<number>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  /** Deletes the connection and answers what it was, so that it can be revoked at the provider. */
  delete(id: string, audit?: AuditEntries): Promise<Connection | undefined>
}
