import type { Context, Hono } from 'hono'
import { BrokerError } from '../../domain/errors.ts'

/** The method under which hono lists a middleware, which is not a route. */
const ALL = 'ALL'

interface NotFound {
  /**
   * The refusal of a request that matches no route: 405 with `Allow` when its path has other methods (RFC 9110 section
   * 15.5.6), else 404. The routes are searched only here, so other requests do not pay for it.
   */
  noRoute(c: Context): BrokerError
  /**
   * The refusal when a route with a parameter found no resource. If the path is that of a route with another method,
   * the refusal becomes 405: `GET /v1/tools/execute` does not ask for a tool named `execute`. Else it is unchanged, and
   * also where the path takes PATCH: what is changed there, such as a worker or a policy, may have the id `test`.
   */
  noResource(c: Context, refusal: BrokerError): BrokerError
}

export function createNotFound(app: Pick<Hono, 'routes'>): NotFound {
  let known:
    | readonly { readonly method: string; readonly path: string; readonly pattern: RegExp }[]
    | undefined
  const routes = () => {
    known ??= app.routes
      .filter(({ method }) => method !== ALL)
      .map(({ method, path }) => ({ method, path, pattern: patternOf(path) }))
    return known
  }

  function notAllowed(c: Context, methods: readonly string[]): BrokerError {
    const { method, path } = c.req
    const allowed = new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)
    const allow = [...allowed].sort().join(', ')
    c.header('allow', allow)
    return new BrokerError('method_not_allowed', `${path.slice(0, 200)} takes ${allow}, not ${method}.`)
  }

  return {
    noRoute(c) {
      const { method, path } = c.req
      const fitting = routes().filter(({ pattern }) => pattern.test(path))
      // a route with exactly this path goes before one whose parameter matches it
      const own = fitting.filter((route) => route.path === path)
      const methods = (own.length > 0 ? own : fitting).map((route) => route.method)
      if (methods.length > 0) return notAllowed(c, methods)
      return new BrokerError(
        'not_found',
        `There is nothing at ${method} ${path.slice(0, 200)}. GET /docs lists every endpoint.`,
      )
    },
    noResource(c, refusal) {
      const fitting = routes().filter(({ pattern }) => pattern.test(c.req.path))
      const methods = fitting.filter(({ path }) => path === c.req.path)
      const mayHaveId = fitting.some(({ method }) => method === 'PATCH')
      const asked = c.req.method === 'HEAD' ? 'GET' : c.req.method // the route of GET answers HEAD too
      return methods.length === 0 || mayHaveId || methods.some(({ method }) => method === asked)
        ? refusal
        : notAllowed(
            c,
            methods.map(({ method }) => method),
          )
    },
  }
}

function patternOf(path: string): RegExp {
  const source = path
    .split('/')
    .map((part) =>
      part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'),
    )
    .join('/')
  return new RegExp(`^${source}$`)
}
