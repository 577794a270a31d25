import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import { redirectTarget, verifiedHost } from '../../domain/mcp-client-identity.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import type { ClientRights } from '../../flows/mcp-clients.ts'
import { csrfInput } from '../../http/pages/csrf-input.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { day, moment } from '../../http/pages/times.ts'
import { targetText } from './consent-page.ts'

export interface UsersClientsView {
  readonly words: Words
  readonly brand: Brand
  readonly userId: string
  readonly clients: readonly (McpConsent & { readonly may: ClientRights })[]
  readonly csrf: string
  readonly action: string
}

/** The applications that act for a user over MCP, each with a button that ends its access. */
export function usersClientsPage({ words, brand, userId, clients, csrf, action }: UsersClientsView): Html {
  const { clients: t } = words.texts
  const { own } = t
  const token = csrfInput(csrf)
  const body = html`<main>
<article class="card">
<h1>${own.applications}</h1>
<p>${own.applicationsIntro}</p>
<p class="identity">${t.loggedInAs({ user: name(userId, { longest: 512 }) })}</p>
${clients.length === 0 && html`<p class="muted">${t.none}</p>`}
<ul class="clients">
${clients.map(
  (client) => html`<li>
<p><strong>${name(client.clientName)}</strong> <span class="muted small">${verifiedHost(client.clientId) ?? own.unverified}</span></p>
<p class="small">${own.applicationMay[client.may]}</p>
<dl class="facts small">
<dt>${t.facts.leadsTo}</dt><dd>${targetText(redirectTarget(client.redirectUri), words)}</dd>
<dt>${own.allowedOn}</dt><dd>${day(words, client.createdAt)}</dd>
<dt>${own.lastUsed}</dt><dd>${client.lastUsedAt === undefined ? own.never : moment(words, client.lastUsedAt)}</dd>
</dl>
<form method="post" action="${action}">${token}<input type="hidden" name="id" value="${client.id}">
${endButton(client.may === 'nothing' ? own.removeApplication : own.endAccess, client.clientName)}</form>
</li>`,
)}
</ul>
<form class="aside" method="post" action="${action}">${token}<button class="link" type="submit" name="decision" value="logout">${own.logout}</button></form>
</article>
</main>`
  return page(own.applications, body, { words, brand })
}

function endButton(text: string, about: string): Html {
  return html`<button class="secondary" type="submit" name="decision" value="disconnect" aria-label="${text}: ${about}">${text}</button>`
}
