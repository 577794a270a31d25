import type { EpochSeconds } from '../domain/clock.ts'
import type { Hint, UseKind } from '../domain/requested-use.ts'
import type { NeededApprovals } from './use-gate.ts'
import type { WaitOptions } from './waiters.ts'

/**
 * Asks people before calls that rules want approved, and keeps their answers. What calls it has checked everything else,
 * so that people are asked only about calls that can run.
 */
export interface CallApprovals {
  /**
   * Returns the approval that covers the call, or the question that waits for an answer: the same call gets the same
   * question. Throws `denied_by_policy` when a person has denied it, or when the approval of a `held` call no longer counts,
   * `too_many_pending` and `invalid_input`.
   */
  ask(call: CallToApprove): Promise<GivenApproval | WaitingApproval>
  /** Records what was decided outside about one of the rules of the question, if it still waits. */
  decideOutside(projectId: string, id: string, decision: OutsideDecision): Promise<void>
  /** Throws `not_found`. */
  get(projectId: string, id: string): Promise<ApprovalView>
  /** The approval when it was decided, or in its state after `waitSeconds`. Throws `not_found`. */
  wait(
    projectId: string,
    id: string,
    options: WaitOptions & { readonly waitSeconds: number },
  ): Promise<ApprovalView>
  /** As `get`, but after a decision that is being written. */
  getSettled(projectId: string, id: string): Promise<ApprovalView>
  /** Ends a question whose call will not be made. Has no effect on one that was answered or has ended. */
  withdraw(projectId: string, id: string): Promise<void>
  /** The question for the form of the client that makes the call; `undefined` if there is none for it. Throws `not_found`. */
  clientQuestion(projectId: string, id: string): Promise<ClientQuestion | undefined>
  /** Records the user's answer as the client of the call gives it. Throws what deciding throws. */
  answerInClient(
    projectId: string,
    id: string,
    answer: { readonly decision: 'approve' | 'deny'; readonly digest: string },
  ): Promise<void>
  /** Calls the listener with each approval that was decided or has ended. Returns the function that ends that. */
  onSettled(listener: (approval: ApprovalView) => void): () => void
}

/** How a decision point outside of Gatepass decided. */
export interface OutsideDecision {
  /** The id of the rule. */
  readonly rule: string
  readonly outcome: 'approved' | 'denied' | 'expired' | 'cancelled'
  /** The end of its approval. */
  readonly until?: EpochSeconds
}

/** A call, with all that its approval is bound to. */
export interface CallToApprove {
  readonly projectId: string
  readonly userId?: string | undefined
  readonly use: UseKind
  readonly needed: NeededApprovals
  /** The tool's id, or the id of the provider whose token is used. */
  readonly subject: string
  /** The tool's or provider's name for people. */
  readonly title: string
  readonly hints: readonly Hint[]
  /** The digest of the tool's accepted definition (`definitionDigest`). */
  readonly definition?: string | undefined
  readonly workerId?: string | undefined
  /** Whether the call may run again when the process that ran it was killed. */
  readonly isRepeatable?: boolean | undefined
  /** The known destinations of the call. */
  readonly hosts: readonly string[]
  /** What the worker gets, or the request that is forwarded. */
  readonly input: Readonly<Record<string, unknown>>
  /** SHA-256 of the bytes that are sent, where `input` shows them in another form. Bound, but not shown. */
  readonly exact?: string | undefined
  /** Names of arguments that also stay the same in all calls that a remembered approval covers. */
  readonly always?: readonly string[] | undefined
  /** Names of arguments that the tool's schema hides from people. A call with them is not remembered. */
  readonly hidden?: readonly string[] | undefined
  /** The values beside the arguments that the tool gets. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly connections: readonly ApprovedConnection[]
  /** When a scheduled run begins. */
  readonly runAt?: EpochSeconds | undefined
  /** The approval that was asked for when the run was scheduled: no other counts, and no further question is put. */
  readonly held?: { readonly approvalId: string; readonly executionId: string } | undefined
}

/** A connection whose token the call uses. */
export interface ApprovedConnection {
  readonly id: string
  readonly provider: string
  readonly account: string
}

export interface GivenApproval {
  readonly outcome: 'approved'
  readonly id: string
  /** The execution that a process began under this approval and did not live to end: the call runs again as that one. */
  readonly executionId?: string | undefined
  /**
   * Spends it for this execution, right before the run: `false` if another call has, or if it no longer counts.
   * `processId`: the process that runs the call, of a call that may be repeated.
   */
  spend(executionId: string, processId?: string): Promise<boolean>
  /** The run for which it was spent with a `processId` has ended. */
  ended?(processId: string): Promise<void>
}

/** A question that a rule lets the user answer in the client which makes the call. */
export interface ClientQuestion {
  /** The call as text, which a program wrote in part. */
  readonly message: string
  /** Names what was shown. */
  readonly digest: string
}

export interface WaitingApproval {
  readonly outcome: 'waiting'
  readonly approval: ApprovalView
}

export const APPROVAL_FAILURES = ['approval_denied', 'approval_expired', 'approval_superseded'] as const
export type ApprovalFailure = (typeof APPROVAL_FAILURES)[number]

/** An approval, as callers see it: in the words of an authorization. */
export interface ApprovalView {
  readonly id: string
  readonly projectId: string
  readonly userId: string
  readonly status: 'pending' | 'completed' | 'failed'
  /** Only while `pending`: the page of the approval. */
  readonly url: string
  readonly subject: string
  readonly expiresAt: EpochSeconds
  /** Only where it `failed`. */
  readonly reason?: ApprovalFailure
  readonly message?: string
}

export function isApprovalId(id: string): boolean {
  return id.startsWith('appr_')
}
