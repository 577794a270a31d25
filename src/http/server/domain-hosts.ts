import { Hono } from 'hono'
import type { Broker } from '../../broker.ts'
import { hostNameOf } from '../../domain/domain-name.ts'
import { linkNotFound } from '../connect/show-authorization.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import type { Fetch } from './call-log.ts'

/**
 * The paths that are served at the domain of a project: the pages of its users, their images and scripts, the
 * endpoints of connect sessions that an embedding page calls, and the health check. All others are served at the
 * public URL only.
 */
const SERVED =
  /^\/(?:connect\/.*|callback\/.*|login\/callback|me|me\/.*|assets\/.*|embed\/.*|v1\/connect_sessions\/current(?:\/.*)?|health)$/

/** Serves only the paths of `SERVED` at the proved domain of a project. Requests to other hosts go to `fetch`. */
export function atOwnDomains<Env extends object>(
  fetch: Fetch<Env>,
  broker: Pick<Broker, 'domains' | 'settings'>,
): Fetch<Env> {
  const { domains, settings } = broker
  const unserved = new Hono()
    .get('/', (c) => {
      pageHeaders(c)
      return c.redirect('/me', 303)
    })
    .all('*', (c) => {
      if (c.req.header('accept')?.includes('text/html') === true) return linkNotFound(c)
      const message = `Only the pages of users are served at this host. The API is at ${settings.publicUrl.origin}.`
      return c.json({ name: 'not_found', message }, 404)
    })

  const hostOf = (request: Request) => hostNameOf(request.headers.get('host') ?? '')

  async function afterChanges(request: Request, env: Env, changes: Promise<void>): Promise<Response> {
    await changes.catch(() => {}) // if the database is unavailable, the domains that were read last are used
    return serve(request, env)
  }

  function serve(request: Request, env: Env): Response | Promise<Response> {
    if (domains.projectAt(hostOf(request)) === undefined) return fetch(request, env)
    return SERVED.test(new URL(request.url).pathname) ? fetch(request, env) : unserved.fetch(request, env)
  }

  return (request, env) => {
    // the API and the liveness probe do not wait for the database, which may be slow
    if (domains.size === 0 || hostOf(request) === settings.publicUrl.hostname) return fetch(request, env)
    if (new URL(request.url).pathname === '/health') return fetch(request, env)
    const changes = domains.settled()
    return changes === undefined ? serve(request, env) : afterChanges(request, env, changes)
  }
}
