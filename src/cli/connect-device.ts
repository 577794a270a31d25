import { createOutgoing, type Outgoing } from '../egress/outgoing.ts'
import { OutgoingError } from '../egress/outgoing-error.ts'
import type { TerminalState } from '../http/connect/device.ts'
import { GRANT_FIELD } from '../http/pages/device-page.ts'
import type { Authorization } from '../sdk/generated/wire.ts'
import type { Api } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, print, printJson, sanitize } from './print.ts'
import { promptYesOrNo } from './prompt.ts'

// `gatepass connect --device`: the terminal takes the place of the user's browser. It clicks on the link, shows the code
// that is for the browser that clicked alone, and asks whose account approved.

/** Of a page, of which only the state is read. */
const MAX_BYTES = 1024 * 1024
/** Longer than the server waits for the user. */
const WAIT_DEADLINE_MS = 40_000

const NOT_HERE: Readonly<Record<Exclude<TerminalState['kind'], 'account' | 'code' | 'click'>, string>> = {
  no_device: 'This provider has no codes that are entered on another device.',
  login_needed: 'Users of this installation log in, which a terminal cannot do for them.',
  values_needed: 'The user is asked for more before the code, such as a subdomain.',
  no_click: 'The link has ended, or is being finished.',
  not_found: 'The server of the link does not know it, or has no codes for terminals.',
}

/**
 * Connects the user by a code, and returns the authorization once it has ended. Throws `CommandFailure` where the link has to
 * be opened in a browser; nothing was stored then.
 */
export async function connectByCode(
  api: Api,
  begun: Pick<Authorization, 'id' | 'url' | 'scopes'>,
  options: { readonly user: string; readonly json?: boolean | undefined },
): Promise<Authorization> {
  const { id, url = '' } = begun
  const link = URL.parse(url)
  if (link === null || !/^https?:$/.test(link.protocol))
    throw new CommandFailure(`The link is no address of a page: ${sanitize(url)}`)
  const terminal = new Terminal(api, link)
  const status = () => api.call('getAuthorizationStatus', { query: { id } })
  let clicked = false
  try {
    for (;;) {
      const state = await terminal.state()
      switch (state.kind) {
        case 'click':
          if (clicked) throw notByCode(url, 'The provider gave no code.')
          await terminal.post('')
          clicked = true
          continue
        case 'code':
          show(state, begun, options)
          await terminal.waitForUser()
          continue
        case 'account': {
          const isTheirs = await promptYesOrNo(questionAbout(state.account))
          await terminal.post(`/account/${isTheirs ? 'mine' : 'not-mine'}`, { [GRANT_FIELD]: state.grant })
          clicked = false // the next provider, if the tool needs several
          continue
        }
        default: {
          const now = await status()
          if (now.status === 'completed' || now.status === 'failed') return now
          throw notByCode(url, NOT_HERE[state.kind])
        }
      }
    }
  } finally {
    await terminal.close()
  }
}

function notByCode(url: string, why: string): CommandFailure {
  return new CommandFailure(`${why} Open the link in a browser: ${sanitize(url)}`, EXIT.usage)
}

function show(
  { user_code, verification_uri, expires_at }: Extract<TerminalState, { kind: 'code' }>,
  { id, scopes }: Pick<Authorization, 'id' | 'scopes'>,
  { user, json }: { readonly user: string; readonly json?: boolean | undefined },
): void {
  if (json) {
    printJson({ id, user_id: user, status: 'pending', user_code, verification_uri, scopes, expires_at })
    return
  }
  const page = URL.parse(verification_uri)
  print(
    `Enter this code at ${bold(sanitize(page?.host ?? ''))}, on any device:\n\n  ${bold(sanitize(user_code))}\n\n  ${sanitize(verification_uri)}\n\nOnly enter this code because you started here. Until ${clockTime(expires_at)}.`,
  )
}

function questionAbout(account: string): string {
  return account === ''
    ? 'The provider did not say which account approved. Did you approve it with your own account?'
    : `Connected as ${sanitize(account)}. Is this your account?`
}

function clockTime(timestamp: string): string {
  return new Date(timestamp).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** The browser's part: it holds the cookie that binds the code to this terminal. */
class Terminal {
  readonly #link: URL
  readonly #outgoing: Outgoing
  #cookie = ''

  constructor({ place, local }: Api, link: URL) {
    this.#link = link
    const known = [local?.config.publicUrl.host, URL.parse(place)?.host]
    // a server that is not trusted names the link: its host may be private only if the operator named it
    this.#outgoing = createOutgoing({ allowedHosts: known.filter((host) => host !== undefined) })
  }

  async state(): Promise<TerminalState> {
    const { status, body } = await this.#send('GET', '/device')
    if (status === 200) return JSON.parse(body)
    if (status === 404) return { kind: 'not_found' } // also at a server of an earlier release
    throw new CommandFailure(
      `The Gatepass at ${this.#link.origin} answered with ${status}. Try again, or open the link in a browser: ${this.#link.href}`,
      status >= 500 ? EXIT.unreachable : EXIT.failed,
    )
  }

  /** Returns once the user has answered at the provider, or the code has ended. */
  async waitForUser(): Promise<void> {
    for (;;) {
      const { status, body } = await this.#send('GET', '/waiting')
      if (status !== 200 || JSON.parse(body).waiting !== true) return
    }
  }

  async post(path: string, form: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#send('POST', path, new URLSearchParams(form).toString())
  }

  close(): Promise<void> {
    return this.#outgoing.close()
  }

  async #send(
    method: 'GET' | 'POST',
    path: string,
    body?: string,
  ): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const answer = await this.#outgoing.stream({
        url: new URL(`${this.#link.pathname}${path}`, this.#link),
        method,
        deadlineMs: WAIT_DEADLINE_MS,
        maxBytes: MAX_BYTES,
        redirects: 'answer', // as after a click
        headers: {
          ...(this.#cookie !== '' && { cookie: this.#cookie }),
          ...(body !== undefined && {
            'content-type': 'application/x-www-form-urlencoded',
            origin: this.#link.origin,
          }),
        },
        ...(body !== undefined && { body }),
      })
      const [bound] = /(?:__Host-)?gatepass=[\w-]{43}/.exec(answer.headers['set-cookie'] ?? '') ?? []
      if (bound !== undefined) this.#cookie = bound
      return { status: answer.status, body: await new Response(answer.body).text() }
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      throw new CommandFailure(
        `No Gatepass answers at ${this.#link.origin}: ${error.message}`,
        EXIT.unreachable,
      )
    }
  }
}
