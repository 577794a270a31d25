import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context, Hono } from 'hono'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { addAudit } from './admin/audit.ts'
import { addBranding } from './admin/branding.ts'
import { addKeys } from './admin/keys.ts'
import { addMcpClients } from './admin/mcp-clients.ts'
import { addPolicies } from './admin/policies.ts'
import { addProjects } from './admin/projects.ts'
import { addSecrets } from './admin/secrets.ts'
import { addWebhooks } from './admin/webhooks.ts'
import { addAuthProviders } from './auth-providers/auth-providers.ts'
import { addProviderCatalogue } from './auth-providers/provider-catalogue.ts'
import { addAuthorizations } from './authorizations/authorizations.ts'
import { addConnectSessions } from './authorizations/connect-sessions.ts'
import { addConnections } from './authorizations/connections.ts'
import { addCurrentSession } from './authorizations/current-session.ts'
import { addExplain } from './authorizations/explain.ts'
import { addConnectionImport } from './authorizations/import-connections.ts'
import { addUserConnections } from './authorizations/user-connections.ts'
import { addClientMetadata } from './connect/client-metadata.ts'
import { addConnect } from './connect/connect.ts'
import { addLogin } from './connect/login.ts'
import { addOpenSession } from './connect/open-session.ts'
import { addSessionLogin } from './connect/session-login.ts'
import { addConsole } from './console/console.ts'
import type { ShownSetting } from './console/operation-pages.ts'
import { addArcadeVerifier } from './dialects/arcade-verifier.ts'
import { addOrganizationPaths } from './dialects/organization-paths.ts'
import { authenticateOperator, createAuthenticate, type Operator } from './endpoint/authenticate.ts'
import { bodyLimit } from './endpoint/body-limit.ts'
import { createAddEndpoint, type SharedByEndpoints } from './endpoint/endpoint.ts'
import { errorResponse, isCutOff, toRefusal } from './endpoint/errors.ts'
import { idempotent } from './endpoint/idempotency-key.ts'
import { createNotFound } from './endpoint/not-found.ts'
import { createObserver } from './endpoint/observe.ts'
import { createCharge, createCountGuess } from './endpoint/rate-limit.ts'
import { addMcpSetup } from './mcp-setup/mcp-setup.ts'
import { addDiagnosis, type Diagnose } from './operation/diagnosis.ts'
import { addHealth } from './operation/health.ts'
import { addMetrics, type MetricsOptions } from './operation/metrics.ts'
import { addProvedDomain } from './operation/proved-domain.ts'
import { assets } from './pages/assets.ts'
import { addBrandAssets } from './pages/brand-assets.ts'
import { addEmbed } from './pages/embed.ts'
import { errorPage, wantsPage } from './pages/error-page.ts'
import { addMe } from './portal/me.ts'
import { addPortalLinks } from './portal/portal-links.ts'
import { addProxy } from './proxy/proxy.ts'
import { addReference } from './reference/reference.ts'
import { createRouter } from './server/router.ts'
import { addCatalogue } from './tools/catalogue.ts'
import { addCode } from './tools/code.ts'
import { addExecutions } from './tools/executions.ts'
import { addOxp } from './tools/oxp.ts'
import { addRuns } from './tools/runs.ts'
import { addTools } from './tools/tools.ts'
import { addToolsets } from './tools/toolsets.ts'
import { addWorkerAuthorization } from './workers/worker-authorization.ts'
import { addWorkerTest } from './workers/worker-test.ts'
import { addWorkers } from './workers/workers.ts'

const MAX_PAGE_BODY_BYTES = 64 * 1024
/** The routes of pages. `createApp` observes them; API endpoints are observed where they are added. */
const PAGES = [
  '/',
  '/connect/*',
  '/callback/*',
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
  '/me',
  '/me/*',
  '/oauth/*',
  '/dashboard',
  '/dashboard/*',
  '/docs',
  '/docs/*',
  '/openapi.json',
  '/schemas/provider.json',
  '/assets/*',
  '/embed/*',
  '/domains/proved',
  '/sandbox/*',
]

export interface AppOptions {
  readonly version: string
  /** Development only: mounted under `/sandbox`. */
  readonly sandbox?: Hono
  readonly metrics?: Omit<MetricsOptions, 'version'>
  /** Set for an app that a command calls in its own process and never serves: its requests need no key. */
  readonly operator?: Operator
  readonly diagnose?: Diagnose
  /** What the console shows of the settings. */
  readonly settings?: readonly ShownSetting[]
  /** Adds `/mcp`. */
  readonly mountMcp?: (app: OpenAPIHono, shared: SharedByEndpoints) => void
}

