import type { ConnectSession as Wire } from '../wire.ts'
import { type ConnectEnding, tell } from './events.ts'
import { make } from './make.ts'

/** What `sessionStorage` holds of a session, so that the page can resume it after a reload or a return to the page. */
export interface Kept {
  readonly token: string
  /** Of Gatepass. */
  readonly origin: string
}

export interface Following {
  readonly target: EventTarget
  readonly name: string
  readonly signal?: AbortSignal | undefined
}

/** No session lives longer. */
const LONGEST_MS = 900_000
const PAUSE_MS = 2_000

export function settle({ target, name }: Following, ending: ConnectEnding): ConnectEnding {
  sessionStorage.removeItem(name)
  if (ending.status === 'failed' && ending.reason === 'expired') tell(target, 'gatepass-expired')
  tell(target, 'gatepass-settled', ending)
  return ending
}

/** Opens the connect page by a form: the token is in the body, not in a URL, and the browser adds this page's origin. */
export function submit({ token, origin }: Kept, target: string, openedIn: 'popup' | 'tab'): void {
  const form = make('form', { method: 'post', action: `${origin}/connect/session`, target })
  form.append(
    make('input', { name: 'session_token', value: token }),
    make('input', { name: 'opened_in', value: openedIn }),
  )
  document.body.append(form)
  form.submit()
  form.remove()
}

export function ask(
  { token, origin }: Kept,
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
 * Polls Gatepass until the session has ended, because the popup is isolated from this page: whether it was closed cannot
 * be seen. A tab that becomes visible asks at once, because its request may have been cut off in the background.
 */
export async function follow(
  session: Kept,
  following: Following,
  popup?: Window | null,
): Promise<ConnectEnding> {
  const { target, signal } = following
  const failed = (reason: 'expired' | 'blocked_by_csp') => settle(following, { status: 'failed', reason })
  const end = Date.now() + LONGEST_MS
  const over = new AbortController()
  let isForbidden = false
  let request = over
  const listen = (to: EventTarget | undefined, event: string, heard: (event: Event) => unknown) =>
    to?.addEventListener(
      event,
      (event) => {
        if (heard(event)) request.abort()
      },
      { signal: over.signal },
    )
  listen(signal, 'abort', () => true)
  listen(document, 'visibilitychange', () => !document.hidden)
  listen(document, 'securitypolicyviolation', (event) => {
    isForbidden ||= (event as SecurityPolicyViolationEvent).blockedURI.startsWith(session.origin)
    return isForbidden
  })
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (isForbidden) {
        popup?.close()
        tell(target, 'gatepass-blocked', { by: 'csp' })
        return failed('blocked_by_csp')
      }
      const began = Date.now()
      if (began > end) return failed('expired')
      request = new AbortController()
      const response = await ask(session, '?wait=25', { signal: request.signal, cache: 'no-store' })
      if (response?.status === 401) return failed('expired')
      const ended = response?.ok && endingOf(await response.json())
      if (ended) return settle(following, ended)
      if (!request.signal.aborted && Date.now() - began < PAUSE_MS)
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  } finally {
    over.abort()
  }
}

/** `undefined` while the session is pending, and for one that was only just created. */
export function endingOf({ status, reason, message, connection }: Partial<Wire>): ConnectEnding | undefined {
  const isEnded = status === 'completed' || status === 'failed'
  return isEnded ? ({ status, reason, message, connection } as ConnectEnding) : undefined // as Gatepass has answered
}
