import { html } from 'hono/html'

// The parts that the two sample web applications share: the frame of their pages, the sample login, and a message.

export type Html = ReturnType<typeof html>

/** `path`: where the login leads on to. */
export function loginPage(path: string): Html {
  return page(
    'Log in',
    html`<p>This is a sample login: it accepts every name.</p>
      <form method="post" action="/login">
        <input type="hidden" name="path" value="${path}">
        <label>Your name <input name="user" required maxlength="100" autocomplete="username" autofocus></label>
        <button>Log in</button>
      </form>`,
  )
}

export function messagePage(title: string, text: string): Html {
  return page(title, html`<p>${text}</p><p><a href="/">Go on</a></p>`)
}

/** Who is logged in, at the end of a page. */
export function loggedInAs(user: string): Html {
  return html`<form method="post" action="/logout" class="foot">
    <span>Logged in as <strong>${user}</strong></span><button class="plain">Log out</button>
  </form>`
}

export function page(title: string, main: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>${title}</title>
        <style>
          :root { color-scheme: light; }
          body { margin: 10vh auto; padding: 0 1rem; max-width: 26rem; color: #1c2430; background: #f3f5f8; }
          body, button, input { font: 1rem/1.5 system-ui, sans-serif; }
          main { padding: 1.5rem; border-radius: .75rem; background: #fff; box-shadow: 0 1px 4px #0002; }
          h1 { margin: 0 0 1rem; font-size: 1.4rem; line-height: 1.2; }
          h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
          a { color: #1d5fd1; }
          input, button { box-sizing: border-box; width: 100%; padding: .6rem; border: 1px solid #b6c0cd; border-radius: .4rem; }
          button { margin-top: 1rem; color: #fff; background: #1d5fd1; border-color: #1d5fd1; cursor: pointer; }
          button.quiet, [role=status] ~ span button { color: #1d5fd1; background: none; border-color: #1d5fd1; }
          button.danger { color: #a3211b; background: none; border-color: #a3211b; }
          button.plain { width: auto; margin: 0; padding: 0; color: #1d5fd1; background: none; border: 0; }
          dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1rem; }
          dt { color: #5a6675; }
          dd { margin: 0; overflow-wrap: anywhere; }
          gatepass-connect { display: block; }
          [role=alert] { padding: .75rem; border-radius: .4rem; background: #fdecea; }
          [role=alert]:empty, [role=status]:empty { display: none; }
          [role=status] { display: block; margin-top: .75rem; }
          [role=status] ~ span { display: flex; gap: .75rem; }
          .foot { display: flex; justify-content: space-between; margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid #e3e8ee; overflow-wrap: anywhere; }
        </style>
      </head>
      <body><main><h1>${title}</h1>${main}</main></body>
    </html>`
}
