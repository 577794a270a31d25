import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Context, Hono } from 'hono'
import { consoleCss } from '../console/console-css.ts'
import { liveScript } from '../console/live-script.ts'
import { pagesCss } from '../console/pages-css.ts'
import { docsScript } from '../reference/docs-script.ts'
import { closeScript } from './close-script.ts'
import { gatepassCss } from './gatepass-css.ts'
import { gatepassIcon } from './gatepass-icon.ts'
import { portalCss } from './portal/portal-css.ts'

interface Asset {
  readonly type: string
  readonly text: string
  /** A digest of the content. It is part of the URL, so that browsers may cache each version for ever. */
  readonly version: string
}

const picoPath = createRequire(import.meta.url).resolve('@picocss/pico/css/pico.classless.min.css')

const ASSETS = {
  'pico.css': asset('text/css; charset=utf-8', readFileSync(picoPath, 'utf8')),
  'console.css': asset('text/css; charset=utf-8', consoleCss + pagesCss),
  'console.js': asset('text/javascript; charset=utf-8', liveScript),
  'gatepass.css': asset('text/css; charset=utf-8', gatepassCss + portalCss),
  'docs.js': asset('text/javascript; charset=utf-8', docsScript),
  'close.js': asset('text/javascript; charset=utf-8', closeScript),
  'icon.svg': asset('image/svg+xml', gatepassIcon),
} as const satisfies Record<string, Asset>

const FOR_EVER = 'public, max-age=31536000, immutable'

/** The URL of the asset in a page. */
export function assetHref(name: keyof typeof ASSETS): string {
  return `/assets/${name}?v=${ASSETS[name].version}`
}

/** Serves the assets of all pages, which load nothing from other hosts. The app is mounted at `/`. */
export function assets(): Hono {
  const app = new Hono()
  for (const [name, { type, text, version }] of Object.entries(ASSETS)) {
    app.get(`/assets/${name}`, (c) => {
      assetHeaders(c, type)
      if (c.req.query('v') !== version) c.header('cache-control', 'no-cache')
      return c.body(text)
    })
  }
  return app
}

function asset(type: string, text: string): Asset {
  return { type, text, version: createHash('sha256').update(text).digest('hex').slice(0, 12) }
}

/** Sets the headers of an asset whose URL has a digest of its content, so that browsers may cache it for ever. */
export function assetHeaders(c: Context, type: string): void {
  c.header('content-type', type)
  c.header('x-content-type-options', 'nosniff')
  c.header('cross-origin-resource-policy', 'same-origin')
  c.header('cache-control', FOR_EVER)
}
