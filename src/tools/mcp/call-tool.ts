import { setTimeout as sleep } from 'node:timers/promises'
import { type Tool as McpTool, SdkHttpError } from '@modelcontextprotocol/client'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import { isSafeToRepeat } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { BackendCall } from '../backend.ts'
import type { ToolOutcome } from '../tool-answer.ts'
import { callMeta } from './call-meta.ts'
import { ExchangeFault, exchange } from './exchange.ts'
import { createLargeResults } from './large-messages.ts'
import { outcomeOf, withoutSecrets } from './mcp-error.ts'
import { readMcpResult } from './read-mcp-result.ts'
import { type McpSession, openSession } from './session.ts'
import { isKnownLegacy, leaseSession, noteProtocol } from './sessions.ts'
import { mcpSettings } from './settings.ts'

/** Whose call it is, to the server. */
export interface CallAccess {
  readonly headers: Readonly<Record<string, string>>
  /** By `performance.now()`. */
  readonly endsAt: number
  /** Secrets in the headers. */
  readonly shown: readonly string[]
}

/** What came of a call; `error`: what it was made of. */
export interface CallAttempt {
  readonly outcome: ToolOutcome
  readonly error?: unknown
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
const GATEWAY_STATUSES = [502, 503, 504]

/** Calls the tool in a session of its user's; again when surely nothing was done, or when the tool may be called twice. */
export async function callMcpTool(
  broker: Broker,
  worker: Worker,
  call: BackendCall,
  access: CallAccess,
): Promise<CallAttempt> {
  const { signal, tool } = call
  const isRepeatable = isSafeToRepeat(tool)
  for (let attempt = 0; ; ) {
    const made = await callOnce(broker, worker, call, access)
    if (made.error === undefined || signal?.aborted === true) return made
    if (made.isStale && performance.now() < access.endsAt) continue
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS)
    if (attempt++ >= worker.retry || performance.now() + pauseMs >= access.endsAt) return made
    if (!mayRepeat(made.error, made.wasCalled, isRepeatable)) return made
    await sleep(pauseMs, undefined, signal && { signal }).catch(() => undefined)
  }
}

/** Whether the server does not know the session: 404 by the protocol, 400 with a word of it by many. */
function isForgotten(error: unknown): boolean {
  if (!(error instanceof ExchangeFault) || error.seen.refused?.hadSession !== true) return false
  const { status } = error.seen.refused
  if (status !== 400 || !(error.cause instanceof SdkHttpError)) return status === 404
  return /session/i.test(String(error.cause.data.text))
}

function mayRepeat(error: unknown, wasCalled: boolean, isRepeatable: boolean): boolean {
  if (!(error instanceof ExchangeFault)) return false
  const { fault, refused, isTimeout } = error.seen
  if (isTimeout) return false
  const isSafe = isRepeatable || !wasCalled
  if (refused !== undefined) return isSafe && GATEWAY_STATUSES.includes(refused.status)
  return fault?.kind === 'unreachable' && (isSafe || !fault.requestSent)
}

/** `isStale`: the session was one of before, which the server has forgotten; nothing was done. */
async function callOnce(
  broker: Broker,
  worker: Worker,
  call: BackendCall,
  { headers, endsAt, shown }: CallAccess,
): Promise<CallAttempt & { readonly wasCalled: boolean; readonly isStale?: boolean }> {
  const { host } = new URL(worker.uri)
  const timeoutMs = Math.max(1, endsAt - performance.now())
  const { signal, userId, reading } = call
  const large = reading && createLargeResults(reading, shown)
  // before it is cut: the beginning of a secret would not be found
  const clean = (error: unknown) => withoutSecrets(error, [...(reading?.secrets ?? []), ...shown])
  const open = async () => {
    const isLegacy = isKnownLegacy(worker)
    const session = await openSession(broker.outgoing, {
      uri: worker.uri,
      headers,
      timeoutMs,
      longestMs: worker.timeoutSeconds * 1000,
      isLegacy,
      signal,
    })
    noteProtocol(worker, session)
    return session
  }
  const key = sha256(JSON.stringify([worker.uid, worker.uri, worker.timeoutSeconds, userId ?? null, headers]))
  let wasCalled = false
  try {
    const { session, isReused, end } = await leaseSession(broker, key, open)
    wasCalled = true
    let isUsable = false
    try {
      const result = await exchange(
        { timeoutMs: Math.max(1, endsAt - performance.now()), signal, large },
        (signal) => request(session, worker, call, signal),
      )
      isUsable = true
      return { outcome: large?.of(result) ?? readMcpResult(result), wasCalled }
    } catch (error) {
      const refused = error instanceof ExchangeFault ? error.seen.refused : undefined
      isUsable = refused === undefined && error instanceof ExchangeFault && error.seen.fault === undefined
      const isStale = isReused && isForgotten(error)
      return { outcome: outcomeOf(clean(error), host, 'calling'), error, wasCalled, isStale }
    } finally {
      end(isUsable)
    }
  } catch (error) {
    return { outcome: outcomeOf(clean(error), host, 'connecting'), error, wasCalled }
  }
}

/** `tools/call`. Its output is checked like every tool's, so the SDK is told of no output schema. */
function request(
  { client }: McpSession,
  worker: Worker,
  call: BackendCall,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { tool, input, onEvent } = call
  const meta = callMeta(mcpSettings(worker), call)
  const { name, inputSchema } = tool
  return client.callTool(
    { name, arguments: { ...input }, ...(meta && { _meta: meta }) },
    {
      signal,
      timeout: worker.timeoutSeconds * 1000,
      toolDefinition: { name, inputSchema: inputSchema as McpTool['inputSchema'] }, // read from such a server
      ...(onEvent && {
        onprogress: ({ progress, total, message }) =>
          onEvent({
            kind: 'progress',
            data: {
              progress,
              ...(total !== undefined && { total }),
              ...(message !== undefined && { message }),
            },
          }),
      }),
    },
  )
}
