import type { OpenAPIHono } from '@hono/zod-openapi'
import { type CompressedDocument, compressDocument, sendDocument } from './compressed-document.ts'

/** Serves a JSON Schema for editors, which read it from other origins. It is made at the first request. */
export function addJsonSchema(app: OpenAPIHono, path: `/schemas/${string}.json`, make: () => object): void {
  let document: Promise<CompressedDocument> | undefined
  app.get(path, async (c) => {
    document ??= compressDocument('application/schema+json', JSON.stringify(make(), null, 2))
    c.header('access-control-allow-origin', '*')
    return sendDocument(c, await document)
  })
}
