import { html } from 'hono/html'
import { type Brand, NO_BRAND } from '../../domain/brand.ts'
import { assetHref } from './assets.ts'
import type { Text } from './texts/text.ts'
import { type Words, wordsOf } from './texts/words.ts'

/** A part of a page. `html` escapes every value except those that `html` made. */
export type Html = ReturnType<typeof html>

export interface PageOptions {
  /** The layout of the API reference, instead of one card. */
  readonly wide?: boolean
  /** The URL of a stylesheet of the page's own. */
  readonly style?: string
  /** The URL of the page's script, one of the assets. */
  readonly script?: string
  /** The page's language. Absent: English, as of the pages for operators and developers. */
  readonly words?: Words
  /** The look of the project's pages; absent: Gatepass's own. */
  readonly brand?: Brand
}

/**
 * The document around the body of a page. It has no inline script, no inline style and nothing from other hosts, as
 * the content security policy of `pageHeaders` demands. Pages that users see have no script, except the final page of a
 * popup.
 */
export function page(
  title: Text,
  body: Html,
  { wide = false, style, script, words = wordsOf('en'), brand = NO_BRAND }: PageOptions = {},
): Html {
  return html`<!DOCTYPE html>
<html lang="${words.language}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · ${brand.appName ?? 'Gatepass'}</title>
<link rel="icon" href="${assetHref('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetHref('gatepass.css')}">
${style !== undefined && html`<link rel="stylesheet" href="${style}">`}
${brand.style !== undefined && html`<link rel="stylesheet" href="${brand.style}">`}
${script !== undefined && html`<script src="${script}" defer></script>`}
</head>
<body class="${wide ? 'wide' : 'narrow'}">
<header>${brandLine(brand)}</header>
${body}
${links(brand, words)}
</body>
</html>
`
}

/** The application of the project, or Gatepass, above the card. */
export function brandLine({ appName, logo }: Brand): Html {
  const [icon, text] = appName === undefined ? [assetHref('icon.svg'), 'Gatepass'] : [logo, name(appName)]
  return html`<p class="brand">${icon !== undefined && html`<img src="${icon}" alt="" width="24" height="24">`}${text}</p>`
}

function links({ privacyUrl, supportUrl }: Brand, { texts: { connect } }: Words): Html | false {
  const all = [
    [privacyUrl, connect.privacy],
    [supportUrl, connect.support],
  ] as const
  const shown = all.flatMap(([address, text]) => {
    const url = webUrl(address)
    return url === undefined ? [] : [html`<a href="${url.href}" rel="noreferrer">${text}</a>`]
  })
  return shown.length > 0 && html`<footer class="small">${shown}</footer>`
}

/** A name from outside, isolated so that it cannot change the direction of the text around it, and shortened. */
export function name(text: string, { longest = 80 } = {}): Html {
  const characters = [...text]
  return html`<bdi>${characters.length > longest ? `${characters.slice(0, longest).join('')}…` : text}</bdi>`
}

/** The address as a URL if its scheme is http or https; a link to another scheme, such as `javascript:`, is unsafe. */
export function webUrl(address: string | undefined): URL | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined
  const url = new URL(address)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}
