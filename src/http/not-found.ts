import type { Context, Hono } from 'hono'
import { BrokerError } from '../domain/errors.ts'

/** What stands for every method: a middleware, which is no route. */
const ALL = 'ALL'

/**
 * The refusal of a request that no route takes: 405 with `Allow` when its path has other methods (RFC 9110 section
 * 15.5.6), else 404. Looks through the routes only then, so that requests that are served pay nothing.
 */
export function createNotFound(app: Pick<Hono, 'routes'>): (c: Context) => BrokerError {
  let known: readonly { readonly method: string; readonly pattern: RegExp }[] | undefined

  return (c) => {
    known ??= app.routes
      .filter(({ method }) => method !== ALL)
      .map(({ method, path }) => ({ method, pattern: patternOf(path) }))
    const { method, path } = c.req
    const allowed = new Set(known.filter(({ pattern }) => pattern.test(path)).map((route) => route.method))
    if (allowed.size === 0)
      return new BrokerError(
        'not_found',
        `There is nothing at ${method} ${path.slice(0, 200)}. GET /docs describes what there is.`,
      )
    if (allowed.has('GET')) allowed.add('HEAD')
    const allow = [...allowed].sort().join(', ')
    c.header('allow', allow)
    return new BrokerError('method_not_allowed', `${path.slice(0, 200)} takes ${allow}, not ${method}.`)
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
