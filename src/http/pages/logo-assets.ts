import { createHash } from 'node:crypto'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { BrokerError } from '../../domain/errors.ts'
import { findLogo, type Logo } from '../../providers/catalogue/logos.ts'
import { assetHeaders } from './assets.ts'
import type { TileLogo } from './provider-tile.ts'

/** The image of a provider's logo, by its name in the catalogue. */
export function tileLogo(slug: string | undefined): TileLogo | undefined {
  const logo = slug === undefined ? undefined : findLogo(slug)
  return logo && { href: `/assets/logo/${slug}-${versionOf(logo)}.svg` }
}

/** The logos of providers, whose URLs have a digest of the content, so that browsers may keep them. */
export function addProviderLogos(app: OpenAPIHono): void {
  app.get('/assets/logo/:file', (c) => {
    const [, slug, version] = /^([a-z0-9-]{1,80})-([0-9a-f]{12})\.svg$/.exec(c.req.param('file')) ?? []
    const svg = slug === undefined || version === undefined ? undefined : logoSvg(slug, version)
    if (svg === undefined) throw new BrokerError('not_found', 'There is no such asset.')
    assetHeaders(c, 'image/svg+xml')
    c.header('content-security-policy', "default-src 'none'; sandbox")
    return c.body(svg)
  })
}

/** The image of that name and version; `undefined` for a version of another release. */
function logoSvg(slug: string, version: string): string | undefined {
  const logo = findLogo(slug)
  return logo !== undefined && versionOf(logo) === version ? svgOf(logo) : undefined
}

/** A digest of the content, so that browsers may keep each version for ever. */
function versionOf(logo: Logo): string {
  return createHash('sha256').update(svgOf(logo)).digest('hex').slice(0, 12)
}

function svgOf({ color, path }: Logo): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#${onLight(color)}"><path d="${path}"/></svg>`
}

/** The tile is light in both colour schemes: a logo that is nearly white is drawn dark. */
function onLight(color: string): string {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
  return 0.3 * red + 0.6 * green + 0.1 * blue > 220 ? '3f4550' : color
}
