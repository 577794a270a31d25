import type { ApiKey } from '../domain/api-key.ts'
import type { AuditBlock, AuditHead } from '../domain/audit.ts'
import type {
  Attempt,
  Authorization,
  Completed,
  Confirming,
  Exchanging,
  Failed,
  FailureReason,
  Pending,
} from '../domain/authorization.ts'
import type { PausedChain } from '../domain/chain.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { ExecutionRecord, ExecutionStatus } from '../domain/execution.ts'
import type { Policy } from '../domain/policy.ts'
import type { Project } from '../domain/project.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Secret } from '../domain/secret.ts'
import type { Tool } from '../domain/tool.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import type { PlacedEnvelope, SealedColumn } from './sealed-columns.ts'

/**
 * Where everything is kept. Each method keeps its promise by itself, also against other processes on the same
 * database: callers need no transaction. `test/store/conformance.ts` is the same promise as a test.
 */
export interface Store {
  readonly projects: Projects
  readonly apiKeys: ApiKeys
  readonly providers: Providers
  readonly authorizations: Authorizations
  readonly connections: Connections
  readonly tools: Tools
  readonly workers: Workers
  readonly secrets: Secrets
  readonly facts: Facts
  readonly envelopes: Envelopes
  readonly audit: AuditTrail
  readonly answers: Answers
  readonly policies: Policies
  readonly executions: Executions
  readonly chains: Chains
  /**
   * Announces through `onChange` what other processes have written since the last look, where the database does not
   * say so by itself. The answer changes when something may have been missed: what was kept must then be read again.
   */
  catchUp(): number
  /**
   * Called in the same tick in which a write of this process has been committed, and for writes of other processes
   * as soon as they are heard of.
   */
  onChange(listener: (change: StoreChange) => void): void
  /** Writes, and throws when the database cannot be written: no space, no permission, no server. */
  probe(): Promise<void>
  /** How the database is doing, as far as this process sees it. */
  figures(): StoreFigures
  /**
   * Makes a restored backup safe to go on with, once: its refresh tokens may have been rotated since, so that each
   * counts one more request whose outcome is not known; authorizations that were under way fail as expired, with this
   * message; runs that are due or under way fail, since they may have been carried out meanwhile; paused chains and
   * leases are gone. `undefined` when the database is no restored backup.
   */
  settleRestore(message: string, now: EpochSeconds): Promise<SettledRestore | undefined>
  close(): Promise<void>
}

export interface StoreFigures {
  /** SQLite: statements that were tried again because another process had the file. */
  readonly busyRetries?: number
  /** PostgreSQL: connections of the pool by what they do, and who waits for one. */
  readonly connections?: { readonly used: number; readonly idle: number; readonly waiting: number }
}

export type StoreChange =
  | { readonly noun: 'connection'; readonly id: string; readonly owner: ConnectionOwner }
  | { readonly noun: 'authorization'; readonly id: string }
  | { readonly noun: 'api_key' | 'provider' | 'tool' | 'worker' | 'secret' | 'policy' }

/**
 * What a write leaves in the audit trail: appended in the transaction of the write, when it does anything; if it
 * cannot be appended, nothing is written.
 */
export interface AuditEntries {
  readonly projectId: string
  readonly at: EpochSeconds
  /** One JSON object each. */
  readonly lines: readonly string[]
  readonly link: AuditLink
}

/** The hash of a block, which the chain goes on from. */
export type AuditLink = (block: Omit<AuditBlock, 'hash'>) => string

/** A token that is about to be handed out, and what that rests on. */
export interface AuditedRelease {
  readonly projectId: string
  readonly line: string
  readonly connection: Connection
  readonly entry: ProviderEntry
  /** Absent where none was needed: commands and background jobs. */
  readonly apiKey?: ApiKey
}

/** Append-only, one chain of blocks for each project. */
export interface AuditTrail {
  /** Appends what no other write carries. Durable when it resolves. */
  append(entries: AuditEntries): Promise<void>
  /**
   * Appends the releases that still stand, in one commit, and answers which do: the connection is active and of the
   * same generation, the provider entry is as it was read, the key is not revoked. One that does not stand is announced
   * as a change, so that nothing stale is kept.
   */
  release(releases: readonly AuditedRelease[], at: EpochSeconds, link: AuditLink): Promise<readonly boolean[]>
  /** Blocks in the order of the chain, or the reverse. `containing`: only those whose text has all of these. */
  blocks(
    projectId: string,
    range: {
      readonly fromSeq?: number
      readonly toSeq?: number
      readonly since?: EpochSeconds
      readonly until?: EpochSeconds
      readonly containing?: readonly string[]
      readonly order: 'oldest first' | 'newest first'
      readonly limit: number
    },
  ): Promise<readonly AuditBlock[]>
  head(projectId: string): Promise<AuditHead | undefined>
}

/** A page of a list, in the order of creation. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
}

export interface PageRequest {
  readonly offset: number
  readonly limit: number
}

export interface Projects {
  /** The project of that name, made now if there is none. */
  ensure(name: string, now: EpochSeconds): Promise<Project>
  find(id: string): Promise<Project | undefined>
  findByName(name: string): Promise<Project | undefined>
  list(): Promise<readonly Project[]>
}

