import { Hono } from 'hono'
import type { Broker } from '../../broker.ts'
import { linkNotFound } from '../../http/connect/show-authorization.ts'
import { hostNameOf } from '../../http/connect/site.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import type { Fetch } from '../../http/server/call-log.ts'

/**
 * Serves only the pages of users at the proved domain of a project. Requests to other hosts go to `fetch`.
 *
 * @param usersPaths the paths of these pages; with `/*` at the end, all below
 */
export function atOwnDomains<Env extends object>(
  fetch: Fetch<Env>,
  { sites, settings, ownPage }: Pick<Broker, 'sites' | 'settings' | 'ownPage'>,
  usersPaths: readonly string[],
): Fetch<Env> {
  const isOfUsers = (path: string) =>
    usersPaths.some((pattern) =>
      pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern,
    )
  const hostOf = (request: Request) => hostNameOf(request.headers.get('host'))
  const unserved = new Hono()
    .get('/', (c, next) => {
      const page = ownPage(sites.projectAt(hostOf(c.req.raw)) ?? '')
      if (page === undefined) return next()
      pageHeaders(c)
      return c.redirect(page.pathname, 303)
    })
    .all('*', (c) => {
      if (c.req.header('accept')?.includes('text/html') === true) return linkNotFound(c)
      const message = `Only the pages of users are served at this host. The API is at ${settings.publicUrl.origin}.`
      return c.json({ name: 'not_found', message }, 404)
    })

  async function afterChanges(request: Request, env: Env, changes: Promise<void>): Promise<Response> {
    await changes.catch(() => {}) // if the database is unavailable, the domains that were read last are used
    return serve(request, env)
  }

  function serve(request: Request, env: Env): Response | Promise<Response> {
    if (sites.projectAt(hostOf(request)) === undefined) return fetch(request, env)
    return isOfUsers(new URL(request.url).pathname) ? fetch(request, env) : unserved.fetch(request, env)
  }

  return (request, env) => {
    // the API and the liveness probe do not wait for the database, which may be slow
    if (sites.size === 0 || hostOf(request) === settings.publicUrl.hostname) return fetch(request, env)
    if (new URL(request.url).pathname === '/health') return fetch(request, env)
    const changes = sites.settled()
    return changes === undefined ? serve(request, env) : afterChanges(request, env, changes)
  }
}
