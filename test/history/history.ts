/** The requests, answers and faults of one run; times are milliseconds since it began. */
export interface History {
  readonly requests: readonly Request[]
  readonly faults: readonly Fault[]
  readonly provider: ProviderHistory
  /** Calls of tools, as the worker saw them; `key` names the request or the scheduled run that made the call. */
  readonly calls: readonly ToolCall[]
  readonly trail: TrailHistory
  readonly end: End
}

export type Operation =
  | 'connect'
  | 'token'
  | 'token by a key'
  | 'delete'
  | 'deny'
  | 'allow'
  | 'make key'
  | 'revoke key'
  | 'execute'
  | 'schedule'
  /** A call that a person must approve: the question, the answer, and a repeat of the call after it. */
  | 'ask'
  | 'decide'
  | 'run approved'
  /** Takes back an approval that is remembered. */
  | 'take back'

/** A request of a client and its answer; without `status` there was none. */
export interface Request {
  readonly operation: Operation
  readonly client: number
  readonly node: number
  readonly user: string
  readonly begun: number
  readonly ended: number
  readonly status?: number
  /** The `name` of a refusal. */
  readonly refusal?: string
  readonly requestId?: string
  readonly connection?: string
  readonly policy?: string
  readonly apiKey?: string
  /** The fingerprint of an access token that was answered, as in the audit trail. */
  readonly fingerprint?: string
  /** Of `execute`, `schedule` and calls that a person must approve: the name of the run. */
  readonly key?: string
  readonly isSafe?: boolean
  readonly executionId?: string
  readonly succeeded?: boolean
  /** Of `decide`: whether the approval is for one call or remembered; absent: it was denied. */
  readonly approves?: 'once' | 'hour'
}

export interface Fault {
  readonly kind:
    | 'kill'
    | 'stop'
    | 'restart database'
    | 'failover'
    /** A failover to a standby that had not received what was committed meanwhile: it may be lost. */
    | 'lossy failover'
    | 'address at a standby'
    | 'clock'
    | 'link'
    | 'answer held'
    | 'answer lost'
  readonly begun: number
  readonly ended: number
  readonly node?: number
  /** Of a stop within a refresh: the connection whose lease the process held. */
  readonly connection?: string
  readonly what?: string
}

export interface ProviderHistory {
  readonly codes: readonly { readonly at: number; readonly code: string }[]
  readonly refreshes: readonly Refresh[]
  /** Used refresh tokens that came again. */
  readonly reuses: readonly string[]
}

/** A refresh request at the provider. */
export interface Refresh {
  readonly refreshToken: string
  readonly arrived: number
  /** When the provider answered it or closed its connection. */
  readonly ended: number
  /** Fingerprint of the access token that it issued. */
  readonly issued?: string
}

export interface ToolCall {
  readonly at: number
  readonly key: string
  readonly isSafe: boolean
}

export interface TrailHistory {
  readonly faults: readonly string[]
  readonly released: readonly {
    readonly requestId: string
    readonly user: string
    readonly connection: string
    readonly fingerprint: string
  }[]
  /** Tokens that were stored by a refresh. */
  readonly refreshed: readonly { readonly connection: string; readonly fingerprint: string }[]
  readonly ended: readonly { readonly connection: string; readonly reason: string }[]
}

export interface End {
  readonly connections: readonly string[]
  /** How long users were refused after the end of the faults (`LIVENESS_MS`); absent: some had no token in time. */
  readonly settledMs?: number
  readonly unsettled: readonly string[]
  /** By node, how often its process says that the database has lost commits. */
  readonly losses: readonly number[]
}
