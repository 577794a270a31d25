import type { CallToolResult, InputRequiredResult, Server } from '@modelcontextprotocol/server'
import type { AppTool } from '../tools/app-tools.ts'
import type { GatepassClient } from '../tools/gatepass-client.ts'
import type { RequiredAuthorization } from '../tools/run.ts'
import type { ServedApp } from '../tools/served-app.ts'
import { askByError, askByText, failureText } from './consent-answer.ts'
import type { Round } from './rounds.ts'

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
  const link = { id, url, scopes, message }
  if (!round.canOpenLinks)
    return askByText(link, { ends: 'after a few minutes', publishesOutput: output !== undefined })
  if (round.endForConsent !== undefined) return round.endForConsent(id, link)
  if (staysConnected) announceCompletion(server, app.gatepass, id)
  throw askByError(link)
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
  if (consent.isRefused) return failureText('The user did not open the link, so the tool was not run.')
  const ended = await settled(gatepass, consent.id, holdMs, signal)
  if (ended === 'completed') return undefined
  return ended === 'pending' ? endForConsent(consent.id) : failureText(ended.reason)
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
