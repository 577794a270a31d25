import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { CallToolResult } from '../../sdk/tools/content.ts'
import type { OuterRun } from '../../sdk/tools/run.ts'
import { errorResult, toCallToolResult } from '../../sdk/tools/tool-result.ts'
import { currentContext, inContext } from '../../services/request-context.ts'
import type { InnerTools } from '../backend.ts'
import { getTool } from '../catalogue/get-tool.ts'
import type { Dialog } from '../dialog/dialog.ts'
import { parsedValue } from '../large-json.ts'
import { artifactToJson, type ToolResult } from '../tool-answer.ts'
import { syncWorker } from '../worker.ts'
import type { Execution, ToolCall } from './execution.ts'
import { accountsFor } from './tool-tokens.ts'

/** The limit for a chain of tools in which each calls the next. */
const MAX_DEPTH = 8

/**
 * The other tools of the project, for a tool that runs in this process: they run for the same user, by the same checks
 * and the gate as for any caller. `execute` is `executeTool`, which imports this file.
 */
export function innerTools(
  broker: Broker,
  outer: ToolCall,
  worker: Worker,
  execute: (broker: Broker, call: ToolCall, signal: AbortSignal) => Promise<Execution>,
): InnerTools {
  const { projectId } = outer.tool
  const depth = (outer.depth ?? 0) + 1
  return {
    async call(name, args, { signal, whileAsking }) {
      try {
        if (depth > MAX_DEPTH)
          return failed('TOOL_RUNTIME_FATAL', `More than ${MAX_DEPTH} tools have called each other.`)
        const tool = await getTool(broker, projectId, name)
        const { userId, account, nextUri, userDisplay, lang, metadata, keepContent, dialog } = outer
        const accounts = outer.accounts && (await accountsFor(broker, tool, outer))
        const call: ToolCall = {
          tool,
          input: args,
          entryPoint: 'tool',
          depth,
          userId,
          account,
          accounts,
          nextUri,
          userDisplay,
          lang,
          metadata,
          keepContent,
          ...(dialog && { dialog: innerDialog(dialog, whileAsking) }),
        }
        const { outcome } = await asSeparateUse(() => execute(broker, call, signal))
        if (outcome.outcome === 'authorization_required') return outcome
        return { outcome: 'result', result: toResult(outcome) }
      } catch (error) {
        if (!(error instanceof BrokerError)) throw error
        return failed(error.code, error.message)
      }
    },
    async list() {
      const tools = await broker.cache.catalogue.of(projectId)
      return tools.map((tool) => ({
        name: toolId(tool),
        title: tool.title,
        description: tool.description,
        inputSchema: tool.inputSchema,
      }))
    },
    async listChanged() {
      await syncWorker(broker, worker)
    },
  }
}

/**
 * The dialog of an inner tool. It reports no progress, because the caller sees that of the outer tool. The time limit
 * of the outer tool pauses while the user answers.
 */
function innerDialog({ progress: _, ...dialog }: Dialog, whileAsking: OuterRun['whileAsking']): Dialog {
  return { ...dialog, elicit: (question, signal) => whileAsking(() => dialog.elicit(question, signal)) }
}

/** Policies judge the inner call separately: a permission for the outer call does not cover it. */
function asSeparateUse<Result>(run: () => Result): Result {
  const { permitted: _, ...context } = currentContext()
  return inContext(context, run)
}

function failed(kind: string, message: string) {
  return { outcome: 'result', result: errorResult({ kind, message, canRetry: false }) } as const
}

function toResult(outcome: ToolResult): CallToolResult {
  switch (outcome.outcome) {
    case 'value':
      if (outcome.mcpResult !== undefined) return parsedValue(outcome.mcpResult) as CallToolResult // `readMcpResult` has read it
      return toCallToolResult({ outcome: 'value', json: JSON.stringify(parsedValue(outcome.value) ?? null) })
    case 'artifact':
      return toCallToolResult({ outcome: 'value', json: JSON.stringify(artifactToJson(outcome.artifact)) })
    case 'error': {
      // the outer tool may return this result to a caller who must not see the message for the operator
      const { extra: _, parameterErrors: __, developerMessage: ___, ...error } = outcome.error
      return errorResult(error)
    }
  }
}
