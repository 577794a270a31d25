import type { ApiKey } from '../domain/api-key.ts'
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
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { Project } from '../domain/project.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Secret } from '../domain/secret.ts'
import type { Tool } from '../domain/tool.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider.ts'

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
  /**
   * Changes whenever another process has written. What was read and kept while it had the same value, and was not
   * announced by `onChange` since, is still what the database says.
   */
  foreignRevision(): number
  /** Called in the same tick in which a write of this process has been committed. */
  onChange(listener: (change: StoreChange) => void): void
  /** Throws when the database cannot be written. */
  probe(): Promise<void>
  close(): Promise<void>
}

export type StoreChange =
  | { readonly noun: 'connection'; readonly id: string; readonly owner: ConnectionOwner }
  | { readonly noun: 'authorization'; readonly id: string }
  | { readonly noun: 'api_key' | 'provider' | 'tool' | 'worker' | 'secret' }

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
}

export interface ApiKeys {
  /** Adds the key; one with the same hash stays as it is. */
  add(key: ApiKey): Promise<void>
  /** The key with that hash, unless it was revoked. */
  findByHash(hash: string): Promise<ApiKey | undefined>
  list(projectId: string): Promise<readonly ApiKey[]>
  revoke(projectId: string, id: string, now: EpochSeconds): Promise<boolean>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
}

export interface Providers {
  /** Adds the entry, or `undefined` when its `id` is taken in the project. */
  add(entry: ProviderEntry): Promise<ProviderEntry | undefined>
  put(entry: ProviderEntry): Promise<void>
  findByUid(uid: string): Promise<ProviderEntry | undefined>
  findById(projectId: string, id: string): Promise<ProviderEntry | undefined>
  list(projectId: string): Promise<readonly ProviderEntry[]>
  /** Deletes the entry with its connections; an authorization of it that is under way fails when it goes on. */
  delete(projectId: string, id: string): Promise<boolean>
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
   */
  begin(fresh: Pending, shareKey: string, now: EpochSeconds): Promise<Authorization>
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
   * The connection becomes the default when `makeDefault`, or when it is the first of its owner.
   * `undefined`, and nothing stored, when this exchange no longer holds its claim or its provider is gone.
   */
  finishStep(
    claimed: Exchanging,
    connection: Connection,
    options: { readonly makeDefault: boolean },
    now: EpochSeconds,
  ): Promise<Pending | Completed | undefined>
  /** Fails the authorization if it is not settled yet and, where `stateHash` is said, that attempt is still its latest. */
  fail(
    id: string,
    reason: FailureReason,
    message: string,
    now: EpochSeconds,
    stateHash?: string,
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
  readonly until: EpochSeconds
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
   * Takes the lease on refreshing this generation, and writes down the intent in the same statement. One holder at a
   * time; a lease that has run out may be taken over. `undefined`: somebody else holds it, or the tokens have changed.
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
  settleRefresh(id: string, generation: number, tokens: RefreshedTokens): Promise<Connection | undefined>
  /** Gives the lease back with nothing changed: the request failed in a way that says nothing of the grant. */
  releaseRefresh(id: string, owner: string): Promise<void>
  /** Marks the grant as unusable, if its tokens are still those of `generation`. */
  needsAuthorization(id: string, generation: number, reason: NeedsAuthorizationReason): Promise<boolean>
  makeDefault(id: string): Promise<void>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  /** Deletes the connection and answers what it was, so that it can be revoked at the provider. */
  delete(id: string): Promise<Connection | undefined>
}

export interface Tools {
  /** Adds or replaces the tool with that `uid`, its aliases, and the provider entries that come with it: all or nothing. */
  put(tool: Tool, entries?: readonly ProviderEntry[]): Promise<void>
  /** All that answer to this spelling (lower case), newest first. */
  named(projectId: string, alias: string): Promise<readonly Tool[]>
  list(projectId: string): Promise<readonly Tool[]>
  /** Makes the worker's tools exactly these. */
  replaceOfWorker(projectId: string, workerUid: string, tools: readonly Tool[]): Promise<void>
  delete(uid: string): Promise<void>
}

export interface Workers {
  /** Adds the worker, or `undefined` when its `id` is taken in the project. */
  add(worker: Worker): Promise<Worker | undefined>
  put(worker: Worker): Promise<void>
  findByUid(uid: string): Promise<Worker | undefined>
  find(projectId: string, id: string): Promise<Worker | undefined>
  list(projectId: string): Promise<readonly Worker[]>
  /** Of all projects, for the catalogue's upkeep. */
  all(): Promise<readonly Worker[]>
  /** Deletes the worker with its tools and frees the metadata tools bound to it. */
  delete(projectId: string, id: string): Promise<boolean>
}

export interface Secrets {
  /** Sets the secret of that key (in any case). `undefined` when the key is set under another id by now. */
  put(secret: Secret): Promise<Secret | undefined>
  find(projectId: string, key: string): Promise<Secret | undefined>
  list(projectId: string): Promise<readonly Secret[]>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  delete(projectId: string, id: string): Promise<boolean>
}

/** Single values of the installation, such as the check value of the master key. */
export interface Facts {
  get(name: string): Promise<string | undefined>
  /** Sets the value if there is none yet; answers the one that stands. */
  settle(name: string, value: string): Promise<string>
}
