import { html } from 'hono/html'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Html, name, page } from './layout.ts'
import { providerTile, type TileLogo } from './provider-tile.ts'

/** The names of the form's fields for values begin with it. */
export const VALUE = 'value.'

/** A value that the user is asked for, such as the subdomain of an account. */
export interface ValueField {
  readonly name: string
  readonly label: string
  readonly example?: string
  readonly oneOf?: readonly string[]
  readonly value: string
  /** The application has given it. */
  readonly isGiven: boolean
  /** Completes a sentence that begins with the label. */
  readonly fault?: string | undefined
}

export interface ConnectView {
  /** The tool or application that asks for access. */
  readonly requester?: string | undefined
  readonly providerName: string
  /** Absent: the page shows the first letter of the name. */
  readonly logo?: TileLogo | undefined
  readonly userId: string
  readonly scopes: readonly string[]
  /** What scopes mean, in plain words. A scope without words is shown alone. */
  readonly meanings?: Readonly<Record<string, string>> | undefined
  readonly fields?: readonly ValueField[]
  /** The index of the current step, from 0. */
  readonly step: number
  readonly steps: readonly { readonly providerName: string; readonly done: boolean }[]
  readonly expiresAt: EpochSeconds
  readonly now: EpochSeconds
  /** The URL to which the form is posted. */
  readonly action: string
  /** Why the user is asked although an account is connected. */
  readonly askedAgain?: string | undefined
  /** The host at which the user must log in first, if any. */
  readonly loginAt?: string | undefined
}

/** The page before the redirect to the provider: who asks for which access, for which user, and one button. */
export function connectPage(view: ConnectView): Html {
  const { requester, providerName, userId, scopes, action, loginAt } = view
  const who = name(requester ?? 'Your application')
  const provider = name(providerName)
  const body = html`<main>
<article class="card">
${view.steps.length > 1 && progress(view)}
${providerTile(view)}
<h1>${who} asks for access to ${provider}</h1>
<p class="identity">You are connecting as <strong>${name(userId, { longest: 512 })}</strong> If that is not you, close this page.</p>
${view.askedAgain !== undefined && html`<p>You are asked again: ${view.askedAgain}</p>`}
<h2>What ${provider} will be asked for</h2>
<ul class="scopes">
${
  scopes.length === 0
    ? html`<li>The provider’s own default permissions</li>`
    : scopes.map((scope) => scopeItem(scope, view.meanings))
}
</ul>
<form method="post" action="${action}">${(view.fields ?? []).map(field)}<button type="submit">Continue to ${provider}</button></form>
<p class="muted small">${timeLeft(view)}</p>
<h2>What happens next</h2>
${loginAt !== undefined && html`<p class="muted small">First you log in at ${name(loginAt)}, so that it is certain that this is you.</p>`}
<p class="muted small">${loginAt === undefined ? '' : 'Then '}${provider} shows its own page, where you sign in and approve or refuse. Your password stays there.
The tokens that it issues stay with Gatepass, encrypted, and serve only tools that act for you. You can revoke the access
at any time, through your application or in your account at ${provider}.</p>
</article>
</main>`
  return page(`Connect ${providerName}`, body)
}

function scopeItem(scope: string, meanings: ConnectView['meanings'] = {}): Html {
  const meaning = Object.hasOwn(meanings, scope) ? meanings[scope] : undefined
  const code = html`<code><bdi>${scope}</bdi></code>`
  return meaning === undefined
    ? html`<li>${code}</li>`
    : html`<li><span>${name(meaning, { longest: 200 })}</span> ${code}</li>`
}

function field({ name: variable, label, example, oneOf, value, isGiven, fault }: ValueField): Html {
  if (isGiven) return html`<p>${label}: <strong><bdi>${value}</bdi></strong></p>`
  const id = `value-${variable}`
  const note = `${id}-note`
  const fieldName = `${VALUE}${variable}`
  const invalid = fault === undefined ? '' : html` aria-invalid="true"`
  const control =
    oneOf === undefined
      ? html`<input id="${id}" name="${fieldName}" value="${value}" required maxlength="255" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="${note}"${invalid}>`
      : html`<select id="${id}" name="${fieldName}" required aria-describedby="${note}"${invalid}>
<option value="">Choose</option>
${oneOf.map((one) => html`<option value="${one}"${one === value ? html` selected` : ''}>${one}</option>`)}
</select>`
  const words =
    fault === undefined
      ? example === undefined
        ? ''
        : `Such as ${example}`
      : `${label} ${fault}${example === undefined ? '' : `; it looks like ${example}`}.`
  return html`<label for="${id}">${label}</label>
${control}
<small id="${note}">${words}</small>`
}

const DONE = html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="m4 12.5 5.5 5.5L20 7"/></svg>`

function progress({ step, steps }: ConnectView): Html {
  return html`<p class="muted small">Step ${step + 1} of ${steps.length}</p>
<ol class="steps">
${steps.map(({ providerName, done }, index) => {
  if (done)
    return html`<li class="done">${DONE}${name(providerName)}<span class="visually-hidden">, connected</span></li>`
  if (index === step) return html`<li aria-current="step">${name(providerName)}</li>`
  return html`<li>${name(providerName)}<span class="visually-hidden">, to come</span></li>`
})}
</ol>`
}

function timeLeft({ expiresAt, now }: ConnectView): string {
  const minutes = Math.floor((expiresAt - now) / 60)
  if (minutes < 1) return 'This link works for less than a minute more.'
  return `This link works for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'}.`
}
