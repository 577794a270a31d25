import { setTimeout as sleep } from 'node:timers/promises'
import { type Tool as McpTool, SdkHttpError } from '@modelcontextprotocol/client'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import { isSafeToRepeat } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { contextOf } from '../arcade/backend.ts'
import type { BackendCall } from '../backend.ts'
import type { ToolOutcome } from '../tool-answer.ts'
import { ExchangeFault, exchange } from './exchange.ts'
import { largeResultReader } from './large-messages.ts'
import { outcomeOf, scrubFault } from './mcp-error.ts'
import { readMcpResult } from './read-mcp-result.ts'
import { type McpSession, openSession } from './session.ts'
import { isKnownLegacy, leaseSession, rememberProtocol } from './sessions.ts'
import { DEFAULT_TOKEN_META, type McpSettings, mcpSettings, type RequestSigner } from './settings.ts'

/** How a call authenticates to the server, and until when it may take. */
export interface CallAccess {
  readonly headers: Readonly<Record<string, string>>
  readonly signer?: RequestSigner | undefined
  /** The deadline, by `performance.now()`. */
  readonly endsAt: number
  /** Secret values in the headers, to be removed from what the server answers. */
  readonly shown: readonly string[]
}

/** The outcome of one attempt; `error` is the failure it was made from. */
export interface CallAttempt {
  readonly outcome: ToolOutcome
  readonly error?: unknown
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000
const GATEWAY_STATUSES = [502, 503, 504]

/**
 * Calls the tool in a session of its user. Retries when the tool surely did not run, or when running it twice is
 * safe.
 */
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

/**
 * Whether the server no longer knows the session: 404 by the protocol, while many servers answer 400 and mention the
 * session.
 */
function isSessionUnknown(error: unknown): boolean {
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

/** Makes one attempt. `isStale`: a pooled session was used that the server has forgotten, so the tool did not run. */
async function callOnce(
  broker: Broker,
  worker: Worker,
  call: BackendCall,
  { headers, signer, endsAt, shown }: CallAccess,
): Promise<CallAttempt & { readonly wasCalled: boolean; readonly isStale?: boolean }> {
  const { host } = new URL(worker.uri)
  const timeoutMs = Math.max(1, endsAt - performance.now())
  const { signal, userId, reading } = call
  const large = reading && largeResultReader(reading, shown)
  // remove secrets before texts are cut, because a cut secret would not be recognised
  const clean = (error: unknown) => scrubFault(error, [...(reading?.secrets ?? []), ...shown])
  const open = async () => {
    const isLegacy = isKnownLegacy(worker)
    const session = await openSession(broker.outgoing, {
      uri: worker.uri,
      headers,
      signer,
      timeoutMs,
      longestMs: worker.timeoutSeconds * 1000,
      isLegacy,
      signal,
    })
    rememberProtocol(worker, session)
    return session
  }
  const key = sha256(
    JSON.stringify([worker.uid, worker.uri, worker.timeoutSeconds, userId ?? null, headers, signer]),
  )
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
      const isStale = isReused && isSessionUnknown(error)
      return { outcome: outcomeOf(clean(error), host, 'calling'), error, wasCalled, isStale }
    } finally {
      end(isUsable)
    }
  } catch (error) {
    return { outcome: outcomeOf(clean(error), host, 'connecting'), error, wasCalled }
  }
}

/** Sends `tools/call`. The SDK gets no output schema, because the broker checks the output of every tool itself. */
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
      // the catalogue checked that its type is `object`
      toolDefinition: { name, inputSchema: inputSchema as McpTool['inputSchema'] },
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

/**
 * The `_meta` of a call: the tool's tokens, secrets and user, in the form Arcade's MCP servers read. Only tools that
 * declare such needs get it, and it never contains the token for the server itself.
 */
function callMeta(
  { tokenMeta = DEFAULT_TOKEN_META }: Pick<McpSettings, 'tokenMeta'>,
  call: BackendCall,
): Record<string, unknown> | undefined {
  const authorizations = call.authorizations.filter(({ requirements }) =>
    requirements.some(({ use }) => use !== 'server'),
  )
  const { secrets, metadata } = call
  if (authorizations.length + secrets.length + metadata.length === 0) return undefined
  return { [tokenMeta]: contextOf({ ...call, authorizations }) }
}
