import type { ApiKey } from '../domain/api-key.ts'
import type { AuditBlock, AuditHead } from '../domain/audit.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { Project } from '../domain/project.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import type { Authorizations, ConnectionOwner, Connections, KeptConnections } from './grants.ts'
import type { Processes } from './processes.ts'
import type { PlacedEnvelope, SealedColumn } from './sealed-columns.ts'
import type { Chains, Executions, Policies, PoliciesInForce, Secrets, Tools, Workers } from './tool-nouns.ts'
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
  readonly processes: Processes
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
  /** The policies that let it pass. */
  readonly policies: PoliciesInForce
}

/** Append-only, one chain of blocks for each project. */
export interface AuditTrail {
  /** Appends what no other write carries. Durable when it resolves. */
  append(entries: AuditEntries): Promise<void>
  /**
   * Appends the releases that still stand, in one commit, and answers which do: the connection is active and of the
   * same generation, the provider entry is as it was read, the key is not revoked, the project's policies are those of that version. One that does not stand is announced
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
  /** Adds the project; `false` when its name is taken. */
  add(project: Project, audit?: AuditEntries): Promise<boolean>
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
    old: Pick<ApiKey, 'projectId' | 'id' | 'mac'>,
    expiresAt: EpochSeconds,
    successor: ApiKey,
    audit?: AuditEntries,
  ): Promise<boolean>
  /** Puts the MAC of a row from a release that had none; answers how many rows. */
  sign(id: string, mac: string): Promise<number>
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
}

export interface Providers {
  /** Adds the entry, or `undefined` when its `id` is taken in the project. */
  add(entry: ProviderEntry, audit?: AuditEntries): Promise<ProviderEntry | undefined>
  /** Replaces the entry, and in the same transaction keeps connections over a change of its identity, where that is said. */
  put(entry: ProviderEntry, audit?: AuditEntries, kept?: KeptConnections): Promise<void>
  findByUid(uid: string): Promise<ProviderEntry | undefined>
  findById(projectId: string, id: string): Promise<ProviderEntry | undefined>
  list(projectId: string): Promise<readonly ProviderEntry[]>
  /** Deletes the entry with its connections; an authorization of it that is under way fails when it goes on. */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export interface Lease {
  readonly owner: string
  readonly seconds: number
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
  readonly owner: string
  /** The process of the claim (`Processes`); absent for claims of older releases. */
  readonly claimedBy?: string
  /** What the owner was about to run, if that must not be run twice. */
  readonly begun?: BegunRun
}

/** A run of a tool that is not safe to repeat. */
export interface BegunRun {
  readonly executionId: string
  readonly toolId: string
}

export interface AnswerClaim {
  readonly projectId: string
  readonly owner: string
  readonly request: string
  readonly claimedBy: string
  readonly seconds: number
}

/**
 * Answers to requests that carried an `Idempotency-Key`, whichever process they reach. Time is the database's own where
 * it has one, so that the clocks of nodes need not agree; `now` is for one that has none.
 */
export interface Answers {
  /**
   * Claims the place for a request, at most once at a time: of two that race one gets `claimed`, the other what stands
   * there. What has run out counts as free, and so does the claim of the owner `over`, whose process is dead, if it has
   * begun nothing that must not be done twice.
   */
  claim(place: string, claim: AnswerClaim, now: EpochSeconds, over?: string): Promise<'claimed' | KeptAnswer>
  find(place: string): Promise<KeptAnswer | undefined>
  /** Keeps the place for its owner for that long from now, while there is no answer yet. */
  prolong(place: string, owner: string, seconds: number, now: EpochSeconds): Promise<void>
  /** Writes down what the owner is about to run; `false`, and nothing is written, when the claim is another's by now. */
  begin(place: string, owner: string, run: BegunRun, seconds: number, now: EpochSeconds): Promise<boolean>
  /** Keeps the answer for that long, if the claim is still the owner's. */
  settle(place: string, owner: string, answer: Sealed, seconds: number, now: EpochSeconds): Promise<void>
  /** Frees the place, if it is still the owner's: the answer is not to be kept. */
  release(place: string, owner: string): Promise<void>
  /** Deletes what has run out. */
  sweep(now: EpochSeconds): Promise<number>
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
