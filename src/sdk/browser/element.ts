import { type ConnectOptions, connect, resume } from './connect.ts'
import { type ConnectEnding, type ConnectEvents, dispatch } from './events.ts'
import { make } from './make.ts'
import { textIn } from './texts.ts'

/** The attributes of `<gatepass-connect>` that a page sets, for the JSX of a framework. */
export interface ConnectAttributes {
  /** A path of your own server, which answers a POST with the session. */
  readonly 'session-url': string
  readonly mode?: ConnectOptions['mode']
  readonly 'text-waiting'?: string | undefined
  readonly 'text-again'?: string | undefined
  readonly 'text-cancel'?: string | undefined
  readonly 'text-completed'?: string | undefined
  readonly 'text-failed'?: string | undefined
}

/** A server that renders pages has no `HTMLElement`, and must be able to import this file. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement

/**
 * `<gatepass-connect session-url="/api/connect-session">Connect GitHub</gatepass-connect>`: a button that lets the user
 * connect, and shows how that ended. `session-url` is a path of your own server, which answers a POST with the session.
 * `mode` is that of `connect`. The attribute `state` is `open`, `completed` or `failed`; `text-waiting` and the like replace
 * the texts.
 */
export class GatepassConnect extends Base {
  #detached = new AbortController()
  #status: HTMLElement | undefined
  #actions: HTMLElement | undefined

  connectedCallback(): void {
    this.#status ??= this.#build()
    const resumed = resume(this.#begin())
    if (resumed) this.#show(resumed)
  }

  disconnectedCallback(): void {
    this.#detached.abort()
  }

  /** Stops waiting for an earlier session. Returns the options for the next one. */
  #begin() {
    this.#detached.abort()
    this.#detached = new AbortController()
    return { name: this.getAttribute('session-url') ?? '', target: this, signal: this.#detached.signal }
  }

  /** Uses the application's own button, or wraps the content in one. Returns the element that shows the status. */
  #build(): HTMLElement {
    let button = this.querySelector('button')
    if (!button) {
      button = make('button', { type: 'button' })
      button.append(...this.childNodes)
    }
    button.onclick = () => {
      const mode = (this.getAttribute('mode') ?? undefined) as ConnectOptions['mode']
      this.#show(connect({ ...this.#begin(), mode, session: () => this.#session() }))
    }
    const status = make('span', { role: 'status' })
    this.#actions = make('span')
    this.append(button, ' ', status, ' ', this.#actions)
    this.addEventListener('gatepass-open', (event) => {
      const { again, cancel } = (event as CustomEvent<ConnectEvents['gatepass-open']>).detail
      const action = (name: string, onclick: () => void) =>
        make('button', { type: 'button', textContent: this.#text(name), onclick })
      this.#say('open', 'waiting', action('again', again), ' ', action('cancel', cancel))
    })
    return status
  }

  async #session() {
    const response = await fetch(this.getAttribute('session-url') ?? '', { method: 'POST' })
    if (!response.ok) throw new Error(`Status ${response.status}`)
    return response.json()
  }

  async #show(result: Promise<ConnectEnding>): Promise<void> {
    const { signal } = this.#detached
    const ending = await result.catch((error: unknown): ConnectEnding => {
      const failed: ConnectEnding = { status: 'failed', reason: 'no_session', message: String(error) }
      if (!signal.aborted) dispatch(this, 'gatepass-settled', failed)
      return failed
    })
    if (signal.aborted) return
    this.#say(ending.status, ending.status)
  }

  #text(name: string): string {
    const { lang } = this.closest<HTMLElement>('[lang]') ?? { lang: navigator.language }
    return this.getAttribute(`text-${name}`) ?? textIn(lang, name) ?? ''
  }

  #say(state: string, name: string, ...actions: (Node | string)[]): void {
    this.setAttribute('state', state)
    this.#actions?.replaceChildren(...actions)
    if (this.#status) this.#status.textContent = this.#text(name)
  }
}
