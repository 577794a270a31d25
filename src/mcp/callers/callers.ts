import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { SharedByEndpoints } from '../../http/endpoint/endpoint.ts'
import { errorResponse } from '../../http/endpoint/errors.ts'
import { whyNotServed } from '../../http/mcp-setup/is-served.ts'
import { type AuthenticateMcp, createAuthenticateMcp } from './authenticate.ts'
import { guardBrowsers } from './browsers.ts'
import { refusalResponse } from './refusal.ts'
import type { McpResource } from './resource.ts'
import { addResourceMetadata } from './resource-metadata.ts'
import type { OwnAuthorizationServer } from './token.ts'

/** Authenticates the callers of `/mcp`, and refuses others. */
export interface Callers {
  /** Also throws `not_implemented` if the settings do not permit `/mcp`. */
  readonly authenticate: AuthenticateMcp
  /** Returns the response for an error of a request to the resource. */
  refuse(c: Context, error: unknown, resource: McpResource): Response
}

/**
 * Adds the checks of requests by browsers, and the metadata of `/mcp`, to the app. Without Gatepass' own authorization
 * server, `/mcp` is not served.
 */
export function addCallers(
  app: OpenAPIHono,
  broker: Broker,
  { authenticate: authenticateKey, charge, log, onAnswered }: SharedByEndpoints,
  authorizationServer: OwnAuthorizationServer | undefined,
): Callers {
  const { settings } = broker
  for (const path of ['/mcp', '/mcp/:toolset']) app.use(path, guardBrowsers(settings))
  if (authorizationServer === undefined)
    return {
      async authenticate() {
        throw new BrokerError('not_implemented', whyNotServed(settings) ?? 'This server does not serve /mcp.')
      },
      refuse: (c, error) => errorResponse(c, error, log),
    }
  addResourceMetadata(app, settings, onAnswered)
  return {
    authenticate: createAuthenticateMcp(broker, { authenticateKey, charge, authorizationServer }),
    refuse: (c, error, resource) => refusalResponse(c, error, resource, log),
  }
}
