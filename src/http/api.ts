import { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { loadFeatures } from '../features/load-features.ts'
import { createGetDiagnosis, type Diagnose } from '../operations/installation/diagnosis.ts'
import { readinessOf } from '../operations/installation/health.ts'
import { addGauges, createGetMetrics, type MetricsOptions } from '../operations/installation/metrics.ts'
import { operations } from '../operations/operations.ts'
import { knowOperations } from '../operations/perform-operation.ts'
import { addOperation } from './endpoint/add-operation.ts'
import { authenticateOperator, createAuthenticate, type Operator } from './endpoint/authenticate.ts'
import { createAddEndpoint, type SharedByEndpoints } from './endpoint/endpoint.ts'
import { errorResponse } from './endpoint/errors.ts'
import { createExecuteByKey } from './endpoint/idempotency-key.ts'
import { createNotFound } from './endpoint/not-found.ts'
import { createObserver, type Observer } from './endpoint/observe.ts'
import { createCharge, createCountGuess, type RequestLimits } from './endpoint/rate-limit.ts'
import { addProxy } from './proxy/proxy.ts'
import { addOrganizationPaths } from './server/organization-paths.ts'
import { createRouter } from './server/router.ts'

export interface ApiOptions {
  readonly version: string
  readonly metrics?: MetricsOptions
  /** Set for an app that a command calls in its own process and never serves: its requests need no key. */
  readonly operator?: Operator
  readonly diagnose?: Diagnose
}

export interface Api {
  readonly app: OpenAPIHono
  readonly observer: Observer
  readonly shared: SharedByEndpoints
  readonly limits: RequestLimits
}

const endpointsOfFeatures = await loadFeatures('endpoints')
const metricsOfFeatures = await loadFeatures('metrics')

/**
 * Builds an app with the endpoints of the API, made of the operations.
 * `app.ts` adds the pages. CLI commands that open the database themselves use the API alone, because the modules of
 * the pages are a third of the code to load. `refuse` makes the response of an error.
 */
export function createApi(
  broker: Broker,
  { version, metrics = { access: 'key' }, operator, diagnose }: ApiOptions,
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
  const limits = { charge, countGuess: createCountGuess() }
  addGauges(broker, version)
  readinessOf(broker) // registers its metric
  for (const register of metricsOfFeatures) register(broker)
  knowOperations(broker, operations)
  for (const operation of operations) addOperation(add, broker, operation)
  if (metrics.access !== 'off') addOperation(add, broker, createGetMetrics(metrics))
  if (diagnose !== undefined) addOperation(add, broker, createGetDiagnosis(diagnose))
  for (const addTo of endpointsOfFeatures) addTo({ app, add, broker, limits })
  addOrganizationPaths(app, broker, { authenticate, onAnswered })
  addProxy(app, broker, shared)
  return { app, observer, shared, limits }
}
