import { html } from 'hono/html'
import { assetHref } from './assets.ts'

/** A piece of a page. Whatever is put into `html` is escaped, unless it was made by `html` itself. */
export type Html = ReturnType<typeof html>

export interface PageOptions {
  /** The page asks for itself again after this time. */
  readonly refreshSeconds?: number
  /** Room for a reference instead of one card. */
  readonly wide?: boolean
}

/**
 * The frame of every page: no script, nothing inline, nothing from elsewhere, so that it stands under
 * `default-src 'none'; style-src 'self'; img-src 'self' data:`.
 */
export function page(title: string, body: Html, { refreshSeconds, wide = false }: PageOptions = {}): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>${title} · Gatepass</title>
<link rel="icon" href="${assetHref('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetHref('pico.css')}">
<link rel="stylesheet" href="${assetHref('gatepass.css')}">
</head>
<body class="${wide ? 'wide' : 'narrow'}">
<header><p class="brand"><img src="${assetHref('icon.svg')}" alt="" width="24" height="24">Gatepass</p></header>
${body}
</body>
</html>
`
}

/** A name that others chose: kept from turning the direction of the text around it, and to a bearable length. */
export function name(text: string, { longest = 80 } = {}): Html {
  const characters = [...text]
  return html`<bdi>${characters.length > longest ? `${characters.slice(0, longest).join('')}…` : text}</bdi>`
}

/** The address, if a browser may be sent there: neither `javascript:` nor anything else that is not the web. */
export function webUrl(address: string | undefined): URL | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined
  const url = new URL(address)
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined
}
