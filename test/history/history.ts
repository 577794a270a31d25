/** What was asked, answered and done in one run; times are milliseconds since its beginning. */
export interface History {
  readonly requests: readonly Request[]
  readonly faults: readonly Fault[]
  readonly provider: ProviderHistory
  /** Calls of tools, as the worker saw them; `key` names the request (or scheduled run) they are of. */
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

/** A request of a client and its answer; without `status` none came. */
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
  /** SHA-256 of an access token that was answered, cut short, as the audit trail has it. */
  readonly fingerprint?: string
  /** Of `execute` and `schedule`: what names the run. */
  readonly key?: string
  readonly isSafe?: boolean
  readonly executionId?: string
  readonly succeeded?: boolean
}

export interface Fault {
  readonly kind: 'kill' | 'stop' | 'restart database' | 'link' | 'answer held' | 'answer lost'
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
  /** Until the provider answered or let it go. */
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
  /** Until every user had a token or was asked to approve again, once it was calm; absent: not in time. */
  readonly settledMs?: number
  readonly unsettled: readonly string[]
}
