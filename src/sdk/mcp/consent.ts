import {
  type CallToolResult,
  type InputRequiredResult,
  type Server,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/server'
import type { AppTool } from '../tools/app-tools.ts'
import type { GatepassClient } from '../tools/gatepass-client.ts'
import type { RequiredAuthorization } from '../tools/run.ts'
import type { ServedApp } from '../tools/served-app.ts'
import type { Round } from './rounds.ts'

// How a missing consent is answered: by `input_required` with the link (2026-07-28), by the error -32042 (2025-11-25),
// or by text, for clients that declare neither.

export interface ConsentOptions {
  readonly app: ServedApp
  readonly server: Server
  /** Whether the client can be notified after its request. */
  readonly staysConnected: boolean
  /** How long a request is held while its user approves, in milliseconds. */
  readonly holdMs: number
}

type Answer = CallToolResult | InputRequiredResult

const LINK_MS = 600_000

/** Answers with the link for the user. */
export async function answerConsent(
  { app, server, staysConnected }: ConsentOptions,
  { name, options: { output } }: AppTool,
  round: Round,
  { id, url, scopes }: RequiredAuthorization,
): Promise<Answer> {
  const message = `${name} needs your approval${scopes.length > 0 ? ` (${scopes.join(' ')})` : ''}.`
  if (round.canOpenLinks && round.endForConsent !== undefined)
    return round.endForConsent({ id, url }, message)
  if (round.canOpenLinks) {
    if (staysConnected) announceCompletion(server, app.gatepass, id)
    throw new UrlElicitationRequiredError(
      [{ mode: 'url', elicitationId: id, url, message }],
      'Approval needed.',
    )
  }
  const required = { id, url, scopes, status: 'pending' }
  return {
    ...failure(
      `${message} Open ${url}, approve, then ask again. The link is for you alone and ends after a few minutes.`,
    ),
    ...(output === undefined && { structuredContent: { requires_authorization: required } }),
    _meta: { 'gatepass/requires_authorization': required },
  }
}

/**
 * Waits while the user approves at the link of an earlier round. Returns the answer to send if they have not approved.
 */
export async function waitForConsent(
  { holdMs }: ConsentOptions,
  { consent, signal, endForConsent }: Round,
  gatepass: GatepassClient,
): Promise<Answer | undefined> {
  if (consent === undefined || endForConsent === undefined) return undefined
  if (consent.isRefused) return failure('The user did not open the link, so the tool was not run.')
  const ended = await settled(gatepass, consent.id, holdMs, signal)
  if (ended === 'completed') return undefined
  return ended === 'pending' ? endForConsent({ id: consent.id }) : failure(ended.reason)
}

/** The consents that each session or connection waits for: a client may call again before its user has approved. */
const AWAITED = new WeakMap<Server, Set<string>>()

/** Notifies a client of 2025, on its session's stream or its connection, that it may call again. */
function announceCompletion(server: Server, gatepass: GatepassClient | undefined, id: string): void {
  const awaited = AWAITED.get(server) ?? new Set<string>()
  if (gatepass === undefined || awaited.has(id)) return
  AWAITED.set(server, awaited.add(id))
  const closed = new AbortController()
  const before = server.onclose
  server.onclose = () => {
    closed.abort()
    before?.()
  }
  settled(gatepass, id, LINK_MS, closed.signal)
    .then((ended) => (ended === 'pending' ? undefined : server.createElicitationCompletionNotifier(id)()))
    .catch(() => undefined) // the client has disconnected; it may call again without the notification
    .finally(() => awaited.delete(id))
}

/** Waits until an authorization has ended, at most `timeoutMs`. */
async function settled(
  gatepass: GatepassClient,
  id: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<'completed' | 'pending' | { readonly reason: string }> {
  const authorization = await gatepass.authorization(id, { signal })
  try {
    await authorization.wait({ timeoutMs, signal })
    return 'completed'
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'authorization_timeout') return 'pending'
    if (code === 'authorization_failed' && error instanceof Error) return { reason: error.message }
    throw error
  }
}

function failure(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
