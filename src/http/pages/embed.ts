import { createHash } from 'node:crypto'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { embedScript } from './embed-script.ts'

/** Pages load it by this name for as long as its functions and its element stay as they are. */
const EMBED_PATH = '/embed/v1.js'
const MAX_AGE_SECONDS = 3600

/** Serves the script of applications' pages, which any site may load: it has nothing of a user's. */
export function addEmbed(app: OpenAPIHono): void {
  const etag = `"${createHash('sha256').update(embedScript).digest('hex').slice(0, 16)}"`
  app.get(EMBED_PATH, (c) => {
    c.header('access-control-allow-origin', '*')
    c.header('cross-origin-resource-policy', 'cross-origin')
    c.header('x-content-type-options', 'nosniff')
    c.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
    c.header('etag', etag)
    if (c.req.header('if-none-match') === etag) return c.body(null, 304)
    return c.body(embedScript, 200, { 'content-type': 'text/javascript; charset=utf-8' })
  })
}
