import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../broker.ts'
import { pageHeaders } from './page-response.ts'
import { docsPage, type OpenApiDocument } from './pages/docs-page.ts'
import { landingPage } from './pages/landing-page.ts'

/** What describes the rest: the landing page, and the API as a document and as a page, both made from the routes. */
export function addReference(
  app: OpenAPIHono,
  broker: Broker,
  { version, development }: { readonly version: string; readonly development: boolean },
): void {
  const publicUrl = broker.settings.publicUrl.origin
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of `gatepass keys create`',
  })
  let made: object | undefined
  // made at the first request for it: by then every route has been added
  const openApi = () => {
    made ??= app.getOpenAPI31Document({
      openapi: '3.1.0',
      info: { title: 'Gatepass', version, description: 'An OAuth authorization broker for tools.' },
      servers: [{ url: publicUrl }],
    })
    return made
  }

  app.get('/openapi.json', (c) => c.json(openApi()))
  app.get('/docs', (c) => {
    pageHeaders(c)
    // the registry's own types are wider than what its generator makes
    return c.html(docsPage(openApi() as OpenApiDocument))
  })
  app.get('/', (c) => {
    pageHeaders(c)
    return c.html(
      landingPage({
        version,
        development,
        publicUrl,
        ...(development && { sandbox: { toolName: 'Sandbox Profile' } }),
      }),
    )
  })
}
