import { Buffer } from 'node:buffer'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { PageRoutes } from '../../http/page-routes.ts'
import { assetHeaders } from '../../http/pages/assets.ts'
import { mixed, nearestReadable, textOn } from './contrast.ts'
import type { Branding } from './domain.ts'

export const brandingRoutes: PageRoutes = { paths: ['/domains/proved'], add: addBrandingRoutes }

/** The colours and the logos of projects, whose URLs have a digest of the content, so that browsers may keep them. */
function addBrandingRoutes(app: OpenAPIHono, broker: Broker): void {
  app.get('/assets/brand/:file', async (c) => {
    const [, hash] = /^([0-9a-zA-Z]{8,64})\.css$/.exec(c.req.param('file')) ?? []
    const style = hash === undefined ? undefined : await broker.store.brandings.findStyle(hash)
    if (style === undefined) throw noAsset()
    assetHeaders(c, 'text/css; charset=utf-8')
    return c.body(brandCss(style))
  })

  app.get('/assets/logo/:file', async (c, next) => {
    const [, projectId, hash] = /^([\w-]{1,80})-([0-9a-zA-Z]{8,64})$/.exec(c.req.param('file')) ?? []
    if (projectId === undefined || hash === undefined) return next() // of a provider
    const logo = await broker.store.brandings.findLogo(projectId, hash)
    if (logo === undefined) throw noAsset()
    assetHeaders(c, logo.type)
    // an image that is opened on its own page runs and loads nothing
    c.header('content-security-policy', "default-src 'none'; sandbox")
    return c.body(new Uint8Array(Buffer.from(logo.data, 'base64')))
  })

  // tells a TLS proxy with on-demand certificates (Caddy's `ask`) whether it may request a certificate for a host name;
  // it needs no key, since certificates are public, and answers from memory
  app.get('/domains/proved', async (c) => {
    await broker.sites.settled()
    const isProved = broker.sites.projectAt((c.req.query('domain') ?? '').toLowerCase()) !== undefined
    return isProved ? c.text('proved') : c.text('No project has proved this domain.', 404)
  })
}

function noAsset(): BrokerError {
  return new BrokerError('not_found', 'There is no such asset. The branding of its project may have changed.')
}

/** The style sheet that sets the colours of links and buttons. Its values were checked before they were stored. */
function brandCss({ accent, accentDark }: Pick<Branding, 'accent' | 'accentDark'>): string {
  const dark = accentDark ?? (accent === undefined ? undefined : nearestReadable(accent, 'dark'))
  const light = accent === undefined ? '' : `:root {\n${variables(accent)}}\n`
  return dark === undefined
    ? light
    : `${light}@media (prefers-color-scheme: dark) {\n:root {\n${variables(dark)}}\n}\n`
}

function variables(colour: string): string {
  const text = textOn(colour)
  // mixed away from the colour of the text, which therefore remains readable
  const hover = mixed(colour, text === '#ffffff' ? '#000000' : '#ffffff', 0.12)
  const values = { accent: colour, 'accent-area': colour, 'accent-hover': hover, 'on-accent': text }
  return Object.entries(values)
    .map(([name, value]) => `  --${name}: ${value};\n`)
    .join('')
}
