import type { Authorization } from '@gatepass/sdk'
import { html } from 'hono/html'
import { type Html, loggedInAs, page } from '../sample-pages.ts'

/** What the provider's API says of the user. */
export interface Profile {
  readonly name?: string | null
  readonly email?: string | null
}

export interface Account {
  readonly name: string
  readonly profile: Profile
}

/** `ended` is the authorization with which the user has just come back. */
export function homePage(user: string, account: Account | undefined, ended?: Authorization): Html {
  return page(
    account ? 'Your account is connected' : 'Connect your account',
    html`${ended && notice(ended)} ${account ? connected(account) : connect} ${loggedInAs(user)}`,
  )
}

const connect = html`<p>This application shows your name and e-mail address. You approve it at the provider.</p>
  <form method="post" action="/connect"><button>Connect</button></form>`

function connected({ name, profile }: Account): Html {
  return html`<dl>
      <dt>Account</dt><dd>${name}</dd>
      <dt>Name</dt><dd>${profile.name ?? 'unknown'}</dd>
      <dt>E-mail</dt><dd>${profile.email ?? 'unknown'}</dd>
    </dl>
    <form method="post" action="/disconnect"><button class="danger">Disconnect</button></form>`
}

function notice({ status, reason, message }: Authorization): Html | undefined {
  if (status === 'completed') return undefined // the page shows the account
  if (status === 'failed')
    return html`<p role="alert"><strong>Not connected</strong> (${reason}). ${message}</p>`
  return html`<p role="status">You have not approved yet.</p>`
}
