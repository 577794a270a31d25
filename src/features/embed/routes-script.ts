import { createHash } from 'node:crypto'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { embedScript } from './generated/embed-script.ts'

/** Pages load the script by this name. A change that breaks them gets another version in the name. */
const EMBED_PATH = '/embed/v1.js'
const MAX_AGE_SECONDS = 3600

/** Serves the script of applications' pages, which any site may load, because it contains nothing about a user. */
export function addEmbedScript(app: OpenAPIHono): void {
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
