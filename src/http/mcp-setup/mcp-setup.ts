import type { OpenAPIHono } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { isToolsetId } from '../../domain/shown-tools.ts'
import { assetHref } from '../pages/assets.ts'
import { type Html, page } from '../pages/layout.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { whyNotServed } from './is-served.ts'
import { KEY_VARIABLE, MCP_CLIENTS, type McpTarget, mcpTarget, type SetupStep } from './setup-steps.ts'

/**
 * `/docs/mcp`: how to add this server's address to MCP clients. With `?toolset=` it is the address of that toolset, even
 * if the toolset does not exist: the page needs no key, so it must not reveal what a project has.
 */
export function addMcpSetup(app: OpenAPIHono, broker: Broker): void {
  app.get('/docs/mcp', (c) => {
    const toolset = c.req.query('toolset')
    if (toolset !== undefined && !isToolsetId(toolset))
      throw new BrokerError(
        'not_found',
        'The id of a toolset has 1 to 64 lower-case letters, digits and hyphens.',
      )
    pageHeaders(c, { script: 'runs' })
    const { settings } = broker
    return c.html(setupPage(mcpTarget(settings.publicUrl, toolset), toolset, whyNotServed(settings)))
  })
}

/** The path of the page for a toolset, or for all tools. */
export function setupPath(toolset: string | undefined): string {
  return toolset === undefined ? '/docs/mcp' : `/docs/mcp?${new URLSearchParams({ toolset })}`
}

function setupPage(target: McpTarget, toolset: string | undefined, notServed: string | undefined): Html {
  const body = html`<main>
<nav aria-label="Clients"><ul>
${MCP_CLIENTS.map(
  ({ id, name }) => html`<li><a href="#${id}">${name}</a></li>
`,
)}<li><a href="/docs">API reference</a></li>
</ul></nav>
<div>
<h1>Connect an MCP client</h1>
${notServed !== undefined && html`<p><strong>${notServed}</strong></p>`}
<p>${
    toolset === undefined
      ? 'This is the address of all tools of the project:'
      : html`This is the address of the toolset <code>${toolset}</code>:`
  }</p>
${pasteView(target.url, 'the address')}
<p>Each person signs in in the browser, and gives consent there when a tool first needs one of their accounts. A client that cannot sign in can send an API key of one user instead: <code>gatepass keys create --role caller --user ada</code> makes one. Keep it in the environment variable <code>${KEY_VARIABLE}</code>, and never in the address.</p>
${MCP_CLIENTS.map(
  ({
    id,
    name,
    source,
    signIn,
    apiKey,
  }) => html`<section id="${id}" aria-labelledby="${id}-name"><article class="operation">
<h2 id="${id}-name">${name}</h2>
${stepsView(name, signIn(target))}
${
  apiKey === undefined
    ? html`<p class="muted small">${name} takes no API key.</p>`
    : html`<details><summary>With an API key</summary>
${stepsView(name, apiKey(target))}
</details>`
}
<p class="muted small"><a href="${source}" rel="noreferrer">The documentation of ${name}</a></p>
</article></section>
`,
)}
<section id="other" aria-labelledby="other-name"><article class="operation">
<h2 id="other-name">Another client</h2>
<p>Give it the address, with the transport “Streamable HTTP”. It registers itself when it asks to sign in. With a key, it sends the header <code>Authorization: Bearer</code> and the key.</p>
</article></section>
</div>
</main>`
  return page('Connect an MCP client', body, { wide: true, script: assetHref('docs.js') })
}

function stepsView(client: string, steps: readonly SetupStep[]): Html {
  return html`<ol>
${steps.map(
  ({ text, paste, link }) => html`<li>${text}
${link !== undefined && html`<p><a href="${link.href}">${link.label}</a></p>`}
${paste !== undefined && pasteView(paste, `the text for ${client}`)}</li>
`,
)}</ol>`
}

/** A click selects the whole text; with the script there is a button that copies it. */
function pasteView(text: string, what: string): Html {
  return html`<div class="paste"><button type="button" class="secondary" hidden data-script data-copy aria-label="Copy ${what}">Copy</button>
<pre tabindex="0"><code>${text}</code></pre></div>`
}
