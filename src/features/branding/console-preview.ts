import { readFileSync } from 'node:fs'
import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { tileLogo } from '../../http/pages/logo-assets.ts'
import { appTile, providerTile } from '../../http/pages/provider-tile.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { describeScopes } from '../../providers/catalogue/scope-sentences.ts'
import type { Definition } from '../../providers/definition/read-definition.ts'
import { type BACKGROUNDS, nearestReadable, textOn } from './contrast.ts'

/** The accent of `tokens.css` in buttons and links, for a project that has set none. */
const USUAL = {
  light: { button: '#0b6aa2', text: '#ffffff', link: '#0b6aa2' },
  dark: { button: '#63b7ec', text: '#0c1a26', link: '#63b7ec' },
} as const

export type Scheme = keyof typeof BACKGROUNDS

export interface Colours {
  readonly accent?: string | undefined
  readonly accentDark?: string | undefined
}

/** A provider as the preview shows it. */
export interface SampleProvider {
  readonly displayName: string
  /** The host of the authorization endpoint. */
  readonly opens: string
  readonly facts: Definition['facts'] | undefined
}

/** The URL of the style sheet with the preview in these colours. */
export function coloursHref({ accent, accentDark }: Colours): string {
  const query = new URLSearchParams({
    ...(accent !== undefined && { light: accent.slice(1) }),
    ...(accentDark !== undefined && { dark: accentDark.slice(1) }),
  })
  return `/dashboard/branding/colours.css?${query}`
}

const previewCss = readFileSync(new URL('./preview.css', import.meta.url), 'utf8')

/** The style sheet for the URL of `coloursHref`. Only colours of six hexadecimal digits are read from the query. */
export function coloursCss(query: (name: string) => string | undefined): string {
  const colourOf = (scheme: Scheme) =>
    /^[0-9a-f]{6}$/i.test(query(scheme) ?? '') ? `#${query(scheme)}` : undefined
  const light = colourOf('light')
  // as the style sheet of the project's pages does it
  const dark = colourOf('dark') ?? (light === undefined ? undefined : nearestReadable(light, 'dark'))
  return previewCss + rule('light', light) + rule('dark', dark)
}

function rule(scheme: Scheme, colour: string | undefined): string {
  const { button, text, link } =
    colour === undefined ? USUAL[scheme] : { button: colour, text: textOn(colour), link: colour }
  return `.preview.${scheme} { --own: ${button}; --on-own: ${text}; --own-link: ${link}; }\n`
}

/** The connect page in small, in light and in dark colours. It has no form. */
export function brandingPreview(
  brand: Brand,
  provider: SampleProvider,
  words: Words,
  ownPage: URL | undefined,
): Html {
  const schemes: readonly (readonly [Scheme, string])[] = [
    ['light', 'On light pages'],
    ['dark', 'On dark pages'],
  ]
  return html`<div class="previews">${schemes.map(
    ([
      scheme,
      caption,
    ]) => html`<figure><div class="preview ${scheme}" lang="${words.language}" dir="${words.direction}">
${sample(brand, provider, words, ownPage)}</div><figcaption class="muted small">${caption}</figcaption></figure>`,
  )}</div>`
}

function sample(brand: Brand, provider: SampleProvider, words: Words, ownPage: URL | undefined) {
  const { connect } = words.texts
  const app = brand.appName === undefined ? undefined : name(brand.appName)
  const called = name(provider.displayName)
  const endAt = ownPage && html`<span class="linked">${name(`${ownPage.host}${ownPage.pathname}`)}</span>`
  const note = brand.note('connect.note', words.language)
  const described = provider.facts?.scopes ?? {}
  const scopes = describeScopes(described, Object.keys(described), words.language).flatMap(
    ({ sentence }) => sentence ?? [],
  )
  const links = [
    [brand.privacyUrl, connect.privacy],
    [brand.supportUrl, connect.support],
  ] as const
  return html`<p class="line">${brand.logo !== undefined && html`<img src="${brand.logo}" alt="" width="20" height="20">`}${app ?? 'Gatepass'}</p>
<div class="page"><div class="pair" aria-hidden="true">${(app !== undefined || brand.logo !== undefined) && html`${appTile(brand)}<span class="between"></span>`}${providerTile({ providerName: provider.displayName, logo: tileLogo(provider.facts?.logo) })}</div>
<p class="asks">${connect.wants({ app, provider: called })}</p>
<p>${connect.youAre({ user: 'Ada', app })}</p>
${note !== undefined && html`<p class="own" lang="${note.language}" dir="auto">${note.text}</p>`}
<p><strong>${connect.willBeAbleTo({ app })}</strong></p>
<ul>${scopes.length === 0 ? html`<li>${connect.defaults({ provider: called })}</li>` : scopes.slice(0, 3).map(({ text, language }) => html`<li lang="${language}">${name(text, { longest: 200 })}</li>`)}</ul>
<p class="warns">${connect.warning({ app })}</p>
<p class="does">${connect.continueTo({ provider: called })}</p>
<p class="does not">${connect.cancel}</p>
<p class="next">${connect.next({ host: html`<strong>${name(provider.opens)}</strong>` })}${endAt && html`${words.gap}${connect.endAccess({ ownPage: endAt })}`}</p></div>
${links.some(([address]) => address !== undefined) && html`<p class="foot">${links.map(([address, text]) => address !== undefined && html`<span class="linked">${text}</span> `)}</p>`}`
}
