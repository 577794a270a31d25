import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { operations } from '../operations/operations.ts'
import { addAudit } from './admin/audit.ts'
import { addBranding } from './admin/branding.ts'
import { addMcpClients } from './admin/mcp-clients.ts'
import { addPolicies } from './admin/policies.ts'
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
import type { SessionLimits } from './connect/session-at.ts'
import { addArcadeVerifier } from './dialects/arcade-verifier.ts'
import { addOrganizationPaths } from './dialects/organization-paths.ts'
import { addOperation } from './endpoint/add-operation.ts'
import { authenticateOperator, createAuthenticate, type Operator } from './endpoint/authenticate.ts'
import { createAddEndpoint, type SharedByEndpoints } from './endpoint/endpoint.ts'
import { errorResponse } from './endpoint/errors.ts'
import { createExecuteByKey } from './endpoint/idempotency-key.ts'
import { createNotFound } from './endpoint/not-found.ts'
import { createObserver, type Observer } from './endpoint/observe.ts'
import { createCharge, createCountGuess } from './endpoint/rate-limit.ts'
import { addDiagnosis, type Diagnose } from './operation/diagnosis.ts'
import { addHealth } from './operation/health.ts'
import { addMetrics, type MetricsOptions } from './operation/metrics.ts'
import { addPortalLinks } from './portal/portal-links.ts'
import { addProxy } from './proxy/proxy.ts'
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

export interface ApiOptions {
  readonly version: string
  readonly metrics?: Omit<MetricsOptions, 'version'>
  /** Set for an app that a command calls in its own process and never serves: its requests need no key. */
  readonly operator?: Operator
  readonly diagnose?: Diagnose
}

export interface Api {
  readonly app: OpenAPIHono
  readonly observer: Observer
  readonly shared: SharedByEndpoints
  readonly sessions: SessionLimits
}

/**
 * Builds an app with the endpoints of the API: each `add…` function adds the endpoints of one kind of resource.
 * `app.ts` adds the pages. CLI commands that open the database themselves use the API alone, because the modules of
 * the pages are a third of the code to load. `refuse` makes the response of an error.
 */
export function createApi(
  broker: Broker,
  { version, metrics, operator, diagnose }: ApiOptions,
  refuse = (c: Context, error: unknown): Response | Promise<Response> => errorResponse(c, error, broker.log),
): Api {
  const app = new OpenAPIHono({ router: createRouter() })
  const notFound = createNotFound(app)
  const refuseRouted = (c: Context, error: unknown) =>
    refuse(
      c,
      error instanceof BrokerError && error.code === 'not_found' ? notFound.noResource(c, error) : error,
    )
  app.onError((error, c) => refuseRouted(c, error))
  const observer = createObserver(broker)
  app.notFound(async (c) => {
    const response = await refuse(c, notFound.noRoute(c))
    observer.unknown(c, response.status)
    return response
  })

  const authenticate = operator ? authenticateOperator(operator) : createAuthenticate(broker)
  const charge = createCharge(operator ? 0 : broker.settings.requestsPerSecond)
  const executeByKey = createExecuteByKey(broker, refuseRouted)
  const { log, tracing } = broker
  const { onAnswered } = observer
  const shared = { authenticate, charge, executeByKey, operator, log, tracing, onAnswered }
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
  for (const operation of operations) addOperation(add, broker, operation)
  addBranding(add, broker) //         /v1/admin/projects/{id}/branding
  addArcadeVerifier(add, broker) //   /v1/admin/settings/session_verification, /v1/auth/validate_custom_verifier
  addOrganizationPaths(app, broker, { authenticate, onAnswered }) // /v1/orgs/{org}/projects/{project}/…
  addAudit(add, broker) //            /v1/admin/audit
  if (diagnose !== undefined) addDiagnosis(add, diagnose) // /v1/admin/diagnosis
  addPolicies(add, broker) //         /v1/admin/policies
  addWebhooks(add, broker) //         /v1/webhooks
  addProxy(app, broker, shared) //   /proxy/{provider}/{path}
  addHealth(add, broker) //           /health, /v1/health, /oxp/health, /ready
  addMetrics(add, broker, { access: 'key', ...metrics, version }) // /metrics
  return { app, observer, shared, sessions }
}
