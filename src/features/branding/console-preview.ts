import { readFileSync } from 'node:fs'
import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import { scopeItem } from '../../http/pages/connect-page.ts'
import { brandLine, type Html, name } from '../../http/pages/layout.ts'
import { tileLogo } from '../../http/pages/logo-assets.ts'
import { appTile, providerTile } from '../../http/pages/provider-tile.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { tokens } from '../../http/pages/tokens.ts'
import { describeScopes } from '../../providers/catalogue/scope-sentences.ts'
import type { Definition } from '../../providers/definition/read-definition.ts'
import { type BACKGROUNDS, nearestReadable, textOn } from './contrast.ts'

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

const previewCss = `${readFileSync(new URL('./preview.css', import.meta.url), 'utf8')}
.preview { ${tokens.light} }
.preview.dark { ${tokens.dark} }
`

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
  return colour === undefined
    ? ''
    : `.preview.${scheme} { --own: ${colour}; --on-own: ${textOn(colour)}; --own-link: ${colour}; }\n`
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
  return html`${brandLine(brand)}
<div class="page"><div class="pair" aria-hidden="true">${(app !== undefined || brand.logo !== undefined) && html`${appTile(brand)}<span class="between"></span>`}${providerTile({ providerName: provider.displayName, logo: tileLogo(provider.facts?.logo) })}</div>
<p class="asks">${connect.wants({ app, provider: called })}</p>
<p>${connect.youAre({ user: 'Ada', app })}${words.gap}${connect.notYou({ cancel: connect.cancel })}</p>
${note !== undefined && html`<p class="own" lang="${note.language}" dir="auto">${note.text}</p>`}
<p><strong>${connect.willBeAbleTo({ app })}</strong></p>
<ul>${scopes.length === 0 ? html`<li>${connect.defaults({ provider: called })}</li>` : scopes.slice(0, 3).map((sentence) => scopeItem({ scope: '', sentence, level: sentence.level }, { providerName: provider.displayName }, words))}</ul>
<p class="warns">${connect.warning({ app })}</p>
<p class="does">${connect.continueTo({ provider: called })}</p>
<p class="does not">${connect.cancel}</p>
<p class="next">${connect.next({ host: html`<strong>${name(provider.opens)}</strong>` })}${endAt && html`${words.gap}${connect.endAccess({ ownPage: endAt })}`}</p></div>
${links.some(([address]) => address !== undefined) && html`<p class="foot">${links.map(([address, text]) => address !== undefined && html`<span class="linked">${text}</span> `)}</p>`}`
}
