import type { EpochSeconds } from '../../domain/clock.ts'
import type { Sealed } from '../../domain/sealed.ts'

// The Access Request and Approval Profile of AuthZEN (draft 1): a decision point that denies may say where its approval can
// be requested. The request is a task there; its approval is presented in a new evaluation, which alone permits.

/** The request of an access evaluation (AuthZEN 1.0 section 6.1). */
export interface AccessEvaluation {
  readonly subject: { readonly type: 'identity'; readonly id: string }
  readonly action: { readonly name: string; readonly properties?: Readonly<Record<string, string>> }
  readonly resource: { readonly type: string; readonly id: string }
  readonly context: Readonly<Record<string, unknown>>
}

/** A denial that an access request may change. */
export interface RequestableDenial {
  /** Absent: the one in the metadata of the decision point. */
  readonly endpoint?: string
  /** What the access request repeats of the denial. */
  readonly denial: Readonly<Record<string, string>>
}

/**
 * An access request, for one rule of a question to people:
 *
 *   new --submit--> pending --the task ends--> decided --the question is answered--> ended
 */
export interface AccessRequest {
  /** `accessRequestUid` */
  readonly uid: string
  readonly projectId: string
  /** `appr_…` */
  readonly approvalId: string
  /** The policy's id. */
  readonly policy: string
  readonly userId: string
  readonly state: 'new' | 'pending' | 'decided' | 'ended'
  /** Sealed JSON: the `AccessTask`. */
  readonly task: Sealed
  /** It grows with each claim, so that a process whose claim has lapsed writes nothing. */
  readonly attempts: number
  /** Absent once it has ended. */
  readonly nextAt?: EpochSeconds | undefined
  /** The end of the question. */
  readonly expiresAt: EpochSeconds
}

/** What is sent and kept of the task. The denial's binding token and the approval are secrets of the decision point. */
export interface AccessTask extends RequestableDenial {
  readonly evaluation: AccessEvaluation
  readonly id?: string
  readonly statusEndpoint?: string
  readonly outcome?: TaskOutcome
}

export type TaskOutcome =
  | {
      readonly outcome: 'approved'
      readonly approval: Readonly<Record<string, unknown>>
      readonly until: EpochSeconds
    }
  | { readonly outcome: 'denied' | 'expired' | 'cancelled' }

/** The primary key of an access request. An approval's id has no space in it. */
export function accessRequestUid(approvalId: string, policy: string): string {
  return `${approvalId} ${policy}`
}
