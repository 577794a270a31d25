import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { projectOf } from '../../flows/manage-keys.ts'
import { limitBody, MAX_API_BODY_BYTES } from '../endpoint/body-limit.ts'
import type { SharedByEndpoints } from '../endpoint/endpoint.ts'
import { statusOf } from '../endpoint/errors.ts'
import { type ObservedRequest, routesOf } from '../endpoint/observed-request.ts'

const routeOf = routesOf('/v1/orgs/{org}/projects/{project}/{path}')
const PREFIX = /^\/v1\/orgs\/[^/]+\/projects\/([^/]+)(\/.*)$/

/**
 * `/v1/orgs/{org}/projects/{project}/…`, the paths that Arcade's frameworks use after a login. They mean `/v1/…` for a key
 * of that project, which is given by name or id. Gatepass has no organizations, so `{org}` may be anything.
 */
export function addOrganizationPaths(
  app: OpenAPIHono,
  broker: Broker,
  { authenticate, onAnswered }: Pick<Required<SharedByEndpoints>, 'authenticate' | 'onAnswered'>,
): void {
  async function forwarded(c: Context, request: ObservedRequest): Promise<Request> {
    const caller = await authenticate(c, 'readonly')
    request.caller = caller
    const url = new URL(c.req.url)
    const [, named = '', rest = ''] = PREFIX.exec(url.pathname) ?? []
    const own = await projectOf(broker, caller)
    const wanted = decoded(named)
    if (wanted !== own.name && wanted !== own.id)
      throw new BrokerError(
        'not_found',
        `This key does not belong to a project "${wanted.slice(0, 100)}". It belongs to "${own.name}".`,
      )
    // the prefix may not be repeated: each request would be forwarded again
    if (rest.startsWith('/orgs/')) throw new BrokerError('not_found', 'There is nothing at this path.')
    url.pathname = `/v1${rest}`
    const { method, headers, signal } = c.req.raw
    await limitBody(c, MAX_API_BODY_BYTES)
    const body = method === 'GET' || method === 'HEAD' ? undefined : await c.req.arrayBuffer()
    return new Request(url, { method, headers, signal, ...(body !== undefined && { body }) })
  }

  app.all('/v1/orgs/:org/projects/:project/*', async (c) => {
    const begun = performance.now()
    const request: ObservedRequest = { c, begun }
    const inner = await forwarded(c, request).catch((error: unknown) => {
      // a forwarded request is observed by its endpoint, a refused one only here
      onAnswered(routeOf(c.req.method), statusOf(c, error), performance.now() - begun, request)
      throw error
    })
    return app.fetch(inner, c.env)
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
