import { html } from 'hono/html'
import { type Html, page } from './layout.ts'
import type { Words } from './texts/words.ts'

export interface LandingView {
  readonly words: Words
  readonly version: string
  readonly development: boolean
  readonly publicUrl: string
  /** The operator's console is served. */
  readonly console?: boolean
  /** The path of the page at which users see what they have connected. */
  readonly ownPage?: string | undefined
}

/** The page at `/`: it says what runs here, and where users, operators and developers go. */
export function landingPage(view: LandingView): Html {
  const { words, version, development, publicUrl, console, ownPage } = view
  const t = words.texts.start
  const body = html`<main>
<article class="card">
<h1>${t.heading}</h1>
<p>${t.what}</p>
${
  ownPage !== undefined &&
  html`<h2>${t.users}</h2>
<ul>${item(ownPage, t.accounts)}</ul>`
}
<h2>${t.operators}</h2>
<ul>${console === true && item('/dashboard', t.console)}${item('/health', t.health)}</ul>
<h2>${t.developers}</h2>
<ul>${item('/docs', t.reference)}${item('/docs/mcp', t.mcp)}${item('/openapi.json', t.openapi)}</ul>
<hr>
<dl class="facts">
<dt>${t.facts.address}</dt><dd>${publicUrl}</dd>
<dt>${t.facts.version}</dt><dd>${version}</dd>
<dt>${t.facts.mode}</dt><dd>${development ? t.development : t.production}</dd>
</dl>
${development && html`<p class="muted small">${t.oneMachine({ command: html`<code>gatepass serve</code>` })}</p>`}
</article>
</main>`
  return page(t.title, body, { words })
}

const item = (href: string, text: string) => html`<li><a href="${href}">${text}</a></li>`
