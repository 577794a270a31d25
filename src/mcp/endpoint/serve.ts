import { createMcpHandler, isInitializeRequest } from '@modelcontextprotocol/server'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { elicitationModes } from '../../sdk/mcp/elicitation-modes.ts'
import { requireCallScope } from '../callers/principal.ts'
import { createBacklog } from './backlog.ts'
import type { CallParts } from './call-tool.ts'
import type { Exchange } from './exchange.ts'
import type { ListChanges } from './list-changes.ts'
import { createServer } from './mcp-server.ts'
import { createPlaceholders } from './placeholders.ts'
import type { PlainCalls } from './plain-calls.ts'
import { forwardResponse } from './response-stream.ts'
import type { Sessions } from './session.ts'
import type { StreamSlots } from './stream-slots.ts'
import { createSubscription } from './subscription.ts'
import { isLegacyVersion, LEGACY_VERSIONS } from './versions.ts'

export interface ServeParts extends CallParts {
  readonly sessions: Sessions
  readonly changes: ListChanges
  readonly slots: StreamSlots
  readonly plain: PlainCalls
}

/** Answers one POST, whose body has been parsed. The SDK distinguishes the eras and validates the request. */
export async function serve(parts: ServeParts, exchange: Exchange, body: unknown): Promise<Response> {
  const messages = (Array.isArray(body) ? body : [body]).filter(isRecord)
  if (messages.some(({ method }) => method === 'tools/call')) {
    requireCallScope(exchange.principal)
    parts.calls.checkLimit(exchange.principal.owner)
  }
  for (const message of messages) {
    cancelBy(message, parts, exchange)
    await answerBy(message, parts, exchange)
  }
  const list = await parts.lists.listFor(exchange)
  const answered = await parts.plain.answer(exchange, body, list)
  if (answered !== undefined) return answered
  const { instructions } = list.selection ?? {}
  const placeholders = createPlaceholders()
  const backlog = createBacklog()
  const subscription = createSubscription(exchange, parts.changes)
  const handler = createMcpHandler(
    ({ era }) => createServer({ ...parts, exchange, list, era, placeholders, backlog, instructions }),
    { bus: subscription.bus },
  )
  const isListening = messages.some(({ method }) => method === 'subscriptions/listen')
  const release = isListening
    ? parts.slots.acquire({
        owner: exchange.principal.owner,
        isAuthorized: exchange.isAuthorized,
        end: () => void handler.close(),
      })
    : () => {}
  const response = await handler.fetch(exchange.request, { parsedBody: body })
  if (response.ok && messages[0]?.method === 'initialize' && isInitializeRequest(body))
    response.headers.set('mcp-session-id', sessionFor(parts, exchange, body))
  const taken = () => {
    backlog.taken()
    subscription.taken()
  }
  return forwardResponse(response, { placeholders, taken, ended: release })
}

/** Cancels the call that a notification of a client of 2025 names, in its session (MCP 2025-11-25, Cancellation). */
function cancelBy(
  { method, params }: JsonRecord,
  { calls }: ServeParts,
  { legacy: { sessionId } }: Exchange,
): void {
  if (method !== 'notifications/cancelled' || sessionId === undefined || !isRecord(params)) return
  calls.cancel(sessionId, params.requestId)
}

/** Passes on the response of a client of 2025 to a question that a tool has asked on the stream of its call. */
async function answerBy(
  { method, id, result }: JsonRecord,
  { suspended }: ServeParts,
  { principal: { projectId, identity: caller } }: Exchange,
): Promise<void> {
  if (method === undefined) await suspended.answer({ projectId, caller }, id, result)
}

/** Issues a session with the revision that the SDK answers: the client's, or the newest of 2025 for an unknown one. */
function sessionFor(
  { sessions }: ServeParts,
  { principal }: Exchange,
  { params }: { readonly params: { readonly protocolVersion: string; readonly capabilities: unknown } },
): string {
  const { protocolVersion, capabilities } = params
  const version = isLegacyVersion(protocolVersion) ? protocolVersion : LEGACY_VERSIONS[0]
  return sessions.issue({ version, elicitation: elicitationModes(capabilities, version) }, principal)
}
