import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Context, type Handler, Hono } from 'hono'
import { liveScript } from '../console/live-script.ts'
import { docsScript } from '../reference/docs-script.ts'
import { closeScript } from './close-script.ts'
import { deviceScript } from './device-script.ts'
import { gatepassIcon } from './gatepass-icon.ts'

interface Asset {
  readonly type: string
  readonly text: string
  /** A digest of the content. It is part of the URL, so that browsers may cache each version for ever. */
  readonly version: string
}

const ASSETS = {
  'console.css': style('./tokens.css', './base.css', '../console/console.css', '../console/pages.css'),
  'console.js': asset('text/javascript; charset=utf-8', liveScript),
  'gatepass.css': style('./tokens.css', './base.css', './gatepass.css'),
  'docs.js': asset('text/javascript; charset=utf-8', docsScript),
  'device.js': asset('text/javascript; charset=utf-8', deviceScript),
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
  for (const [name, asset] of Object.entries(ASSETS)) app.get(`/assets/${name}`, serve(asset))
  return app
}

function serve({ type, text, version }: Asset): Handler {
  return (c) => {
    assetHeaders(c, type)
    if (c.req.query('v') !== version) c.header('cache-control', 'no-cache')
    return c.body(text)
  }
}

/** The stylesheet of a feature: its path, its URL in pages, and what serves it. */
export function ownStyle(name: string, file: URL) {
  const asset = style(file)
  const path = `/assets/${name}`
  return { path, href: `${path}?v=${asset.version}`, serve: serve(asset) }
}

/** The stylesheets of these files, one after the other. `build/main.ts` copies them beside the program. */
function style(...files: readonly (string | URL)[]): Asset {
  const texts = files.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  return asset('text/css; charset=utf-8', texts.join(''))
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
