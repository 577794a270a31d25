import { AuthorizationTimeout, GatepassError } from './client/errors.ts'
import { backoffMs, pause } from './client/retry.ts'
import type { FailureReason } from './wire.ts'

// For pages in a browser. Nothing here holds an API key: the page asks your own server, which asks Gatepass.

/**
 * Opens the link of an authorization: in a popup, or in this tab where the browser blocks popups. Call it in the handler
 * of a click. `url` may be a promise: the popup opens at once, as browsers require, and goes to the link when it is known.
 */
export async function openLink(url: string | Promise<string>): Promise<'popup' | 'redirect'> {
  const popup = window.open('', '_blank', 'popup,width=600,height=760')
  try {
    const link = new URL(await url, location.href)
    if (!/^https?:$/.test(link.protocol)) throw new TypeError('The link is not an http(s) URL.')
    if (popup === null) {
      location.assign(link.href)
      return 'redirect'
    }
    popup.opener = null // so that the provider's page cannot navigate this one
    popup.location.replace(link.href)
    return 'popup'
  } catch (error) {
    popup?.close()
    throw error
  }
}

/** How an authorization ended. */
export type Ending =
  | { readonly status: 'completed' }
  | {
      readonly status: 'failed'
      /** Stable, for programs. */
      readonly reason: FailureReason
      /** What happened and what to do. */
      readonly message: string
    }

export interface WaitViaOptions {
  /** The deadline in milliseconds; 600,000 (ten minutes) by default. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

const TIMEOUT_MS = 600_000

/**
 * Polls an endpoint of your own until the authorization has ended, also after failures of the network. The endpoint
 * answers the JSON of `await gatepass.authorization(id)`, and may hold its answer with `waitMs`. It must check that the
 * authorization belongs to the user of its session. It does
 * @throws AuthorizationTimeout after `timeoutMs`
 * @throws GatepassError `unexpected_answer` when the endpoint refuses, or answers something else
 */
export async function waitVia(
  endpoint: string | URL,
  { timeoutMs = TIMEOUT_MS, signal }: WaitViaOptions = {},
): Promise<Ending> {
  const deadline = AbortSignal.timeout(timeoutMs)
  const ended = signal ? AbortSignal.any([signal, deadline]) : deadline
  try {
    for (let retries = 0; ; retries++) {
      const ending = await ask(endpoint, ended)
      if (ending !== undefined) return ending
      await pause(backoffMs(Math.min(retries, 2)), ended)
    }
  } catch (error) {
    signal?.throwIfAborted()
    if (!deadline.aborted) throw error
    const message = `The user has not approved within ${timeoutMs} ms.`
    throw new AuthorizationTimeout('authorization_timeout', message)
  }
}

/** `undefined` while it is pending, and where the endpoint cannot be reached now. */
async function ask(endpoint: string | URL, signal: AbortSignal): Promise<Ending | undefined> {
  const headers = { accept: 'application/json' }
  const response = await fetch(endpoint, { headers, cache: 'no-store', signal }).catch(() => undefined)
  signal.throwIfAborted()
  if (response === undefined || response.status === 429 || response.status >= 500) return undefined
  const body: unknown = response.ok ? await response.json().catch(() => undefined) : undefined
  if (typeof body === 'object' && body !== null && 'status' in body) {
    if (body.status === 'pending') return undefined
    if (body.status === 'completed') return { status: 'completed' }
    if (body.status === 'failed') return body as Ending // the JSON of a FailedAuthorization
  }
  throw new GatepassError('unexpected_answer', `The endpoint answered ${response.status} without a status.`, {
    status: response.status,
  })
}
