import type { ServerContext } from '@modelcontextprotocol/server'
import type { ElicitationModes } from '../../sdk/mcp/elicitation-modes.ts'
import type { Dialog } from '../../tools/dialog/dialog.ts'
import type { ToolLog } from '../../tools/tool-answer.ts'
import type { Reports, SuspendedCalls } from '../suspended/suspended-calls.ts'
import type { CallAnswer, McpCall } from './mcp-call.ts'

// Connects a running tool with the user of the client that called it (MCP 2026-07-28, Elicitation, Progress, Logging).

/** The reports that the client of this request asked for: progress by `progressToken`, log lines by `logLevel`. */
function reportsOf({ era, context: { mcpReq } }: Pick<McpCall, 'era' | 'context'>): Reports {
  const progressToken = mcpReq._meta?.progressToken
  return {
    ...(progressToken !== undefined && {
      progress: (data) =>
        send(mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...data } })),
    }),
    // the SDK drops lines below the level of the request
    ...(era === 'modern' && { log: ({ level, message }) => send(mcpReq.log(toLevel(level), message)) }),
  }
}

/** A report that cannot be sent is lost: the client has closed its stream. */
function send(sending: Promise<void>): void {
  sending.catch(() => undefined)
}

type Level = Parameters<ServerContext['mcpReq']['log']>[0]
const LEVELS: readonly Level[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** Converts to the level names of MCP, which are those of RFC 5424; `info` for unknown names. */
function toLevel(level: ToolLog['level']): Level {
  const named = level.toLowerCase()
  return LEVELS.find((known) => known === named || (known === 'warning' && named === 'warn')) ?? 'info'
}

/**
 * Runs a call so that its tool can ask the user. Clients of 2025 answer while the stream of the call is open, newer
 * ones by repeating the call.
 */
export async function inDialog(
  suspended: SuspendedCalls,
  call: McpCall,
  run: (call: McpCall, dialog: Dialog) => Promise<CallAnswer>,
): Promise<CallAnswer> {
  const { exchange, shown, input, era, signal, context } = call
  const { projectId, identity: caller, owner } = exchange.principal
  const asker = { binding: { projectId, caller, toolUid: shown.tool.uid, input }, owner }
  if (era === 'legacy') return run(call, streamDialog(suspended, call, asker))
  const { inputResponses } = context.mcpReq
  const cancelled = exchange.request.signal
  const round = { ...asker, modes: modesOf(call.elicitation), signal, cancelled, reports: reportsOf(call) }
  const requestState = context.mcpReq.requestState<string>()
  const resumed =
    requestState === undefined ? undefined : await suspended.resume(round, { requestState, inputResponses })
  return resumed ?? suspended.run(round, (dialog, ending) => run({ ...call, signal: ending }, dialog))
}

function streamDialog(
  suspended: SuspendedCalls,
  call: McpCall,
  asker: Parameters<SuspendedCalls['askOnStream']>[0],
): Dialog {
  return {
    ...reportsOf(call),
    modes: modesOf(call.elicitation),
    elicit: suspended.askOnStream(
      asker,
      (id, params) => call.toClient({ id, method: 'elicitation/create', params: { ...params } }),
      (requestId) =>
        send(
          call.toClient({
            method: 'notifications/cancelled',
            params: { requestId, reason: 'no answer is expected anymore' },
          }),
        ),
    ),
  }
}

function modesOf({ form, url }: ElicitationModes): Dialog['modes'] {
  return [...(form ? (['form'] as const) : []), ...(url ? (['url'] as const) : [])]
}
