import type { EpochSeconds } from '../../domain/clock.ts'
import type { EntryPoint } from '../../domain/execution.ts'
import type { Tool } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { BackendCall } from '../backend.ts'
import type { Dialog } from '../dialog/dialog.ts'
import type {
  AnswerDetails,
  AuthorizationRequired,
  RequestedAuthorization,
  ToolResult,
} from '../tool-answer.ts'

// One call of a tool and its outcome: the same types for every way of running a tool.

/** The tool to use, for which user and with which account. */
export interface ToolUse {
  readonly tool: Tool
  readonly userId?: string | undefined
  /** A connection's id, or an account's id or name; absent: the user's default account. */
  readonly account?: string | undefined
  /** Takes the place of `account` at the provider entries of these ids. */
  readonly accounts?: Readonly<Record<string, string>> | undefined
  /** Where the user's browser goes after a consent. */
  readonly nextUri?: string | undefined
  /** The user's name as pages show it, and the language of pages, both given by the caller. */
  readonly userDisplay?: string | undefined
  readonly lang?: string | undefined
  /** The consent that the tool's worker has requested besides what the tool declares. */
  readonly requested?: RequestedAuthorization
}

/** A run that comes later: its time, and the approval for which it waits. */
export interface PlannedRun {
  readonly runAt?: EpochSeconds | undefined
  readonly approvalId?: string | undefined
}

/** One call of a tool, through any endpoint. */
export interface ToolCall extends ToolUse, Pick<BackendCall, 'callId' | 'onEvent'> {
  /** The number of tools that called one another before this call. Absent: 0. */
  readonly depth?: number
  /** How the tool asks its user while it runs. Only callers over MCP have one. */
  readonly dialog?: Dialog
  readonly input: Readonly<Record<string, unknown>>
  readonly entryPoint: EntryPoint
  /** Bound by an approval, with the rest of the call. */
  readonly later?: PlannedRun | undefined
  /** The id of a scheduled run. Default: a new id. */
  readonly executionId?: string
  /** Values that the caller sends. The tool receives only those that it declares. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Whether history keeps the input and the output. */
  readonly keepContent?: boolean | undefined
}

/** A call that has ended. */
export interface Execution {
  readonly id: string
  readonly durationMs: number
  /** RFC 3339. */
  readonly finishedAt: string
  /** Already scrubbed of tokens and secrets. */
  readonly outcome: ExecutionOutcome
  /** Whether the worker was asked to run the tool. If not, the tool has done nothing. */
  readonly wasCalled: boolean
  /** The worker that ran the tool or would have run it; absent where no worker does. */
  readonly worker?: Pick<Worker, 'id' | 'type'>
}

/** The tool's result, or that its user must approve first. */
export type ExecutionOutcome = (ToolResult & AnswerDetails) | AuthorizationRequired

/** Whether the tool produced a result: a value or an artifact. */
export function isSuccess({ outcome: { outcome } }: Pick<Execution, 'outcome'>): boolean {
  return outcome === 'value' || outcome === 'artifact'
}

/** Whether the same call can be repeated without doing anything twice: the tool was not called, or certainly did nothing. */
export function mayBeRepeated({ wasCalled, outcome }: Execution): boolean {
  const didNothing = outcome.outcome === 'error' && outcome.isOwn === true && outcome.error.canRetry
  return !wasCalled || didNothing
}
