import type { Authorization } from '@gatepass/sdk'
import { html } from 'hono/html'

type Html = ReturnType<typeof html>

/** What the provider's API says of the user. */
export interface Profile {
  readonly name?: string | null
  readonly email?: string | null
}

export interface Account {
  readonly name: string
  readonly profile: Profile
}

export function loginPage(path: string): Html {
  return page(
    'Log in',
    html`<p>This login pretends: every name is believed.</p>
      <form method="post" action="/login">
        <input type="hidden" name="path" value="${path}">
        <label>Your name <input name="user" required maxlength="100" autocomplete="username" autofocus></label>
        <button>Log in</button>
      </form>`,
  )
}

/** `ended` is the authorization with which the user has just come back. */
export function homePage(user: string, account: Account | undefined, ended?: Authorization): Html {
  return page(
    account ? 'Your account is connected' : 'Connect your account',
    html`${ended && notice(ended)} ${account ? connected(account) : connect}
      <form method="post" action="/logout" class="foot">
        <span>Logged in as <strong>${user}</strong></span><button class="plain">Log out</button>
      </form>`,
  )
}

export function messagePage(title: string, text: string): Html {
  return page(title, html`<p>${text}</p><p><a href="/">Go on</a></p>`)
}

const connect = html`<p>This application shows your name and e-mail address. You approve it at the provider.</p>
  <form method="post" action="/connect"><button>Connect</button></form>`

function connected({ name, profile }: Account): Html {
  return html`<dl>
      <dt>Account</dt><dd>${name}</dd>
      <dt>Name</dt><dd>${profile.name ?? 'unknown'}</dd>
      <dt>E-mail</dt><dd>${profile.email ?? 'unknown'}</dd>
    </dl>
    <form method="post" action="/disconnect"><button class="quiet">Disconnect</button></form>`
}

function notice({ status, reason, message }: Authorization): Html | undefined {
  if (status === 'completed') return undefined // the page shows the account
  if (status === 'failed')
    return html`<p role="alert"><strong>Not connected</strong> (${reason}). ${message}</p>`
  return html`<p role="status">You have not approved yet.</p>`
}

function page(title: string, main: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>${title}</title>
        <style>
          body { margin: 10vh auto; padding: 0 1rem; max-width: 26rem; color: #1c2430; background: #f3f5f8; }
          body, button, input { font: 1rem/1.5 system-ui, sans-serif; }
          main { padding: 1.5rem; border-radius: .75rem; background: #fff; box-shadow: 0 1px 4px #0002; }
          h1 { margin: 0 0 1rem; font-size: 1.4rem; line-height: 1.2; }
          input, button { box-sizing: border-box; width: 100%; padding: .6rem; border: 1px solid #b6c0cd; border-radius: .4rem; }
          button { margin-top: 1rem; color: #fff; background: #1d5fd1; border-color: #1d5fd1; cursor: pointer; }
          button.quiet { color: #a3211b; background: none; border-color: #a3211b; }
          button.plain { width: auto; margin: 0; padding: 0; color: #1d5fd1; background: none; border: 0; }
          dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1rem; }
          dt { color: #5a6675; }
          dd { margin: 0; overflow-wrap: anywhere; }
          [role=alert] { padding: .75rem; border-radius: .4rem; background: #fdecea; }
          .foot { display: flex; justify-content: space-between; margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid #e3e8ee; overflow-wrap: anywhere; }
        </style>
      </head>
      <body><main><h1>${title}</h1>${main}</main></body>
    </html>`
}
