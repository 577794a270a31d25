import { html } from 'hono/html'
import { badge, code, exactTime, section } from '../../http/console/elements.ts'
import { field, submit } from '../../http/console/form-fields.ts'
import { confirmFirst, type OnPage } from '../../http/console/routes.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { OwnDomain } from './domain.ts'
import { type DomainRegistrations, domainRegistrations } from './prove-domain.ts'

/** The path of the page with this section, below `/dashboard`. */
export const DOMAIN_SECTION = '/branding#domain'
/** How many redirect URIs are shown at once; longer lists are folded. */
const MOST_OPEN = 10

/** Why a form of the section was refused. */
export interface RefusedDomain {
  /** The text that was typed as the domain, and what is wrong with it. */
  readonly value?: string
  readonly fault?: string
  /** Why the domain is not proved. */
  readonly problem?: string
}

/** The project's own domain: its state, what to do until it is proved, and the forms. It sends no DNS query. */
export async function domainSection(
  on: OnPage,
  domain: OwnDomain | undefined,
  refused: RefusedDomain,
): Promise<Html> {
  const body =
    domain === undefined
      ? withoutDomain(on, refused)
      : withDomain(on, domain, await domainRegistrations(on.broker, on.projectId, domain), refused)
  // shown beside its form, because the browser scrolls to this section, past the head of the page
  const problem =
    refused.problem !== undefined && html`<p class="note bad" role="alert">${refused.problem}</p>`
  return html`<div id="domain">${section('Domain', html`<div class="stack">${problem}${body}</div>`)}</div>`
}

function withoutDomain(on: OnPage, refused: RefusedDomain): Html {
  return html`<p class="muted">None: your users see the pages at ${code(on.broker.settings.publicUrl.origin)}. With your own domain, they see your host name. Nothing changes for them until it is proved.</p>
${forms(on, setForm(on, 'Set domain', refused))}`
}

function withDomain(
  on: OnPage,
  domain: OwnDomain,
  registrations: DomainRegistrations,
  refused: RefusedDomain,
): Html {
  const { provedAt } = domain
  const { origin } = registrations
  const isProved = provedAt !== undefined
  const about = isProved
    ? html`Users see the pages at ${code(origin)} since ${exactTime(provedAt)}.`
    : html`Users see the pages at ${code(on.broker.settings.publicUrl.origin)} until it is proved.`
  const change = html`<details${refused.value === undefined ? '' : html` open`}><summary>Use a different domain</summary>
<p class="muted">${isProved ? 'It replaces this one: users see the pages at the public URL until the new one is proved.' : 'It replaces this one and gets its own TXT record.'}</p>
${setForm(on, 'Replace domain', refused)}</details>`
  return html`<p><strong>${name(domain.name)}</strong> ${isProved ? badge('proved', 'good') : badge('not proved', 'wait')}<br><span class="muted">${about}</span></p>
${isProved ? kept(registrations) : steps(registrations)}
${forms(
  on,
  html`<div class="buttons">${on.form('/branding/domain/verify#domain', submit('Verify', isProved ? 'secondary' : 'primary'), { className: 'inline' })}
${on.form('/branding/domain/remove', submit('Remove', 'danger'), { className: 'inline' })}
<span class="muted small">${isProved ? 'Verify looks whether the TXT record is still there. After Remove users see the public URL at once.' : 'Verify looks the TXT record up; when it is there, users see the domain at once.'}</span></div>
${change}`,
)}`
}

/** The steps before the proof, in the order in which nothing fails for users. */
function steps(registrations: DomainRegistrations): Html {
  return html`<ol>
<li><strong>Register the redirect URIs</strong> at your providers, in addition to the current ones.
${redirectUris(registrations, { mayBeOpen: true })}</li>
<li><strong>Point the name to Gatepass:</strong> a CNAME or address record to the proxy before it, a certificate for the name, and the <code>Host</code> header passed on as it came.</li>
<li><strong>Publish this DNS record:</strong>
${txtRecord(registrations)}</li>
<li><strong>Verify.</strong> A new record can take some minutes until all name servers answer it.</li>
</ol>`
}

function kept(registrations: DomainRegistrations): Html {
  return html`<p class="muted">Leave the TXT record and the redirect URIs where they are.</p>
${txtRecord(registrations)}
${redirectUris(registrations, { mayBeOpen: false })}`
}

function txtRecord({ record }: DomainRegistrations): Html {
  return copies([
    ['Type', record.type],
    ['Name', record.name],
    ['Value', record.value],
  ])
}

function redirectUris(
  { redirectUris: listed, loginRedirectUri }: DomainRegistrations,
  { mayBeOpen }: { readonly mayBeOpen: boolean },
): Html {
  const login = loginRedirectUri === undefined ? [] : [['The issuer at which users log in', loginRedirectUri]]
  const rows = [...login, ...listed.map((row) => [row.providerId, row.redirectUri])]
  if (rows.length === 0) return html`<p class="muted">There are no providers yet.</p>`
  const isOpen = mayBeOpen && rows.length <= MOST_OPEN
  return html`<details${isOpen ? html` open` : ''}><summary>Redirect URIs (${rows.length})</summary>
${copies(rows)}</details>`
}

/** Terms with texts to copy; a click selects the whole text. */
function copies(rows: readonly (readonly string[])[]): Html {
  return html`<dl class="copies">${rows.map(
    ([term = '', text = '']) =>
      html`<div><dt>${name(term, { longest: 200 })}</dt><dd><code class="copy">${text}</code></dd></div>`,
  )}</dl>`
}

function setForm(on: OnPage, button: string, { value, fault }: RefusedDomain): Html | '' {
  const fields = html`${field('Host name', 'domain', { value, fault, required: true, maxlength: 253, placeholder: 'auth.acme.example', hint: 'A DNS name that is yours, without scheme, port, or path.' })}
${submit(button, 'secondary')}`
  return on.form('/branding/domain#domain', fields)
}

/** The forms, for an administrator whose login is recent: users and the codes of providers are sent to the domain. */
function forms(on: OnPage, recent: Html | ''): Html | '' {
  if (!on.mayChange) return ''
  // this page may be the answer to a form, and a confirmation cannot return to the path of a form
  return on.session.isRecent ? html`${recent}` : confirmFirst(DOMAIN_SECTION)
}
