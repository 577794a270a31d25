import type { Cause, FailureReason } from '../generated/wire.ts'

interface Common {
  /** Stable from the first answer on: store it, and continue with `gatepass.authorization(id)`, also in another process. */
  readonly id: string
  /** The scopes that are asked for; once completed, those that the user has granted. */
  readonly scopes: readonly string[]
  /** `consent`: the user's, at a provider. `approval`: of exactly one call, which a policy asks for. */
  readonly kind: 'consent' | 'approval'
}

/** What can be done with an authorization. These methods are left out of its JSON. */
interface Awaitable {
  /**
   * Waits until the user has approved; continues after restarts of Gatepass and failures of the network.
   * @throws AuthorizationFailed when the user refused, the link expired, or the provider refused (see `reason`)
   * @throws AuthorizationTimeout after `timeoutMs`
   */
  wait(options?: WaitOptions): Promise<CompletedAuthorization>
  /** The status now and after each change, until it is completed or failed. A stream that breaks off is opened again. */
  events(options?: { readonly signal?: AbortSignal | undefined }): AsyncIterable<Authorization>
}

/** The user has yet to open `url` and approve. */
export interface PendingAuthorization extends Common, Awaitable {
  readonly status: 'pending'
  /** The link for the user: Gatepass' connect page. It leads through every provider that is needed. */
  readonly url: string
  /** When the link expires. Absent where only the link is known, as in the answer of a tool. */
  readonly expiresAt?: Date
  readonly reason?: undefined
  readonly message?: undefined
}

/** The user has approved. */
export interface CompletedAuthorization extends Common, Awaitable {
  readonly status: 'completed'
  readonly url?: undefined
  readonly reason?: undefined
  readonly message?: undefined
}

/** The authorization has failed for good: begin another one. */
export interface FailedAuthorization extends Common, Awaitable {
  readonly status: 'failed'
  readonly url?: undefined
  /** Stable, for programs. */
  readonly reason: FailureReason
  /** What happened and what to do. */
  readonly message: string
  /** Why, in more detail than `reason`: what to change, and who can. */
  readonly why?: Cause
}

/** A user's consent at a provider or at several, or the approval of a call: `status` says how far it is. It never holds a token. */
export type Authorization = PendingAuthorization | CompletedAuthorization | FailedAuthorization

export interface WaitOptions {
  /** The deadline in milliseconds; 600,000 (ten minutes) by default. */
  readonly timeoutMs?: number | undefined
  /** Ends the waiting. The authorization itself stays pending. */
  readonly signal?: AbortSignal | undefined
}
