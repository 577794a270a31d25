import { setTimeout as sleep } from 'node:timers/promises'
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Worker } from '../../domain/worker.ts'
import { bearerChallenge } from '../../providers/protected-resource.ts'
import type { Backend, BackendCall } from '../backend.ts'
import { WorkerFault } from '../backend.ts'
import { scrub } from '../scrub.ts'
import type { ToolAnswer, ToolOutcome } from '../tool-answer.ts'
import { isSafeToRepeat } from '../tool-definition.ts'
import { MAX_HEALTH_SECONDS } from '../worker-request.ts'
import { callMeta } from './call-meta.ts'
import { mcpCatalogue } from './catalogue.ts'
import { ExchangeFault, exchange } from './exchange.ts'
import { faultOf, outcomeOf } from './mcp-error.ts'
import { readMcpResult } from './read-mcp-result.ts'
import { findServerAuthorization } from './server-authorization.ts'
import { type McpSession, openSession } from './session.ts'
import { isKnownLegacy, leaseSession, noteProtocol } from './sessions.ts'
import { mcpHeaders, mcpSettings } from './settings.ts'

/** Remote MCP servers over Streamable HTTP (2025-03-26 to 2026-07-28), as a source of tools. */
export const mcpBackend: Backend = {
  catalogue: mcpCatalogue,

  async health(broker, worker) {
    try {
      const { headers } = await mcpHeaders(broker, worker)
      const timeoutMs = Math.min(worker.timeoutSeconds, MAX_HEALTH_SECONDS) * 1000
      const session = await openSession(broker.outgoing, {
        uri: worker.uri,
        headers,
        timeoutMs,
        longestMs: timeoutMs,
        isLegacy: false,
      })
      session.close()
      return { healthy: true }
    } catch (error) {
      // that it wants a token is all that can be known of it without one
      if (error instanceof ExchangeFault && error.seen.refused?.status === 401)
        return { healthy: true, message: 'It answers, and wants an authorization for more.' }
      const fault = error instanceof WorkerFault ? error : faultOf(error, new URL(worker.uri).host)
      return { healthy: false, message: fault.message }
    }
  },

  async call(broker, worker, call) {
    const started = performance.now()
    try {
      const { headers, values } = await mcpHeaders(broker, worker)
      const token = serverToken(worker, call)
      const access: Access = {
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        endsAt: started + worker.timeoutSeconds * 1000,
      }
      const outcome = await callUntilDone(broker, worker, call, access)
      if (token === undefined && isUnauthorized(outcome.error))
        return tellOfConsent(broker, worker, outcome.error)
      const answer = { ...outcome.outcome, logs: [], durationMs: performance.now() - started }
      return scrub(answer, values) as ToolAnswer // the same shape, with the values taken out
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return { outcome: 'error', error: error.error, isOwn: true, logs: [] }
    }
  },
}

interface Access {
  readonly headers: Readonly<Record<string, string>>
  /** By `performance.now()`. */
  readonly endsAt: number
}

interface Attempt {
  readonly outcome: ToolOutcome
  readonly error?: unknown
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
const GATEWAY_STATUSES = [502, 503, 504]

/** Tries again when surely nothing was done, or when the tool may be called twice. */
async function callUntilDone(
  broker: Broker,
  worker: Worker,
  call: BackendCall,
  access: Access,
): Promise<Attempt> {
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
  { headers, endsAt }: Access,
): Promise<Attempt & { readonly wasCalled: boolean; readonly isStale?: boolean }> {
  const { host } = new URL(worker.uri)
  const timeoutMs = Math.max(1, endsAt - performance.now())
  const { signal, userId } = call
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
        { timeoutMs: Math.max(1, endsAt - performance.now()), signal },
        (signal) => request(session, worker, call, signal),
      )
      isUsable = true
      return { outcome: readMcpResult(result), wasCalled }
    } catch (error) {
      const refused = error instanceof ExchangeFault ? error.seen.refused : undefined
      isUsable = refused === undefined && error instanceof ExchangeFault && error.seen.fault === undefined
      const isStale = isReused && refused?.status === 404 && refused.hadSession
      return { outcome: outcomeOf(error, host, 'calling'), error, wasCalled, isStale }
    } finally {
      end(isUsable)
    }
  } catch (error) {
    return { outcome: outcomeOf(error, host, 'connecting'), error, wasCalled }
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

/** The user's token for the server, which is the worker's own provider's and no other. */
function serverToken(worker: Worker, { authorizations }: BackendCall): string | undefined {
  const own = mcpSettings(worker).authorization?.providerUid
  return authorizations.find(
    ({ requirements, release }) =>
      release.entry.uid === own && requirements.some(({ use }) => use === 'server'),
  )?.release.accessToken
}

function isUnauthorized(error: unknown): error is ExchangeFault {
  return error instanceof ExchangeFault && error.seen.refused?.status === 401
}

/** The server wants OAuth, which its list of tools did not show: it is found out now, and listed from now on. */
async function tellOfConsent(broker: Broker, worker: Worker, { seen }: ExchangeFault): Promise<ToolAnswer> {
  await findServerAuthorization(broker, worker, bearerChallenge(seen.refused?.challenge))
  return {
    outcome: 'error',
    isOwn: true,
    logs: [],
    error: {
      kind: 'TOOL_REQUIREMENTS_NOT_MET',
      message:
        'What runs the tool wants its user to approve, which was not known until now. Call it again in a minute.',
      can_retry: true,
      retry_after_ms: 60_000,
    },
  }
}
