import { html } from 'hono/html'
import { type Html, name, page } from './layout.ts'

export interface LandingView {
  readonly version: string
  readonly development: boolean
  readonly publicUrl: string
  /** The operator's console is served. */
  readonly console?: boolean
  /** The sample tool of development mode. */
  readonly sandbox?: { readonly toolName: string } | undefined
}

/** The page at `/`: it says that Gatepass runs and links to the documentation. */
export function landingPage({ version, development, publicUrl, console, sandbox }: LandingView): Html {
  const body = html`<main>
<article class="card">
<h1>Gatepass is running</h1>
<p>It asks users once for access to their accounts, keeps the tokens fresh and sealed, and hands each tool a valid one on every call.</p>
<dl class="facts">
<dt>Address</dt><dd>${publicUrl}</dd>
<dt>Version</dt><dd>${version}</dd>
<dt>Mode</dt><dd>${development ? 'development' : 'production'}</dd>
</dl>
<h2>Read on</h2>
<ul>
${console === true && html`<li><a href="/dashboard">Operator’s console</a></li>`}
<li><a href="/docs">API reference</a></li>
<li><a href="/docs/mcp">Connect an MCP client</a></li>
<li><a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/health">Health</a></li>
</ul>
${development && nextSteps(sandbox)}
</article>
</main>`
  return page('Running', body)
}

function nextSteps(sandbox: LandingView['sandbox']): Html {
  return html`<h2>What to do next</h2>
<p>The terminal that started Gatepass shows an API key and the commands of a first run, ready to paste.${
    sandbox !== undefined &&
    html` They run the sample tool <code>${name(sandbox.toolName)}</code>, which needs an account at the sandbox provider:
Gatepass answers with a link, you approve, the tool runs with the token.`
  }</p>
<p class="muted small">Development mode is for one machine. For others to use it, start <code>gatepass serve</code>.</p>`
}
