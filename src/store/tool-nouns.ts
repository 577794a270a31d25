import type { PausedChain } from '../domain/chain.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { ExecutionRecord, ExecutionStatus } from '../domain/execution.ts'
import type { Policy } from '../domain/policy.ts'
import type { Secret } from '../domain/secret.ts'
import type { Tool } from '../domain/tool.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import type { AuditEntries, Lease, Page, PageRequest } from './store.ts'

// Tools, what they run on and with, who may use them, and their runs: part of `Store`, which says what all of it promises.

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

/** What the tools of the worker may ask for, and its MAC. */
export type AcceptedNeeds = Pick<Worker, 'uid' | 'accepted' | 'acceptedMac'>

export interface Workers {
  /** Adds the worker, or `undefined` when its `id` is taken in the project. */
  add(worker: Worker, audit?: AuditEntries): Promise<Worker | undefined>
  /** Writes all but `accepted` and its MAC. */
  put(worker: Worker, audit?: AuditEntries): Promise<void>
  /** Says what the worker's tools may ask for. */
  accept(needs: AcceptedNeeds, audit?: AuditEntries): Promise<void>
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

/** The enabled policies of a project, and the version of all its policies, which each write of one raises. */
export interface PoliciesInForce {
  readonly version: number
  readonly policies: readonly Policy[]
}

export interface Policies {
  /** Adds the policy, or replaces the one of that id. */
  put(policy: Policy, audit?: AuditEntries): Promise<void>
  find(projectId: string, id: string): Promise<Policy | undefined>
  /** By id. */
  list(projectId: string): Promise<readonly Policy[]>
  /** The enabled ones, with the version that `AuditTrail.release` compares; a list may be newer than its version, never older. */
  inForce(projectId: string): Promise<PoliciesInForce>
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
    lease: Lease,
    now: EpochSeconds,
    limit: number,
    except?: readonly string[],
  ): Promise<readonly ExecutionRecord[]>
  /** Prolongs the lease, if it is still the owner's; answers whether it is. */
  prolong(id: string, lease: Lease, now: EpochSeconds): Promise<boolean>
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
