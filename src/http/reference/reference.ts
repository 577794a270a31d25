import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { definitionJsonSchema } from '../../providers/definition/json-schema.ts'
import { landingPage } from '../pages/landing-page.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { wordsFor } from '../pages/texts/language-of.ts'
import { closeRequestBodies } from './closed-request-bodies.ts'
import { compressDocument, sendDocument } from './compressed-document.ts'
import { docsPages } from './docs-page.ts'
import { hrefOf, type OpenApiDocument } from './document.ts'
import { readExamples } from './example.ts'
import { GROUPS } from './groups.ts'
import { addJsonSchema } from './json-schema-document.ts'
import { simplifyReferences } from './plain-references.ts'

const PROVIDER_SCHEMA = '/schemas/provider.json'

/**
 * Adds the landing page, the JSON Schema of provider definitions, and the API reference, whose OpenAPI document and
 * pages are generated from the routes.
 */
export function addReference(
  app: OpenAPIHono,
  broker: Broker,
  {
    version,
    development,
    beginsAt,
  }: {
    readonly version: string
    readonly development: boolean
    /** Where `/` leads in place of the landing page. */
    readonly beginsAt?: string | undefined
  },
): void {
  const publicUrl = broker.settings.publicUrl.origin
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of `gatepass keys create`',
  })
  app.openAPIRegistry.registerComponent('securitySchemes', 'connectSession', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of a connect session, from POST /v1/connect_sessions',
  })
  const usedGroups = () => {
    const used = new Set(
      app.openAPIRegistry.definitions.flatMap((one) => (one.type === 'route' ? (one.route.tags ?? []) : [])),
    )
    return GROUPS.filter(({ name }) => used.has(name))
  }
  let made: object | undefined
  // generated at the first request, when all routes have been added
  const openApi = () => {
    const info = { title: 'Gatepass', version, description: 'An OAuth authorization broker for tools.' }
    made ??= closeRequestBodies(
      simplifyReferences(
        app.getOpenAPI31Document({
          openapi: '3.1.0',
          info,
          servers: [{ url: publicUrl }],
          tags: usedGroups(),
        }),
      ),
    )
    return made
  }

  const document = once(() => compressDocument('application/json', JSON.stringify(openApi())))
  const pages = once(async () => {
    // the declared type of the document is wider than what the generator makes
    const html = docsPages(openApi() as OpenApiDocument, { development, examples: readExamples() })
    const compressed = [...html].map(async ([path, page]) => {
      const text = String(await page)
      return [path, await compressDocument('text/html; charset=UTF-8', text)] as const
    })
    return new Map(await Promise.all(compressed))
  })
  app.get('/openapi.json', async (c) => sendDocument(c, await document()))
  addJsonSchema(app, PROVIDER_SCHEMA, () => definitionJsonSchema(`${publicUrl}${PROVIDER_SCHEMA}`))
  for (const path of ['/docs', '/docs/schemas', ...GROUPS.map(({ name }) => hrefOf(name))])
    app.get(path, async (c) => {
      const page = (await pages()).get(path)
      if (page === undefined) return c.notFound()
      pageHeaders(c, { script: development ? 'runs and sends requests' : 'runs' })
      return sendDocument(c, page)
    })
  app.get('/', (c) => {
    pageHeaders(c)
    if (beginsAt !== undefined) return c.redirect(beginsAt, 303)
    return c.html(
      landingPage({
        version,
        development,
        publicUrl,
        words: wordsFor(c),
        console: broker.settings.dashboard.serve === 'on',
        ownPage: broker.ownPage('')?.pathname, // at the public URL
      }),
    )
  })
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}