/** Builds the app with all its routes. Each `add…` function adds the endpoints of one noun. */
export function createApp(
  broker: Broker,
  { version, sandbox, metrics, operator, diagnose, settings, mountMcp }: AppOptions,
): OpenAPIHono {
  const app = new OpenAPIHono({ router: createRouter() })
  const refuse = (c: Context, error: unknown) =>
    wantsPage(c) && !isCutOff(c, error)
      ? errorPage(c, toRefusal(error, c.req.path, broker.log))
      : errorResponse(c, error, broker.log)
  const notFound = createNotFound(app)
  app.onError((error, c) =>
    refuse(
      c,
      error instanceof BrokerError && error.code === 'not_found' ? notFound.noResource(c, error) : error,
    ),
  )
  const observer = createObserver(broker)
  app.notFound(async (c) => {
    const response = await refuse(c, notFound.noRoute(c))
    observer.unknown(c, response.status)
    return response
  })
  for (const route of PAGES) app.use(route, observer.page(route))
  for (const path of ['/connect/*', '/callback/*', '/login/*', '/sandbox/*'])
    app.use(path, bodyLimit(MAX_PAGE_BODY_BYTES))

  const authenticate = operator ? authenticateOperator(operator) : createAuthenticate(broker)
  const charge = createCharge(operator ? 0 : broker.settings.requestsPerSecond)
  for (const path of [
    '/v1/tools/execute',
    '/v1/tools/run',
    '/v1/tools/run_chain',
    '/v1/code/execute',
    '/v1/workers',
    '/v1/admin/auth_providers',
    '/v1/admin/policies',
    '/v1/toolsets',
  ])
    app.post(path, idempotent(broker, authenticate, charge))

  const { log, tracing } = broker
  const shared = { authenticate, charge, operator, log, tracing, onAnswered: observer.onAnswered }
  const add = createAddEndpoint(app, shared)
  addAuthorizations(add, broker) //   /v1/auth/authorize, /status, /{id}/events, /confirm_user
  const sessions = { charge, countGuess: createCountGuess() }
  addConnectSessions(add, broker) //  /v1/connect_sessions
  addCurrentSession(app, add, broker, sessions) // /v1/connect_sessions/current, /events, /cancel, /restart
  addConnections(add, broker) //      /v1/connections
  addExplain(add, broker) //          /v1/auth/{id}/explain, /v1/connections/{id}/explain
  addCatalogue(add, broker) //        /v1/tools, /v1/formatted_tools, /v1/tools/requirements
  addTools(add, broker) //            /v1/tools/authorize, /execute, /import, /{name}/binding
  addToolsets(add, broker) //         /v1/toolsets
  addRuns(add, broker) //             /v1/tools/run, /run_stream, /run_chain
  addCode(add, broker) //             /v1/code/execute
  addExecutions(add, broker) //       /v1/executions, /v1/scheduled_tools
  addOxp(add, broker) //              /oxp/tools, /oxp/tools/call
  addWorkers(add, broker) //          /v1/workers
  addWorkerTest(add, broker) //       /v1/workers/test
  addWorkerAuthorization(add, broker) // /v1/workers/{id}/authorize
  addAuthProviders(add, broker) //    /v1/admin/auth_providers
  addProviderCatalogue(add, broker) // /v1/admin/provider_catalogue
  addUserConnections(add, broker) //  /v1/admin/user_connections
  addConnectionImport(add, broker) // /v1/admin/user_connections/import
  addPortalLinks(add, broker) //      /v1/users/{user_id}/portal
  addMcpClients(add, broker) //       /v1/admin/mcp_clients
  addSecrets(add, broker) //          /v1/admin/secrets
  addKeys(add, broker) //             /v1/admin/keys
  addProjects(add, broker) //         /v1/admin/projects
  addBranding(add, broker) //         /v1/admin/projects/{id}/branding
  addArcadeVerifier(add, broker) //   /v1/admin/settings/session_verification, /v1/auth/validate_custom_verifier
  addOrganizationPaths(app, broker, authenticate) // /v1/orgs/{org}/projects/{project}/…
  addAudit(add, broker) //            /v1/admin/audit
  if (diagnose !== undefined) addDiagnosis(add, diagnose) // /v1/admin/diagnosis
  addPolicies(add, broker) //         /v1/admin/policies
  addWebhooks(add, broker) //         /v1/webhooks
  addProxy(app, broker, shared) //   /proxy/{provider}/{path}
  mountMcp?.(app, shared) //          /mcp, /mcp/{toolset}
  addHealth(add, broker) //           /health, /v1/health, /oxp/health, /ready
  addProvedDomain(app, broker) //     /domains/proved
  addMetrics(add, broker, { access: 'key', ...metrics, version }) // /metrics
  addOpenSession(app, broker, sessions) // /connect/session
  addConnect(app, broker) //          /connect/{id}, /callback/{provider entry}
  addClientMetadata(app, broker) //   /oauth/client/{provider entry}
  addLogin(app, broker) //            /login/callback
  addSessionLogin(app, broker) //     /login/confirmed, /login/open
  addConsole(app, broker, { diagnose, settings }) // /dashboard
  addMe(app, broker) //               /me
  addMcpSetup(app, broker) //         /docs/mcp
  addReference(app, broker, { version, development: sandbox !== undefined }) // /, /docs, /openapi.json, /schemas/provider.json
  addEmbed(app) //                    /embed/v1.js
  addBrandAssets(app, broker) //      /assets/brand, /assets/logo
  app.route('/', assets()) //               /assets
  if (sandbox !== undefined) app.route('/sandbox', sandbox)
  return app
}
