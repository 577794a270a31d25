import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import { type RedirectTarget, redirectTarget, verifiedHost } from '../../domain/mcp-client-identity.ts'
import { csrfInput } from '../../http/pages/csrf-input.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import type { AskedConsent } from './approval.ts'
import { CLIENTS_PATH } from './paths.ts'
import { toolsetOf } from './resources.ts'

export interface ConsentView extends AskedConsent {
  readonly words: Words
  readonly brand: Brand
  /** The URL to which the form is posted. */
  readonly action: string
  readonly csrf: string
}

/** The page that asks a user whether an MCP client may act for them: who asks, for what, and where it leads. */
export function consentPage(view: ConsentView): Html {
  const { client, userId, scopes, resource, action, csrf, words, brand } = view
  const { clients: t, connect } = words.texts
  const { clientId } = client
  const known = client.clientName ?? verifiedHost(clientId)
  const who = known === undefined ? undefined : name(known)
  const target = redirectTarget(view.redirectUri)
  const body = html`<main>
<article class="card">
<h1>${t.wants({ app: who })}</h1>
<p class="identity">${t.loggedInAs({ user: name(userId, { longest: 512 }) })}</p>
<h2>${t.may}</h2>
<ul class="scopes">${scopes.map((scope) => html`<li>${scopeText(scope, words)}</li>`)}
${toolsText(toolsetOf(resource), words)}</ul>
<h2>${t.whoAsks}</h2>
<dl class="facts">
${who !== undefined && html`<dt>${t.facts.application}</dt><dd>${who}</dd>`}
<dt>${t.facts.identity}</dt><dd>${identityText(clientId, words)}</dd>
<dt>${t.facts.leadsTo}</dt><dd>${targetText(target, words)}</dd>
</dl>
${warning(clientId, target, words)}
<form method="post" action="${action}">
${csrfInput(csrf)}
<button type="submit" name="decision" value="allow">${t.allow}</button>
<button class="secondary" type="submit" name="decision" value="cancel">${connect.cancel}</button>
</form>
<form class="aside" method="post" action="${action}">
<button class="link" type="submit" name="decision" value="login">${t.logInAsAnother}</button>
</form>
<p class="muted small">${t.endLater({ page: html`<a href="${CLIENTS_PATH}">${CLIENTS_PATH}</a>` })}</p>
</article>
</main>`
  return page(t.title, body, { words, brand })
}

function scopeText(scope: string, { texts: { clients } }: Words): Html | string {
  if (scope === 'mcp') return clients.call
  return scope === 'mcp:read' ? clients.see : name(scope)
}

function toolsText(toolset: string | undefined, { texts: { clients } }: Words): Html {
  return html`<li>${toolset === undefined ? clients.allTools : html`<span>${clients.toolset({ toolset: name(toolset) })}</span>`}</li>`
}

function identityText(clientId: string, { texts: { clients } }: Words) {
  const host = verifiedHost(clientId)
  return host === undefined ? clients.unverified : clients.verified({ host: name(host) })
}

/** Where the redirect URI leads, for the reader. */
export function targetText(target: RedirectTarget, { texts: { clients } }: Words) {
  switch (target.kind) {
    case 'host':
      return html`<strong>${name(target.host)}</strong>`
    case 'loopback':
      return clients.program({ host: name(target.host) })
    case 'application':
      return clients.installed({ scheme: name(target.scheme) })
  }
}

/** The warning for a redirect URI that does not prove who receives the access. */
function warning(clientId: string, target: RedirectTarget, { texts: { clients } }: Words): Html | false {
  if (target.kind === 'host' && verifiedHost(clientId) !== undefined) return false
  const text =
    target.kind === 'host' ? clients.warnOfHost({ host: name(target.host) }) : clients.warnOfProgram
  return html`<p class="warning" role="note">${text}</p>`
}
