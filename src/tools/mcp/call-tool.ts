import { setTimeout as sleep } from 'node:timers/promises'
import { LOG_LEVEL_META_KEY, type Tool as McpTool, SdkHttpError } from '@modelcontextprotocol/client'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import { isSafeToRepeat } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { contextOf } from '../arcade/backend.ts'
import type { BackendCall } from '../backend.ts'
import type { ElicitationMode } from '../dialog/dialog.ts'
import type { ToolOutcome } from '../tool-answer.ts'
import { GATEWAY_STATUSES, retryPauseMs } from '../worker-request.ts'
import { type RoundParams, runRounds } from './call-rounds.ts'
import { ExchangeFault, exchange } from './exchange.ts'
import { largeResultReader } from './large-messages.ts'
import { outcomeOf, scrubFault } from './mcp-error.ts'
import { readMcpResult } from './read-mcp-result.ts'
import type { ServerMessages } from './server-messages.ts'
import { type McpSession, openSession } from './session.ts'
import { isKnownLegacy, leaseSession, rememberProtocol } from './sessions.ts'
import { DEFAULT_TOKEN_META, type McpSettings, mcpSettings, type RequestSigner } from './settings.ts'

/** The credentials for the server of one call, and the call's time limit. */
export interface CallAccess {
  readonly headers: Readonly<Record<string, string>>
  readonly signer?: RequestSigner | undefined
  readonly deadline: Deadline
  /** The worker's own secrets, to be removed from what the server answers. */
  readonly workerSecrets: readonly string[]
}

