import { html } from 'hono/html'
import { type RedirectTarget, redirectTarget, verifiedHost } from '../../http/mcp-setup/client-identity.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'
import type { AskedConsent } from './approval.ts'
import { toolsetOf } from './resources.ts'

export interface ConsentView extends AskedConsent {
  /** The URL to which the form is posted. */
  readonly action: string
  readonly csrf: string
}

/** The page that asks a user whether an MCP client may act for them: who asks, for what, and where it leads. */
export function consentPage(view: ConsentView): Html {
  const { client, userId, scopes, resource, action, csrf } = view
  const { clientId } = client
  const who = name(client.clientName ?? verifiedHost(clientId) ?? 'An application')
  const target = redirectTarget(view.redirectUri)
  const body = html`<main>
<article class="card">
<h1>${who} wants to use your tools</h1>
<p class="identity">You are logged in as <strong>${name(userId, { longest: 512 })}</strong></p>
<h2>What it may do</h2>
<ul class="scopes">${scopes.map((scope) => html`<li>${SCOPE_WORDS[scope] ?? name(scope)}</li>`)}
${toolsWords(toolsetOf(resource))}</ul>
<h2>Who asks</h2>
<dl class="facts">
<dt>Application</dt><dd>${who}</dd>
<dt>Identity</dt><dd>${identityWords(clientId)}</dd>
<dt>Leads back to</dt><dd>${targetWords(target)}</dd>
</dl>
${warning(clientId, target)}
<form method="post" action="${action}">
<input type="hidden" name="csrf" value="${csrf}">
<button type="submit" name="decision" value="allow">Allow</button>
<button class="secondary" type="submit" name="decision" value="cancel">Cancel</button>
</form>
<form class="aside" method="post" action="${action}">
<button class="link" type="submit" name="decision" value="login">Log in as another user</button>
</form>
<p class="muted small">You can disconnect the application at any time at <a href="/me/clients">/me/clients</a>. It never sees
the tokens of your accounts.</p>
</article>
</main>`
  return page('Allow an application', body)
}

const SCOPE_WORDS: Readonly<Record<string, string>> = {
  mcp: 'See your tools, and call them for you with the accounts that you have connected',
  'mcp:read': 'See your tools, without calling them',
}

function toolsWords(toolset: string | undefined): Html {
  return toolset === undefined
    ? html`<li>All tools that this server has for you</li>`
    : html`<li>Only the tools of the toolset <strong>${name(toolset)}</strong></li>`
}

function identityWords(clientId: string): Html {
  const host = verifiedHost(clientId)
  return host === undefined
    ? html`Unverified: it registered itself, under a name of its choice`
    : html`Verified: <strong>${name(host)}</strong>`
}

function targetWords(target: RedirectTarget): Html {
  switch (target.kind) {
    case 'host':
      return html`<strong>${name(target.host)}</strong>`
    case 'loopback':
      return html`A program on this computer (<code>${target.host}</code>)`
    case 'application':
      return html`An application on this device (<code>${name(target.scheme)}</code>)`
  }
}

/** What a user must know where the redirect URI proves nothing of who receives the access. */
function warning(clientId: string, target: RedirectTarget): Html | false {
  if (target.kind === 'host') {
    if (verifiedHost(clientId) !== undefined) return false
    return html`<p class="warning" role="note">Allow this only if you have just added this server to an application of
<strong>${name(target.host)}</strong> yourself.</p>`
  }
  return html`<p class="warning" role="note">Any program on this computer can receive this access, under any name. Allow it
only if you have just started the connection yourself. If someone sent you a link to this page, choose Cancel.</p>`
}
