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
          /* the colours of Gatepass's own pages */
          :root {
            color-scheme: light dark; --bg: #f4f5f8; --surface: #fff; --line: #dfe3ea; --line-strong: #868e9c; --text: #22262e;
            --muted: #59606d; --accent: #0b6aa2; --on-accent: #fff; --bad: #a8322a; --bad-bg: #fbe9e7;
          }
          @media (prefers-color-scheme: dark) {
            :root {
              --bg: #11141b; --surface: #191d27; --line: #2b3140; --line-strong: #6b7589; --text: #e3e7ee;
              --muted: #9aa3b5; --accent: #63b7ec; --on-accent: #0c1a26; --bad: #f49a90; --bad-bg: #3a1e1c;
            }
          }
          body { margin: 10vh auto; padding: 0 1rem; max-width: 26rem; color: var(--text); background: var(--bg); }
          body, button, input { font: 1rem/1.5 system-ui, sans-serif; }
          main { padding: 1.5rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--surface); }
          h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.3; }
          h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
          a { color: var(--accent); }
          input, button { box-sizing: border-box; width: 100%; padding: .6rem; border: 1px solid var(--line-strong); border-radius: .5rem; color: inherit; background: var(--surface); }
          button { margin-top: 1rem; color: var(--on-accent); background: var(--accent); border-color: transparent; font-weight: 600; cursor: pointer; }
          button.quiet, [role=status] ~ span button { color: inherit; background: none; border-color: var(--line-strong); }
          button.danger { color: var(--bad); background: none; border-color: currentColor; }
          button.plain { width: auto; margin: 0; padding: 0; color: var(--accent); background: none; border: 0; }
          dl { display: grid; grid-template-columns: auto 1fr; gap: .4rem 1rem; }
          dt { color: var(--muted); }
          dd { margin: 0; overflow-wrap: anywhere; }
          gatepass-connect { display: block; }
          [role=alert] { padding: .75rem; border-radius: .5rem; color: var(--bad); background: var(--bad-bg); }
          [role=alert]:empty, [role=status]:empty { display: none; }
          [role=status] { display: block; margin-top: .75rem; }
          [role=status] ~ span { display: flex; gap: .75rem; }
          .foot { display: flex; justify-content: space-between; margin-top: 1.5rem; padding-top: 1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
        </style>
      </head>
      <body><main><h1>${title}</h1>${main}</main></body>
    </html>`
}
