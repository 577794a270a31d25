import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import type { Broker } from '../broker.ts'
import { loadFeatures } from '../features/load-features.ts'
import { type ApiOptions, createApi } from './api.ts'
import { addConnect } from './connect/connect.ts'
import { addInstall } from './connect/install.ts'
import { addLogin } from './connect/login.ts'
import { addClientMetadata } from './connect/own-client-metadata.ts'
import { addSessionLogin } from './connect/session-login.ts'
import { addConsole } from './console/console.ts'
import type { ShownSetting } from './console/installation-pages.ts'
import type { PrintedLinks } from './console/login.ts'
import type { Sandbox } from './console/tour.ts'
import { bodyLimit } from './endpoint/body-limit.ts'
import type { SharedByEndpoints } from './endpoint/endpoint.ts'
import { errorResponse, isCutOff, toRefusal } from './endpoint/errors.ts'
import { addMcpSetup } from './mcp-setup/mcp-setup.ts'
import { assets } from './pages/assets.ts'
import { errorPage, wantsPage } from './pages/error-page.ts'
import { addProviderLogos } from './pages/logo-assets.ts'
import { addReference } from './reference/reference.ts'

const routesOfFeatures = await loadFeatures('routes')

const MAX_PAGE_BODY_BYTES = 64 * 1024
/**
 * The routes outside the API: pages, their assets, and the endpoints for OAuth clients. `createApp` counts and logs
 * their requests. API endpoints count and log their own.
 */
const PAGES = [
  '/',
  '/connect/*',
  '/callback/*',
  '/install/*',
  '/login/*',
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
  '/authorize',
  '/authorize/*',
  '/consent/*',
  '/token',
  '/register',
  '/revoke',
  '/jwks',
  '/oauth/*',
  '/dashboard',
  '/dashboard/*',
  '/docs',
  '/docs/*',
  '/openapi.json',
  '/schemas/provider.json',
  '/assets/*',
  '/sandbox/*',
  ...routesOfFeatures.flatMap(({ paths }) => paths),
]

/** The paths that are served at the sites of projects too: the pages of users, their assets, and the health check. */
export const USERS_PATHS: readonly string[] = [
  '/connect/*',
  '/callback/*',
  '/install/*',
  '/login/callback',
  '/assets/*',
  '/health',
  ...routesOfFeatures.flatMap(({ usersPaths = [] }) => usersPaths),
]

export interface AppOptions extends Omit<ApiOptions, 'operator'> {
  /** Development only: mounted under `/sandbox`. */
  readonly sandbox?: Hono
  /** Only `gatepass dev`: links that log the developer in to the console. */
  readonly links?: PrintedLinks | undefined
  /** Development: what the tour of the console shows. */
  readonly tour?: Sandbox | undefined
  /** What the console shows of the settings. */
  readonly settings?: readonly ShownSetting[]
  /** Adds `/mcp`. */
  readonly mountMcp?: (app: OpenAPIHono, shared: SharedByEndpoints) => void
}

/** Builds the app that is served: the endpoints of the API, and the pages. */
export function createApp(broker: Broker, options: AppOptions): OpenAPIHono {
  const { version, sandbox, links, tour, diagnose, settings, mountMcp } = options
  const { app, observer, shared, limits } = createApi(broker, options, (c, error) =>
    wantsPage(c) && !isCutOff(c, error)
      ? errorPage(c, toRefusal(error, c.req.path, broker.log))
      : errorResponse(c, error, broker.log),
  )
  for (const route of PAGES) app.use(route, observer.page(route))
  for (const path of ['/connect/*', '/callback/*', '/install/*', '/login/*', '/sandbox/*'])
    app.use(path, bodyLimit(MAX_PAGE_BODY_BYTES))

  mountMcp?.(app, shared) //          /mcp, /mcp/{toolset}
  const parts = routesOfFeatures.flatMap(({ ownPage }) => ownPage ?? [])
  for (const { add } of routesOfFeatures) add(app, broker, limits, parts)
  addInstall(app, broker) //          /install/{provider entry}
  addConnect(app, broker) //          /connect/{id}, /callback/{provider entry}
  addClientMetadata(app, broker) //   /oauth/client/{provider entry}
  addLogin(app, broker, routesOfFeatures.find(({ beginSession }) => beginSession)?.beginSession) // /login/callback
  addSessionLogin(app, broker) //     /login/confirmed, /login/open
  addConsole(app, broker, { diagnose, settings, links, tour }) // /dashboard
  addMcpSetup(app, broker) //         /docs/mcp
  addReference(app, broker, { version, development: sandbox !== undefined, beginsAt: links && '/dashboard' }) // /, /docs, /openapi.json, /schemas/provider.json
  addProviderLogos(app) //            /assets/logo
  app.route('/', assets()) //               /assets
  if (sandbox !== undefined) app.route('/sandbox', sandbox)
  return app
}
