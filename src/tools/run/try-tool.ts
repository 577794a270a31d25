import type { Broker } from '../../broker.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { ToolError } from '../tool-error.ts'
import { executeTool } from './execute-tool.ts'
import type { Execution, ToolCall } from './execution.ts'
import { checkCall } from './preconditions.ts'

/** Why the tool's schema refuses the input, or the run. */
export type Trial =
  | { readonly outcome: 'refused'; readonly fault: ToolError }
  | { readonly outcome: 'ran'; readonly execution: Execution }

/**
 * Runs a tool for an operator of the console, who names its user. The audit trail records who tried it, and history keeps
 * the input and the output. Input that the schema refuses is not recorded.
 */
export async function tryTool(
  broker: Broker,
  { tool, input, userId }: { readonly tool: Tool } & Pick<ToolCall, 'input' | 'userId'>,
  signal?: AbortSignal,
): Promise<Trial> {
  const call = { tool, input, userId, entryPoint: 'console', keepContent: true } as const
  const checked = await checkCall(broker, call)
  if (checked.inputFault !== undefined) return { outcome: 'refused', fault: checked.inputFault }
  await broker.audit.record(tool.projectId, { action: 'tool.tried', tool: toolId(tool), userId })
  return { outcome: 'ran', execution: await executeTool(broker, checked, signal) }
}
