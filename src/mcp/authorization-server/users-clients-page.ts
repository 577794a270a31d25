import { html } from 'hono/html'
import { toTimestamp } from '../../domain/clock.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { redirectTarget, verifiedHost } from '../../http/mcp-setup/client-identity.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'

export interface UsersClientsView {
  readonly userId: string
  readonly clients: readonly McpConsent[]
  readonly csrf: string
  readonly action: string
}

/** The applications that act for a user over MCP, each with a button that disconnects it. */
export function usersClientsPage({ userId, clients, csrf, action }: UsersClientsView): Html {
  const token = html`<input type="hidden" name="csrf" value="${csrf}">`
  const body = html`<main>
<article class="card">
<h1>Your applications</h1>
<p>They see your tools and call them for you. Disconnecting one ends its access at once; it has to ask you again.</p>
<p class="identity">You are logged in as <strong>${name(userId, { longest: 512 })}</strong></p>
${clients.length === 0 && html`<p class="muted">No application is connected.</p>`}
<ul class="clients">
${clients.map(
  (one) => html`<li>
<p><strong>${name(one.clientName)}</strong> <span class="muted small">${verifiedHost(one.clientId) ?? 'unverified'}</span></p>
<dl class="facts small">
<dt>Leads to</dt><dd>${targetOf(one.redirectUri)}</dd>
<dt>May</dt><dd>${one.scopes.includes('mcp') ? 'see and call your tools' : 'see your tools'}</dd>
<dt>Allowed</dt><dd>${time(one.createdAt)}</dd>
<dt>Last used</dt><dd>${one.lastUsedAt === undefined ? 'not yet' : time(one.lastUsedAt)}</dd>
</dl>
<form method="post" action="${action}">${token}<input type="hidden" name="id" value="${one.id}">
<button class="secondary" type="submit" name="decision" value="disconnect" aria-label="Disconnect ${one.clientName}">Disconnect</button></form>
</li>`,
)}
</ul>
<form class="aside" method="post" action="${action}">${token}<button class="link" type="submit" name="decision" value="logout">Log out</button></form>
</article>
</main>`
  return page('Your applications', body)
}

function targetOf(redirectUri: string): Html {
  const target = redirectTarget(redirectUri)
  if (target.kind === 'host') return name(target.host)
  return target.kind === 'loopback' ? html`a program on your computer` : name(target.scheme)
}

function time(at: number): Html {
  const text = toTimestamp(at)
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`
}