export interface ApiKeys {
  /** Adds the key; one with the same hash stays as it is. */
  add(key: ApiKey, audit?: AuditEntries): Promise<void>
  /** The key with that hash, unless it was revoked. */
  findByHash(hash: string): Promise<ApiKey | undefined>
  list(projectId: string): Promise<readonly ApiKey[]>
  revoke(projectId: string, id: string, now: EpochSeconds, audit?: AuditEntries): Promise<boolean>
  /**
   * Adds the key that takes the place of another, which expires then. `false`, and nothing is done, unless the old
   * one is there, unrevoked and not replaced yet.
   */
  rotate(
    old: Pick<ApiKey, 'projectId' | 'id'>,
    expiresAt: EpochSeconds,
    successor: ApiKey,
    audit?: AuditEntries,
  ): Promise<boolean>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
}

export interface Providers {
  /** Adds the entry, or `undefined` when its `id` is taken in the project. */
  add(entry: ProviderEntry, audit?: AuditEntries): Promise<ProviderEntry | undefined>
  put(entry: ProviderEntry, audit?: AuditEntries): Promise<void>
  findByUid(uid: string): Promise<ProviderEntry | undefined>
  findById(projectId: string, id: string): Promise<ProviderEntry | undefined>
  list(projectId: string): Promise<readonly ProviderEntry[]>
  /** Deletes the entry with its connections; an authorization of it that is under way fails when it goes on. */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

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
  /** Holds the authorization response until the user is confirmed: at most once per attempt. */
  confirming(
    stateHash: string,
    held: { readonly flowHash: string; readonly response: Sealed },
    now: EpochSeconds,
  ): Promise<Confirming | undefined>
  /**
   * Claims the unexpired pending or confirming attempt that owns `state`, at most once: of two racing callbacks one
   * gets it, the other `undefined` (RFC 9700 section 4.7).
   */
  claim(stateHash: string, now: EpochSeconds, deadline: EpochSeconds): Promise<Exchanging | undefined>
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

export interface RefreshLease {
  readonly owner: string
  readonly seconds: number
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
    lease: RefreshLease,
    now: EpochSeconds,
  ): Promise<Connection | undefined>
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
  /** Marks the grant as unusable, if its tokens are still those of `generation`. */
  needsAuthorization(
    id: string,
    generation: number,
    reason: NeedsAuthorizationReason,
    audit?: AuditEntries,
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
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  /** Deletes the connection and answers what it was, so that it can be revoked at the provider. */
  delete(id: string, audit?: AuditEntries): Promise<Connection | undefined>
}

export interface Tools {
  /** Adds or replaces the tool with that `uid`, its aliases, and the provider entries that come with it: all or nothing. */
  put(tool: Tool, entries?: readonly ProviderEntry[], audit?: AuditEntries): Promise<void>
  /** All that answer to this spelling (lower case), newest first. */
  named(projectId: string, alias: string): Promise<readonly Tool[]>
  list(projectId: string): Promise<readonly Tool[]>
  /** Makes the worker's tools exactly these. */
  replaceOfWorker(
    projectId: string,
    workerUid: string,
    tools: readonly Tool[],
    audit?: AuditEntries,
  ): Promise<void>
  delete(uid: string, audit?: AuditEntries): Promise<void>
}

export interface Workers {
  /** Adds the worker, or `undefined` when its `id` is taken in the project. */
  add(worker: Worker, audit?: AuditEntries): Promise<Worker | undefined>
  put(worker: Worker, audit?: AuditEntries): Promise<void>
  findByUid(uid: string): Promise<Worker | undefined>
  find(projectId: string, id: string): Promise<Worker | undefined>
  list(projectId: string): Promise<readonly Worker[]>
  /** Of all projects, for the catalogue's upkeep. */
  all(): Promise<readonly Worker[]>
  /** Deletes the worker with its tools and frees the metadata tools bound to it. */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export interface Secrets {
  /** Sets the secret of that key (in any case). `undefined` when the key is set under another id by now. */
  put(secret: Secret, audit?: AuditEntries): Promise<Secret | undefined>
  find(projectId: string, key: string): Promise<Secret | undefined>
  list(projectId: string): Promise<readonly Secret[]>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export interface SettledRestore {
  /** When the backup was taken. */
  readonly takenAt: EpochSeconds
  /** How many have a refresh token, and how many were under way. */
  readonly connections: number
  readonly authorizations: number
  /** How many were put off and have come due, or were under way. */
  readonly runs: number
}

/** The fact that marks a database as a backup that has not been started yet, with the time it was taken. */
export const BACKUP_FACT = 'backup_taken_at'
/** When the last backup of this database was taken. */
export const LAST_BACKUP_FACT = 'last_backup_at'
/** That the installation was moved to another database, and when. */
export const MOVED_FACT = 'moved_at'

/** Envelopes as they stand in their rows, for changing the key they are sealed with. */
export interface Envelopes {
  /** How many there are in each column, by the id of their key. */
  census(): Promise<readonly EnvelopeCount[]>
  /** Those of another key than this one, in the order of their rows' ids and after that one. */
  ofOtherKeys(
    column: SealedColumn,
    keyId: string,
    after: string,
    limit: number,
  ): Promise<readonly PlacedEnvelope[]>
  /** Puts each `to` where its `from` still stands, all in one transaction; answers how many. */
  exchange(
    column: SealedColumn,
    exchanges: readonly { readonly rowId: string; readonly from: Sealed; readonly to: Sealed }[],
  ): Promise<number>
}

export interface EnvelopeCount {
  readonly table: SealedColumn['table']
  readonly column: string
  readonly keyId: string
  readonly count: number
}

/** What stands at a place: an answer, or nothing yet while the request is carried out. */
export interface KeptAnswer {
  /** The hash of the request that was made. */
  readonly request: string
  readonly answer?: Sealed
}

/** Answers to requests that carried an `Idempotency-Key`, whichever process they reach. */
export interface Answers {
  /**
   * Claims the place for a request until `until`, at most once at a time: of two that race one gets `claimed`, the other
   * what stands there. What has run out counts as free.
   */
  claim(
    place: string,
    claim: {
      readonly projectId: string
      readonly owner: string
      readonly request: string
      readonly until: EpochSeconds
    },
    now: EpochSeconds,
  ): Promise<'claimed' | KeptAnswer>
  find(place: string): Promise<KeptAnswer | undefined>
  /** Keeps the place for its owner until `until`, while there is no answer yet. */
  prolong(place: string, owner: string, until: EpochSeconds): Promise<void>
  /** Keeps the answer until `until`, if the claim is still the owner's. */
  settle(place: string, owner: string, answer: Sealed, until: EpochSeconds): Promise<void>
  /** Frees the place, if it is still the owner's: the answer is not to be kept. */
  release(place: string, owner: string): Promise<void>
  /** Deletes what ran out before `before`. */
  sweep(before: EpochSeconds): Promise<number>
}

export interface Policies {
  /** Adds the policy, or replaces the one of that id. */
  put(policy: Policy, audit?: AuditEntries): Promise<void>
  find(projectId: string, id: string): Promise<Policy | undefined>
  /** By id. */
  list(projectId: string): Promise<readonly Policy[]>
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export interface ExecutionFilter {
  readonly userId?: string
  readonly toolId?: string
  readonly type?: ExecutionRecord['type']
  readonly status?: ExecutionStatus
}

/** What was run and what is to be run. */
export interface Executions {
  /** Adds them all or none. */
  add(records: readonly ExecutionRecord[], audit?: AuditEntries): Promise<void>
  find(projectId: string, id: string): Promise<ExecutionRecord | undefined>
  /** Newest first. */
  list(
    projectId: string,
    filter: ExecutionFilter,
    page: PageRequest,
  ): Promise<Page<Omit<ExecutionRecord, 'request' | 'result'>>>
  /**
   * Claims up to `limit` scheduled runs that are due, the earliest first, each at most once at a time over all
   * processes: status `running`, one more attempt, the lease is the owner's. One that is `running` under a lease that
   * has run out is claimed again. Time is the database's own where it has one (`claimRefresh`), but whether a run is
   * due is by `now`. Those of the projects in `except` are left to others.
   */
  claimDue(
    lease: RefreshLease,
    now: EpochSeconds,
    limit: number,
    except?: readonly string[],
  ): Promise<readonly ExecutionRecord[]>
  /** Prolongs the lease, if it is still the owner's; answers whether it is. */
  prolong(id: string, lease: RefreshLease, now: EpochSeconds): Promise<boolean>
  /** Writes how a claimed run ended (or, as `scheduled` with a new `runAt`, that it is to be begun again), if the lease is still the owner's. */
  settle(record: ExecutionRecord, owner: string): Promise<boolean>
  /** Cancels a scheduled run that has not begun. */
  cancel(
    projectId: string,
    id: string,
    now: EpochSeconds,
    audit?: AuditEntries,
  ): Promise<ExecutionRecord | undefined>
  /** How many of a project are put off and have not begun. */
  countScheduled(projectId: string): Promise<number>
  /** Deletes those that ended before `before`. */
  sweep(before: EpochSeconds): Promise<number>
}

export interface Chains {
  add(chain: PausedChain): Promise<void>
  /** The chain, unless it has expired, and it is gone: of two that race one gets it. */
  take(projectId: string, id: string, now: EpochSeconds): Promise<PausedChain | undefined>
  /** How many of a project have not expired. */
  count(projectId: string, now: EpochSeconds): Promise<number>
  sweep(before: EpochSeconds): Promise<number>
}

/** Single values of the installation, such as the check value of the master key. */
export interface Facts {
  get(name: string): Promise<string | undefined>
  /** Puts `to` where `from` still stands, or, without one, where there is none; answers whether it did. */
  exchange(name: string, from: string | undefined, to: string): Promise<boolean>
  /** Sets the value if there is none yet; answers the one that stands. */
  settle(name: string, value: string): Promise<string>
  put(name: string, value: string): Promise<void>
  delete(name: string): Promise<void>
}
