import { type ConnectEnding, tell } from './events.ts'
import { ask, endingOf, type Following, follow, type Kept, settle, submit } from './session.ts'

/** What your server answers: the JSON of `POST /v1/connect_sessions`, or of `gatepass.connectSessions.create`. */
export interface ConnectSession {
  readonly session_token: string
  readonly status?: string
  /** Of the connect page: its origin is that of Gatepass. */
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
  /** The session of your server, or a function that asks for it. */
  readonly session: ConnectSession | (() => ConnectSession | Promise<ConnectSession>)
  /** `auto`: a popup, but this tab on phones, inside other apps, and where the browser blocks popups. */
  readonly mode?: 'auto' | 'popup' | 'redirect' | undefined
}

/**
 * Lets the user connect: opens the connect page, and waits until it has ended. Call it in the handler of a click, with
 * nothing awaited before. Where the connect page replaces this page, call `resume` when this page is loaded again.
 */
export async function connect({
  session,
  mode = 'auto',
  ...options
}: ConnectOptions): Promise<ConnectEnding> {
  const following = followingOf(options)
  const windowName = `gatepass${Math.random()}`
  // a popup that shows Gatepass cannot be found by its name any more; this opens another then
  const openWindow = () => window.open('about:blank', windowName, 'popup,width=600,height=760')
  const isInTab = mode === 'redirect' || (mode === 'auto' && /Mobi|; wv\)/.test(navigator.userAgent))
  const popup = isInTab ? null : openWindow()
  if (!isInTab && !popup) {
    tell(following.target, 'gatepass-blocked', { by: 'popup_blocker' })
    if (mode === 'popup') return settle(following, { status: 'failed', reason: 'popup_blocked' })
  }
  try {
    const given = await (typeof session === 'function' ? session() : session)
    const ended = endingOf(given as object) // the session may be completed when it is created
    if (ended) {
      popup?.close()
      return settle(following, ended)
    }
    const kept: Kept = { token: given.session_token, origin: new URL(given.url ?? '').origin }
    following.signal?.throwIfAborted()
    sessionStorage.setItem(following.name, JSON.stringify(kept))
    const result = follow(kept, following, popup)
    const open = (opened: Window | null) =>
      opened ? submit(kept, windowName, 'popup') : submit(kept, '_self', 'tab')
    open(popup)
    announce(kept, following, popup ? 'popup' : 'tab', () => open(openWindow()))
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
export function resume(options: ResumeOptions = {}): Promise<ConnectEnding> | undefined {
  const following = followingOf(options)
  const text = sessionStorage.getItem(following.name)
  if (!text) return undefined
  const kept: Kept = JSON.parse(text) // written by `connect`
  announce(kept, following, 'tab', () => submit(kept, '_self', 'tab'))
  return follow(kept, following)
}

function followingOf({ name = '', target = document, signal }: ResumeOptions): Following {
  return { name: `gatepass ${name}`, target, signal }
}

function announce(kept: Kept, { target }: Following, where: 'popup' | 'tab', again: () => void): void {
  const cancel = () => ask(kept, '/cancel', { method: 'POST' })
  tell(target, 'gatepass-open', { in: where, again, cancel })
}
