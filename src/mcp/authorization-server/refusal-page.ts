import { html } from 'hono/html'
import { type Html, name, page } from '../../http/pages/layout.ts'

export interface Refusal {
  readonly error: string
  readonly description?: string | undefined
  /** The client's redirect URI with the error, for a client that no user has approved. */
  readonly target?: URL
}

/** The page for a request of a client that is refused without a redirect to it (RFC 6749 section 4.1.2.1). */
export function refusalPage({ error, description, target }: Refusal): Html {
  const title = TITLES[error] ?? 'The application’s request cannot be accepted'
  const body = html`<main>
<article class="card">
<h1>${title}</h1>
<p>${HAPPENED[error] ?? 'The application sent a request that is not valid, so you were not sent back to it.'}</p>
<h2>What to do</h2>
<p>Go back to the application and connect again. If it stays so, remove this server from the application and add it once more.</p>
${target !== undefined && html`<p>The application wants you to go to <strong>${name(target.host || target.protocol)}</strong>. <a href="${target.href}" rel="noreferrer">Go there</a> only if you know it.</p>`}
<p class="reason muted small">Reason: <code>${name(error)}</code>${description !== undefined && html`<br>${name(description, { longest: 200 })}`}</p>
</article>
</main>`
  return page(title, body)
}

const TITLES: Readonly<Record<string, string>> = {
  session_not_found: 'This login has expired',
  temporarily_unavailable: 'Too many logins are under way',
  too_many_clients: 'You have allowed too many applications',
}

const HAPPENED: Readonly<Record<string, string>> = {
  session_not_found: 'It was started too long ago or in another browser, or it is over already.',
  temporarily_unavailable: 'Wait a moment, then try again.',
  too_many_clients: 'Disconnect some that you do not use any more, at /me/clients.',
  invalid_client: 'The application is not known here, or its registration has expired.',
  invalid_redirect_uri: 'The application asks to be sent to an address that it has not registered.',
}
