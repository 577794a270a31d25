import { html } from 'hono/html'
import { ACCOUNTS, DEFAULT_ACCOUNT } from './accounts.ts'
import { SCOPES } from './scopes.ts'

type Html = ReturnType<typeof html>

/**
 * `form-action` is not set, because it would forbid the form's redirect to the callback. `data:` allows the tick
 * marks that the stylesheet draws in checkboxes.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** Styles that only the sandbox's pages need; the rest is Gatepass's own stylesheet. */
export const sandboxCss = `
.decision { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 0.75rem; }
.card .decision button { margin: 0; }
`

/** The consent page: choose an account and scopes. Its form POSTs to the page's own URL. */
export function consentPage(scopes: readonly string[]): Html {
  return layout(
    'Gatepass asks for access',
    html`<p>This page plays the part of a provider such as GitHub: its users approve here what an application may do
        in their name. Nothing here is real.</p>
      <form method="post">
        <input type="hidden" name="scopes_shown" value="yes" />
        <fieldset>
          <legend>You are</legend>
          ${ACCOUNTS.map(
            ({ sub, name, email }) =>
              html`<label><input type="radio" name="account" value="${sub}" ${sub === DEFAULT_ACCOUNT.sub ? 'checked' : ''} />
                <span>${name} <span class="muted small">${email}</span></span></label>`,
          )}
        </fieldset>
        <fieldset>
          <legend>Gatepass may</legend>
          ${scopes.map(
            (scope) =>
              html`<label><input type="checkbox" name="scope" value="${scope}" checked />
                <span>${SCOPES[scope]} <span class="muted small">${scope}</span></span></label>`,
          )}
        </fieldset>
        <div class="decision">
          <button type="submit" name="decision" value="allow">Approve</button>
          <button type="submit" name="decision" value="deny" class="secondary">Deny</button>
        </div>
      </form>`,
  )
}

/** The consent page of a simulated authorization server. Its form POSTs to the page's own URL. */
export function simulatedConsentPage(provider: string, scopes: readonly string[]): Html {
  return layout(
    'Gatepass asks for access',
    html`<p>This page plays the part of <strong>${provider}</strong>: its users approve here what an application may do in
        their name. Nothing here is real: no request leaves this machine, and the answers of tools are examples.</p>
      <form method="post">
        ${
          scopes.length === 0
            ? ''
            : html`<p>Gatepass may use these scopes:</p>
        <ul>${scopes.map((scope) => html`<li><code>${scope}</code></li>`)}</ul>`
        }
        <div class="decision">
          <button type="submit" name="decision" value="allow">Approve</button>
          <button type="submit" name="decision" value="deny" class="secondary">Deny</button>
        </div>
      </form>`,
  )
}

/** Shown when the client or redirect URI is wrong, so that the browser cannot be sent back. */
export function refusalPage(message: string): Html {
  return layout(
    'This request can’t be answered',
    html`<p>${message}</p>
      <p>Close this page and start again from the link that Gatepass gave you.</p>`,
  )
}

function layout(title: string, content: Html): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Sandbox</title>
        <link rel="stylesheet" href="/assets/gatepass.css" />
        <link rel="stylesheet" href="/sandbox/sandbox.css" />
      </head>
      <body class="narrow">
        <header><p class="brand">Sandbox: a pretend provider</p></header>
        <main>
          <article class="card">
            <h1>${title}</h1>
            ${content}
          </article>
        </main>
        <footer><p class="muted small">Part of <code>gatepass dev</code>, for trying things out.</p></footer>
      </body>
    </html>`
}
