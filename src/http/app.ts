import { OpenAPIHono } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { assets } from './assets.ts'
import { addAuthProviders } from './auth-providers.ts'
import { createAuthenticate } from './authenticate.ts'
import { addAuthorizations } from './authorizations.ts'
import { bodyLimit } from './body-limit.ts'
import { addConnect } from './connect.ts'
import { addConnections } from './connections.ts'
import { endpoints } from './endpoint.ts'
import { errorResponse } from './errors.ts'
import { addHealth } from './health.ts'
import { idempotent } from './idempotency.ts'
import { addReference } from './reference.ts'
import { addSecrets } from './secrets.ts'
import { addTools } from './tools.ts'
import { addUserConnections } from './user-connections.ts'
import { addWorkers } from './workers.ts'

const MAX_PAGE_BODY_BYTES = 64 * 1024

export interface AppOptions {
  readonly version: string
  /** Development only: mounted under `/sandbox`. */
  readonly sandbox?: Hono
}

/** Everything that is served. Each `add…` is one noun's endpoints; its file has the paths. */
export function createApp(broker: Broker, { version, sandbox }: AppOptions): OpenAPIHono {
  const app = new OpenAPIHono()
  app.onError((error, c) => errorResponse(c, error, broker.log))
  app.notFound((c) => {
    const message = `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}. GET /docs describes what there is.`
    return errorResponse(c, new BrokerError('not_found', message), broker.log)
  })
  for (const path of ['/connect/*', '/sandbox/*']) app.use(path, bodyLimit(MAX_PAGE_BODY_BYTES))

  const authenticate = createAuthenticate(broker)
  for (const path of ['/v1/tools/execute', '/v1/workers', '/v1/admin/auth_providers'])
    app.post(path, idempotent(authenticate))

  const add = endpoints(app, authenticate)
  addAuthorizations(add, broker) //   /v1/auth/authorize, /status, /{id}/events, /confirm_user
  addConnections(add, broker) //      /v1/connections
  addTools(add, broker) //            /v1/tools, /v1/formatted_tools
  addWorkers(add, broker) //          /v1/workers
  addAuthProviders(add, broker) //    /v1/admin/auth_providers
  addUserConnections(add, broker) //  /v1/admin/user_connections
  addSecrets(add, broker) //          /v1/admin/secrets
  addHealth(add, broker) //           /health, /v1/health, /ready
  addConnect(app, broker) //          /connect/{id}, /callback/{provider entry}
  addReference(app, broker, { version, development: sandbox !== undefined }) // /, /docs, /openapi.json
  app.route('/', assets()) //               /assets
  if (sandbox !== undefined) app.route('/sandbox', sandbox)
  return app
}