/** The time limit of a call. It is paused while the user is asked. */
export interface Deadline {
  leftMs(): number
  pausedDuring<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

export function createDeadline(seconds: number): Deadline {
  let endsAt = performance.now() + seconds * 1000
  // a server may ask several questions at once: the time in which they overlap is added once
  let asking = 0
  let pausedAt = 0
  return {
    leftMs: () => endsAt - (asking > 0 ? pausedAt : performance.now()),
    async pausedDuring(ask) {
      if (asking++ === 0) pausedAt = performance.now()
      try {
        return await ask()
      } finally {
        if (--asking === 0) endsAt += performance.now() - pausedAt
      }
    },
  }
}

/** The outcome of one attempt; `error` is the failure that the outcome describes. */
export interface CallAttempt {
  readonly outcome: ToolOutcome
  readonly error?: unknown
}

/** The lowest level of log lines that a server of MCP 2026-07-28 sends during a call. */
const LOG_LEVEL = 'info'

/**
 * Calls the tool in a session of its user. Retries when the tool certainly did not run, or when running it twice is safe.
 */
export async function callMcpTool(
  broker: Broker,
  worker: Worker,
  call: BackendCall,
  access: CallAccess,
  messages: ServerMessages,
): Promise<CallAttempt> {
  const { signal, tool } = call
  const { deadline } = access
  const isRepeatable = isSafeToRepeat(tool)
  for (let attempt = 0; ; ) {
    const made = await callOnce(broker, worker, call, access, messages)
    if (made.error === undefined || signal?.aborted === true) return made
    if (made.isStale && deadline.leftMs() > 0) continue
    const pauseMs = retryPauseMs(attempt)
    if (attempt++ >= worker.retry || deadline.leftMs() <= pauseMs) return made
    if (!mayRepeat(made.error, made.wasCalled, isRepeatable)) return made
    await sleep(pauseMs, undefined, signal && { signal }).catch(() => undefined)
  }
}

/**
 * Whether the server no longer knows the session. The protocol's answer is 404, but many servers answer 400 and mention
 * the session.
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

/** Makes one attempt. `isStale`: the server no longer knew the pooled session, so the tool did not run. */
async function callOnce(
  broker: Broker,
  worker: Worker,
  call: BackendCall,
  { headers, signer, deadline, workerSecrets }: CallAccess,
  messages: ServerMessages,
): Promise<CallAttempt & { readonly wasCalled: boolean; readonly isStale?: boolean }> {
  const { host } = new URL(worker.uri)
  const timeLeft = () => Math.max(1, deadline.leftMs())
  const { modes = [] } = call.dialog ?? {}
  const { signal, userId, reading } = call
  const large = reading && largeResultReader(reading, workerSecrets)
  // remove secrets before texts are cut, because a cut secret would not be recognised
  const clean = (error: unknown) => scrubFault(error, [...(reading?.secrets ?? []), ...workerSecrets])
  const open = async () => {
    const isLegacy = isKnownLegacy(worker)
    const session = await openSession(broker.outgoing, {
      uri: worker.uri,
      headers,
      signer,
      timeoutMs: timeLeft(),
      longestMs: longestMs(worker, modes),
      isLegacy,
      modes,
      signal,
    })
    rememberProtocol(worker, session)
    return session
  }
  const key = sha256(
    JSON.stringify([worker.uid, worker.uri, worker.timeoutSeconds, userId ?? null, headers, signer, modes]),
  )
  let wasCalled = false
  try {
    const { session, isReused, end } = await leaseSession(broker, key, open)
    wasCalled = true
    let isUsable = false
    try {
      const result = await runRounds({
        messages,
        canOpenLinks: modes.includes('url'),
        signal: signal ?? NEVER,
        pausedDuring: deadline.pausedDuring,
        request: (round) =>
          exchange(
            {
              timeoutMs: timeLeft(),
              signal,
              large,
              messages: withDeadline(messages, deadline),
              active: session.active,
            },
            (signal) => request(session, worker, call, signal, round),
          ),
      })
      isUsable = true
      return { outcome: large?.of(result) ?? readMcpResult(result), wasCalled }
    } catch (error) {
      const refused = error instanceof ExchangeFault ? error.seen.refused : undefined
      const isExpected = error instanceof ContextRequiredError || error instanceof ExchangeFault
      isUsable =
        refused === undefined && isExpected && (error as Partial<ExchangeFault>).seen?.fault === undefined
      const isStale = isReused && isSessionUnknown(error)
      return { outcome: outcomeOf(clean(error), host, 'calling'), error, wasCalled, isStale }
    } finally {
      end(isUsable)
    }
  } catch (error) {
    return { outcome: outcomeOf(clean(error), host, 'connecting'), error, wasCalled }
  }
}

const NEVER = new AbortController().signal
/** Added to the tool's time limit when its user may be asked. */
const ASKING_MS = 3_600_000

/**
 * The time limit of one HTTP request. Usually the call's `Deadline`, which is paused while the user is asked, ends
 * sooner.
 */
function longestMs({ timeoutSeconds }: Worker, modes: readonly ElicitationMode[]): number {
  return timeoutSeconds * 1000 + (modes.length > 0 ? ASKING_MS : 0)
}

function withDeadline(messages: ServerMessages, { pausedDuring }: Deadline): ServerMessages {
  return { ...messages, elicit: (...asked) => pausedDuring(() => messages.elicit(...asked)) }
}

/** Sends `tools/call`. The SDK gets no output schema, because the broker checks the output of every tool itself. */
function request(
  { client }: McpSession,
  worker: Worker,
  call: BackendCall,
  signal: AbortSignal,
  round: RoundParams,
): Promise<Readonly<Record<string, unknown>>> {
  const { tool, input, onEvent, dialog } = call
  const isModern = client.getProtocolEra() === 'modern'
  const meta = {
    ...callMeta(mcpSettings(worker), call),
    ...(isModern && { [LOG_LEVEL_META_KEY]: LOG_LEVEL }),
  }
  const { name, inputSchema } = tool
  return client.callTool(
    { name, arguments: { ...input }, ...(Object.keys(meta).length > 0 && { _meta: meta }), ...round },
    {
      signal,
      timeout: longestMs(worker, dialog?.modes ?? []),
      allowInputRequired: true,
      // the catalogue checked that its type is `object`
      toolDefinition: { name, inputSchema: inputSchema as McpTool['inputSchema'] },
      ...(onEvent && {
        onprogress: ({ progress, total, message }) =>
          onEvent({
            kind: 'progress',
            data: { progress, total, message },
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
