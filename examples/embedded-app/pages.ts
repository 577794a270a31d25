import { html } from 'hono/html'

type Html = ReturnType<typeof html>

/** The page shows what the server knows, so it is loaded again when the user has connected. */
export const SCRIPT = `document.addEventListener('gatepass-settled', ({ detail }) => {
  if (detail.status === 'completed') location.reload()
})`

export interface Home {
  readonly user: string
  /** The name of the connected account. */
  readonly account: string | undefined
  readonly gatepassUrl: string
  /** What webhooks have told of this user. */
  readonly news: readonly string[] | undefined
}

export function loginPage(): Html {
  return page(
    'Log in',
    html`<p>This login pretends: every name is believed.</p>
      <form method="post" action="/login">
        <label>Your name <input name="user" required maxlength="100" autocomplete="username" autofocus></label>
        <button>Log in</button>
      </form>`,
  )
}

export function homePage({ user, account, gatepassUrl, news = [] }: Home): Html {
  const connect = html`<p>This application wants to show your profile.</p>
    <script type="module" src="${gatepassUrl}/embed/v1.js"></script>
    <script type="module" src="/app.js"></script>
    <gatepass-connect session-url="/api/connect-session">Connect your account</gatepass-connect>`
  const connected = html`<p>Connected as <strong>${account}</strong>.</p>`
  const heard = html`<h2>What webhooks told</h2>
    <ol>${news.map((type) => html`<li>${type}</li>`)}</ol>`
  return page(
    account === undefined ? 'Connect your account' : 'Your account is connected',
    html`${account === undefined ? connect : connected}
      <form method="post" action="/manage"><button class="quiet">Manage my accounts</button></form>
      ${news.length > 0 && heard}
      <form method="post" action="/logout" class="foot">
        <span>Logged in as <strong>${user}</strong></span><button class="plain">Log out</button>
      </form>`,
  )
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
          h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
          input, button { box-sizing: border-box; width: 100%; padding: .6rem; border: 1px solid #b6c0cd; border-radius: .4rem; }
          button { margin-top: 1rem; color: #fff; background: #1d5fd1; border-color: #1d5fd1; cursor: pointer; }
          button.quiet, [role=status] ~ span button { color: #1d5fd1; background: none; border-color: #1d5fd1; }
          button.plain { width: auto; margin: 0; padding: 0; color: #1d5fd1; background: none; border: 0; }
          gatepass-connect { display: block; }
          [role=status] { display: block; margin-top: .75rem; }
          [role=status]:empty { display: none; }
          [role=status] ~ span { display: flex; gap: .75rem; }
          .foot { display: flex; justify-content: space-between; margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid #e3e8ee; overflow-wrap: anywhere; }
        </style>
      </head>
      <body><main><h1>${title}</h1>${main}</main></body>
    </html>`
}
