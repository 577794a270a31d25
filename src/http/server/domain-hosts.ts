import { Hono } from 'hono'
import type { Broker } from '../../broker.ts'
import { hostNameOf } from '../../domain/domain-name.ts'
import { linkNotFound } from '../connect/show-authorization.ts'
import { pageHeaders } from '../pages/page-headers.ts'

type Fetch<Env> = (request: Request, env: Env) => Response | Promise<Response>

/**
 * What is served at the domain of a project: the pages of its users, their images and scripts, what the script of an
 * embedding page asks with its session's token, and the health check. Everything else is at the public URL alone.
 */
const SERVED =
  /^\/(?:connect\/.*|callback\/.*|login\/callback|me|me\/.*|assets\/.*|embed\/.*|v1\/connect_sessions\/current(?:\/.*)?|health)$/

/** Serves the users' part alone at proved domains. Requests to other hosts pass, without a step in between. */
export function atOwnDomains<Env extends object>(
  fetch: Fetch<Env>,
  broker: Pick<Broker, 'domains' | 'settings'>,
): Fetch<Env> {
  const { domains, settings } = broker
  const rest = new Hono()
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
    await changes.catch(() => {}) // without its database it serves by what it has read before
    return serve(request, env)
  }

  function serve(request: Request, env: Env): Response | Promise<Response> {
    if (domains.projectAt(hostOf(request)) === undefined) return fetch(request, env)
    return SERVED.test(new URL(request.url).pathname) ? fetch(request, env) : rest.fetch(request, env)
  }

  return (request, env) => {
    // these know without the database, which may be a while in answering: the API, and what asks whether this process lives
    if (domains.size === 0 || hostOf(request) === settings.publicUrl.hostname) return fetch(request, env)
    if (new URL(request.url).pathname === '/health') return fetch(request, env)
    const changes = domains.settled()
    return changes === undefined ? serve(request, env) : afterChanges(request, env, changes)
  }
}
