import { html } from 'hono/html'
import type { LoginTrouble } from '../../flows/identify-user.ts'
import { type Html, page } from '../../http/pages/layout.ts'

/** The page after a login that identified no user; its button begins another. */
export function loginTroublePage(trouble: LoginTrouble, action: string): Html {
  const { title, happened } = WORDS[trouble]
  const body = html`<main>
<article class="card">
<h1>${title}</h1>
<p>${happened}</p>
<form method="post" action="${action}"><button type="submit" name="decision" value="login">Try again</button></form>
<p class="reason muted small">Reason: <code>login_${trouble}</code></p>
</article>
</main>`
  return page(title, body)
}

const WORDS = {
  cancelled: { title: 'You did not log in', happened: 'The login was cancelled or refused.' },
  unavailable: {
    title: 'You cannot log in right now',
    happened: 'The service where you log in could not be reached or has a problem of its own.',
  },
  failed: {
    title: 'The login did not work',
    happened:
      'The service where you log in answered with something that could not be used. The reason is in the log of this server.',
  },
} as const satisfies Record<LoginTrouble, object>
