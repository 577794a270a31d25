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
}

/** The page at `/`: it says that Gatepass runs and links to the documentation. */
export function landingPage(view: LandingView): Html {
  const { words, version, development, publicUrl, console } = view
  const t = words.texts.start
  const body = html`<main>
<article class="card">
<h1>${t.heading}</h1>
<p>${t.what}</p>
<dl class="facts">
<dt>${t.facts.address}</dt><dd>${publicUrl}</dd>
<dt>${t.facts.version}</dt><dd>${version}</dd>
<dt>${t.facts.mode}</dt><dd>${development ? t.development : t.production}</dd>
</dl>
<h2>${t.readOn}</h2>
<ul>
${console === true && html`<li><a href="/dashboard">${t.console}</a></li>`}
<li><a href="/docs">${t.reference}</a></li>
<li><a href="/docs/mcp">${t.mcp}</a></li>
<li><a href="/openapi.json">${t.openapi}</a></li>
<li><a href="/health">${t.health}</a></li>
</ul>
${development && html`<p class="muted small">${t.oneMachine({ command: html`<code>gatepass serve</code>` })}</p>`}
</article>
</main>`
  return page(t.title, body, { words })
}
