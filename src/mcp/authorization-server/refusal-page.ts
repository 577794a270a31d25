import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'

/** Why the request of a client was refused. */
export interface Refusal {
  readonly error: string
  /** In English. */
  readonly description?: string | undefined
  /** The host of the client's metadata document, which could not be read. */
  readonly documentAt?: string
  /** The client's redirect URI with the error, for a client that this browser's user has not allowed. */
  readonly target?: URL
}

export interface RefusalView extends Refusal {
  readonly words: Words
  readonly brand: Brand
}

const DOCUMENTS_OFF = html`<code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code>`

/** The page that refuses a client's request without a redirect to the client (RFC 6749 section 4.1.2.1). */
export function refusalPage({ error, description, documentAt, target, words, brand }: RefusalView): Html {
  const { clients: t, endings } = words.texts
  const { title, happened } = isKnown(error, t.refusals) ? t.refusals[error] : t.refusals.other
  const body = html`<main>
<article class="card">
<h1>${title}</h1>
<p>${documentAt === undefined ? happened : t.unreadAt({ host: name(documentAt) })}</p>
<p class="muted">${documentAt === undefined ? t.refusedTodo : t.unreadTodo({ setting: DOCUMENTS_OFF })}</p>
${target !== undefined && html`<p>${t.wantsYouAt({ host: name(target.host || target.protocol) })}<br><a href="${target.href}" rel="noreferrer">${t.goThere}</a></p>`}
<p class="reason muted small">${endings.reason} <code>${name(error)}</code>${description !== undefined && html`<br><span lang="en" dir="ltr">${name(description, { longest: 200 })}</span>`}</p>
</article>
</main>`
  return page(title, body, { words, brand })
}

function isKnown<T extends object>(error: string, refusals: T): error is Extract<keyof T, string> {
  return Object.hasOwn(refusals, error)
}
