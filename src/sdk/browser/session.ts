import type { ConnectSession as Wire } from '../generated/wire.ts'
import { type ConnectEnding, dispatch } from './events.ts'
import { make } from './make.ts'

/** What `sessionStorage` holds of a session, so that the page can resume it after a reload or a return to the page. */
export interface StoredSession {
  readonly token: string
  /** The origin of Gatepass. */
  readonly origin: string
}

/** How the page follows a session. */
export interface FollowOptions {
  /** Where the events are dispatched. */
  readonly target: EventTarget
  /** The key of the session in `sessionStorage`. */
  readonly name: string
  readonly signal?: AbortSignal | undefined
}

/** The longest lifetime of a session. */
const LONGEST_MS = 900_000
const PAUSE_MS = 2_000

/** Removes the session from `sessionStorage`, and dispatches the events of its end. */
export function settle({ target, name }: FollowOptions, ending: ConnectEnding): ConnectEnding {
  sessionStorage.removeItem(name)
  if (ending.status === 'failed' && ending.reason === 'expired') dispatch(target, 'gatepass-expired')
  dispatch(target, 'gatepass-settled', ending)
  return ending
}

/** Opens the connect page by a form: the token is in the body, not in a URL, and the browser adds this page's origin. */
export function submit({ token, origin }: StoredSession, target: string, openedIn: 'popup' | 'tab'): void {
  const form = make('form', { method: 'post', action: `${origin}/connect/session`, target })
  form.append(
    make('input', { name: 'session_token', value: token }),
    make('input', { name: 'opened_in', value: openedIn }),
  )
  document.body.append(form)
  form.submit()
  form.remove()
}

/** Sends a request about the session. Resolves with `undefined` when it fails without an answer. */
export function request(
  { token, origin }: StoredSession,
  path: string,
  init: RequestInit = {},
): Promise<Response | undefined> {
  const headers = { authorization: `Bearer ${token}` }
  return fetch(`${origin}/v1/connect_sessions/current${path}`, {
    ...init,
    headers,
    credentials: 'omit',
  }).catch(() => undefined)
}

/**
 * Polls Gatepass until the session has ended, because the popup is isolated from this page, which cannot see whether it
 * was closed. A tab that becomes visible polls at once, because the browser may have cut off its request before.
 */
export async function follow(
  session: StoredSession,
  options: FollowOptions,
  popup?: Window | null,
): Promise<ConnectEnding> {
  const { target, signal } = options
  const failed = (reason: 'expired' | 'blocked_by_csp') => settle(options, { status: 'failed', reason })
  const lastPossibleEnd = Date.now() + LONGEST_MS
  const listening = new AbortController()
  let isForbidden = false
  let poll = listening // replaced before the first request
  const abortPollOn = (to: EventTarget | undefined, event: string, isReason: (event: Event) => boolean) =>
    to?.addEventListener(
      event,
      (event) => {
        if (isReason(event)) poll.abort()
      },
      { signal: listening.signal },
    )
  abortPollOn(signal, 'abort', () => true)
  abortPollOn(document, 'visibilitychange', () => !document.hidden)
  abortPollOn(document, 'securitypolicyviolation', (event) => {
    isForbidden ||= (event as SecurityPolicyViolationEvent).blockedURI.startsWith(session.origin)
    return isForbidden
  })
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (isForbidden) {
        popup?.close()
        dispatch(target, 'gatepass-blocked', { by: 'csp' })
        return failed('blocked_by_csp')
      }
      const began = Date.now()
      if (began > lastPossibleEnd) return failed('expired')
      poll = new AbortController()
      const response = await request(session, '?wait=25', { signal: poll.signal, cache: 'no-store' })
      if (response?.status === 401) return failed('expired')
      const ended = response?.ok && endingOf(await response.json().catch(() => ({})))
      if (ended) return settle(options, ended)
      if (!poll.signal.aborted && Date.now() - began < PAUSE_MS)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  } finally {
    listening.abort()
  }
}

/** How the session ended; `undefined` while it is pending. */
export function endingOf({ status, reason, message, connection }: Partial<Wire>): ConnectEnding | undefined {
  const isEnded = status === 'completed' || status === 'failed'
  // the cast holds: Gatepass sends the members that belong to the status
  return isEnded ? ({ status, reason, message, connection } as ConnectEnding) : undefined
}
