import { type ConnectEnding, dispatch } from './events.ts'
import {
  endingOf,
  type FollowOptions,
  follow,
  request,
  type StoredSession,
  settle,
  submit,
} from './session.ts'

/** What your server answers: the JSON of `POST /v1/connect_sessions`, or of `gatepass.connectSessions.create`. */
export interface ConnectSession {
  readonly session_token: string
  readonly status?: string
  /** The connect page. Its origin is that of Gatepass. */
  readonly url?: string | undefined
  readonly connection?: { readonly id: string; readonly provider_id: string } | undefined
}

export interface ResumeOptions {
  readonly signal?: AbortSignal | undefined
  /** Tells several connections of one page apart. */
  readonly name?: string | undefined
  /** Where the events are dispatched; the document by default. */
  readonly target?: EventTarget | undefined
}

export interface ConnectOptions extends ResumeOptions {
  /** The session that your server has created, or a function that requests it from your server. */
  readonly session: ConnectSession | (() => ConnectSession | Promise<ConnectSession>)
  /** `auto`: a popup, but this tab on phones, inside other apps, and where the browser blocks popups. */
  readonly mode?: 'auto' | 'popup' | 'redirect' | undefined
}

/**
 * Lets the user connect: opens the connect page, and waits until it has ended. Call it in the handler of a click, with
 * nothing awaited before. Where the connect page replaces this page, call `resume` when this page is loaded again.
 */
export async function connect({ session, mode = 'auto', ...rest }: ConnectOptions): Promise<ConnectEnding> {
  const options = followOptionsOf(rest)
  const windowName = `gatepass${Math.random()}`
  // the COOP header of Gatepass' pages takes this name from the popup, so `again` opens another popup
  const openWindow = () => window.open('about:blank', windowName, 'popup,width=600,height=760')
  const isInTab = mode === 'redirect' || (mode === 'auto' && /Mobi|; wv\)/.test(navigator.userAgent))
  const popup = isInTab ? null : openWindow()
  if (!isInTab && !popup) {
    dispatch(options.target, 'gatepass-blocked', { by: 'popup_blocker' })
    if (mode === 'popup') return settle(options, { status: 'failed', reason: 'popup_blocked' })
  }
  try {
    const given = await (typeof session === 'function' ? session() : session)
    const ended = endingOf(given as object) // the session may be completed when it is created
    if (ended) {
      popup?.close()
      return settle(options, ended)
    }
    const stored: StoredSession = { token: given.session_token, origin: new URL(given.url ?? '').origin }
    options.signal?.throwIfAborted()
    sessionStorage.setItem(options.name, JSON.stringify(stored))
    const result = follow(stored, options, popup)
    const open = (opened: Window | null) =>
      opened ? submit(stored, windowName, 'popup') : submit(stored, '_self', 'tab')
    open(popup)
    announce(stored, options, popup ? 'popup' : 'tab', () => open(openWindow()))
    return await result
  } catch (error) {
    popup?.close()
    throw error
  }
}

/**
 * Waits for the session that `connect` began in this tab before the page was loaded again, by a reload or by a return from
 * the connect page. `undefined` if there is none.
 */
export function resume(given: ResumeOptions = {}): Promise<ConnectEnding> | undefined {
  const options = followOptionsOf(given)
  const text = sessionStorage.getItem(options.name)
  if (!text) return undefined
  const stored: StoredSession = JSON.parse(text) // written by `connect`
  announce(stored, options, 'tab', () => submit(stored, '_self', 'tab'))
  return follow(stored, options)
}

function followOptionsOf({ name = '', target = document, signal }: ResumeOptions): FollowOptions {
  return { name: `gatepass ${name}`, target, signal }
}

function announce(
  stored: StoredSession,
  { target }: FollowOptions,
  where: 'popup' | 'tab',
  again: () => void,
): void {
  const cancel = () => request(stored, '/cancel', { method: 'POST' })
  dispatch(target, 'gatepass-open', { in: where, again, cancel })
}
