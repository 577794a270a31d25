import { html } from 'hono/html'
import { type Html, loggedInAs, page } from '../sample-pages.ts'

/**
 * The page shows what the server knows, so it is loaded again when the user has connected. Otherwise it says why not, by
 * the event's reason, or by the event's English message for a reason that is not listed here.
 */
export const SCRIPT = `const WHY = {
  access_denied: 'You have cancelled. Nothing was connected.',
  expired: 'That took too long. Please try again.',
  no_session: 'This did not work. Please try again in a minute.',
}
const trouble = document.querySelector('[role=alert]')
document.addEventListener('gatepass-open', () => trouble.textContent = '')
document.addEventListener('gatepass-settled', ({ detail }) => {
  if (detail.status === 'completed') return location.reload()
  trouble.textContent = WHY[detail.reason] ?? detail.message ?? 'This did not work.'
})`

export interface Home {
  readonly user: string
  /** The name of the connected account. */
  readonly account: string | undefined
  readonly gatepassUrl: string
  /** The types of the webhook events about this user. */
  readonly news: readonly string[] | undefined
}

export function homePage({ user, account, gatepassUrl, news = [] }: Home): Html {
  const connect = html`<p>This application wants to show your profile.</p>
    <p role="alert"></p>
    <gatepass-connect session-url="/api/connect-session">Connect your account</gatepass-connect>
    <script type="module" src="/app.js"></script>
    <script type="module" src="${gatepassUrl}/embed/v1.js"></script>`
  const connected = html`<p>Connected as <strong>${account}</strong>.</p>`
  const events = html`<h2>Events from webhooks</h2>
    <ol>${news.map((type) => html`<li>${type}</li>`)}</ol>`
  return page(
    account === undefined ? 'Connect your account' : 'Your account is connected',
    html`${account === undefined ? connect : connected}
      <form method="post" action="/manage"><button class="quiet">Manage my accounts</button></form>
      ${news.length > 0 && events} ${loggedInAs(user)}`,
  )
}
