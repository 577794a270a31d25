import type { Broker } from '../../broker.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { RequiredAuthorization } from '../tool-answer.ts'
import type { Execution, ToolCall } from './execution.ts'

/** Runs a tool at a later time instead of at once. */
export type RunLater = (broker: Broker, call: ToolCall, when: RunTime) => Promise<LaterRun>

/** The text `run_at`, or the question about the call: it runs when people have approved it. */
export type RunTime = { readonly runAt: string } | { readonly approval: RequiredAuthorization }

export type LaterRun =
  | {
      readonly outcome: 'scheduled'
      readonly record: ExecutionRecord
      /** The question, while the run waits for its answer. */
      readonly question?: RequiredAuthorization | undefined
    }
  /** Nothing was scheduled: the user must consent first, while the caller is there to send the link, or a policy refuses. */
  | { readonly outcome: 'not_scheduled'; readonly execution: Execution }
