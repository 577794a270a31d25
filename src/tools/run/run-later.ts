import type { Broker } from '../../broker.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Execution, ToolCall } from './execution.ts'

/** Runs a tool at a later time, which the text `runAt` names, instead of at once. */
export type RunLater = (broker: Broker, call: ToolCall, runAt: string) => Promise<LaterRun>

export type LaterRun =
  | { readonly outcome: 'scheduled'; readonly record: ExecutionRecord }
  /** Nothing was scheduled: the user must approve first, while the caller is there to send the link. */
  | { readonly outcome: 'authorization_required'; readonly execution: Execution }
