import { html } from 'hono/html'
import type { ConsoleSession } from '../../flows/console/console-session.ts'
import { ENTER_PATH } from '../../flows/console/developer-link.ts'
import { csrfInput } from '../pages/csrf-input.ts'
import { type Html, name } from '../pages/layout.ts'
import { barePage } from './layout.ts'

export const LOGIN_PROBLEMS = {
  foreign: 'This form did not come from this page. Log in here.',
  too_many: 'Too many logins from your address have failed, and this key is not accepted either.',
  no_issuer: 'No issuer is set for the console (GATEPASS_DASHBOARD_ISSUER). Log in with an API key.',
  unavailable: 'The issuer cannot be reached right now. Try again shortly, or log in with an API key.',
  cancelled: 'You canceled the login at the issuer.',
  failed: 'The login at the issuer failed. The log of Gatepass says why.',
  unknown_login: 'This login was started in another browser, or too long ago. Start it again.',
  not_allowed:
    'You are logged in at the issuer, but no rule lets you in. GATEPASS_DASHBOARD_ROLES says who may log in.',
  another_operator: 'The person who logged in is not the one whose session needs confirming.',
  other_key: 'This is not the key you logged in with.',
  gone: 'This link was already used, has expired, or was replaced by a newer one. Ask for a new link here.',
  printed: 'The terminal has the links that were asked for a moment ago. The newest one works.',
  other_host:
    'Development links work only at localhost, on the machine that runs Gatepass. Open the link there, as the terminal shows it.',
} as const

interface LoginView {
  readonly next: string
  readonly issuerHost?: string
  readonly problem?: string
  /** The terminal can print a link that logs in. */
  readonly hasLinks?: boolean
  /** What was done. */
  readonly done?: string
}

export function loginPage({ next, issuerHost, problem, hasLinks = false, done }: LoginView): Html {
  const byIssuer = issuerHost !== undefined
  const body = html`${problem !== undefined && html`<p class="note bad" role="alert">${problem}</p>`}
${done !== undefined && html`<p class="note good" role="status">${done}</p>`}
${hasLinks && html`${linkForm(next)}<p class="or"><span>or</span></p>`}
${
  byIssuer &&
  html`<form method="post" action="/dashboard/login"><input type="hidden" name="next" value="${next}"><input type="hidden" name="how" value="issuer">
<button class="wide" type="submit">Log in at ${name(issuerHost)}</button></form>
<p class="or"><span>or</span></p>`
}
<form method="post" action="/dashboard/login"><input type="hidden" name="next" value="${next}">
${keyField()}
<button class="wide${byIssuer || hasLinks ? ' secondary' : ''}" type="submit">Log in</button></form>
<p class="muted small">Keys of the roles <code>admin</code> and <code>readonly</code> may log in. <code>gatepass keys create --role readonly</code> makes one that can change nothing.</p>`
  return barePage('Log in to the console', body)
}

/** Asks the operator of a session to log in again, for actions that need a recent login. */
export function confirmPage(
  { display, opened }: ConsoleSession,
  {
    next,
    issuerHost = 'the issuer',
    problem,
    hasLinks = false,
  }: Omit<LoginView, 'issuerHost' | 'done'> & { readonly issuerHost?: string | undefined },
): Html {
  const byKey = opened.authority === 'key'
  const body = html`${problem !== undefined && html`<p class="note bad" role="alert">${problem}</p>`}
<p>Keys, secrets, deletions, and tool runs need a login that is at most five minutes old. You are <strong>${name(display)}</strong>.</p>
<form method="post" action="/dashboard/confirm">${csrfInput(opened.csrf)}<input type="hidden" name="next" value="${next}">
${byKey && keyField()}
<button class="wide" type="submit">${byKey ? 'Confirm' : html`Log in again at ${name(issuerHost)}`}</button></form>
${hasLinks && html`<p class="or"><span>or</span></p>${linkForm(next)}`}
<p><a href="/dashboard${next}">Go back without confirming</a></p>`
  return barePage('Confirm that it is you', body)
}

/** The page of a link that `gatepass dev` printed: only its button uses the link up. */
export function enterPage(ticket: string, next: string): Html {
  return barePage(
    'Open the console',
    html`<p>This logs this browser in as the administrator of your installation. The link works once.</p>
<form method="post" action="${ENTER_PATH}"><input type="hidden" name="ticket" value="${ticket}"><input type="hidden" name="next" value="${next}">
<button class="wide" type="submit">Open the console</button></form>`,
  )
}

function linkForm(next: string): Html {
  return html`<form method="post" action="/dashboard/link"><input type="hidden" name="next" value="${next}">
<p>The terminal in which Gatepass runs shows a link that logs you in. It works once, for ten minutes.</p>
<button class="wide" type="submit">Show a new link in the terminal</button></form>`
}

function keyField(): Html {
  return html`<label for="key">API key</label>
<input id="key" name="key" type="password" required maxlength="500" autocomplete="current-password" spellcheck="false">`
}
