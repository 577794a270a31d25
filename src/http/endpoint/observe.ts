import type { Context, MiddlewareHandler } from 'hono'
import type { Broker } from '../../broker.ts'
import type { RouteMetrics } from '../../services/metrics.ts'
import { currentContext, inContext } from '../../services/request-context.ts'
import { METHODS, type ObservedRequest, type OnAnswered } from './observed-request.ts'
import { requestId } from './request-id.ts'
import { endRequestSpan, inRequestSpan } from './request-span.ts'

/** Counts every answer by its route. Logs failures and, with debug logging, all answers. */
export interface Observer {
  /** Called by the API's endpoints. */
  readonly onAnswered: OnAnswered
  /**
   * A middleware for pages, which are counted by `route`. It also sets a request context whose actor is the user. Of
   * several routes that match a request, the one that was added first counts it.
   */
  page(route: string): MiddlewareHandler
  /** Counts a request that matched no route. */
  unknown(c: Context, status: number): void
}

export function createObserver({
  activity,
  metrics,
  log,
  tracing,
}: Pick<Broker, 'activity' | 'metrics' | 'log' | 'tracing'>): Observer {
  const routeMetrics = new Map<object | string, RouteMetrics>()
  const observed = new WeakSet<Context>()
  const limited = metrics.counter(
    'gatepass_rate_limited_total',
    'Requests refused because there were too many',
    ['route'],
  )

  function metricsOf(key: object | string, method: string, route: string): RouteMetrics {
    const known = routeMetrics.get(key)
    if (known !== undefined) return known
    const made = metrics.route(method, route)
    routeMetrics.set(key, made)
    return made
  }

  function logAnswer(
    { c, span, caller }: AnsweredRequest,
    route: string,
    status: number,
    milliseconds: number,
  ): void {
    const level = status < 500 ? 'debug' : status === 500 ? 'error' : 'warn'
    if (level === 'debug' && !log.isDebugging) return
    log[level](
      {
        requestId: requestId(c),
        method: c.req.method,
        route,
        status,
        ms: Math.round(milliseconds * 10) / 10,
        ...(caller !== undefined && caller.id !== '' && { keyId: caller.id }),
        traceId: span?.traceId,
      },
      'answered',
    )
  }

  return {
    onAnswered(route, status, milliseconds, request) {
      endRequestSpan(tracing, route, request, status)
      metricsOf(route, route.method.toUpperCase(), route.path).answered(status, milliseconds / 1000)
      const { caller } = request
      if (caller !== undefined && caller.projectId !== '')
        activity.count(caller.projectId, 'latency', latencyLabel(milliseconds))
      if (status === 429) limited.increment(route.path)
      if (status >= 500 || log.isDebugging) logAnswer(request, route.path, status, milliseconds)
    },
    page(route) {
      return async (c, next) => {
        // `/me/*` matches `/me` too, which has a route of its own
        if (observed.has(c)) return next()
        observed.add(c)
        const begun = performance.now()
        const { method } = c.req
        const traced = { method: METHODS.has(method) ? method : 'other', path: route }
        const request: ObservedRequest = { c, begun }
        const done = (status: number) => {
          const milliseconds = performance.now() - begun
          metricsOf(`${method} ${route}`, traced.method, route).answered(status, milliseconds / 1000)
          endRequestSpan(tracing, traced, request, status)
          logAnswer(request, route, status, milliseconds)
        }
        const context = {
          actor: { kind: 'user' },
          purpose: `${method} ${route}`,
          requestId: requestId(c),
        } as const
        await inContext(context, () => inRequestSpan(tracing, traced, request, next))
        done(c.res.status) // hono has made a response of an error that a handler threw
      }
    },
    unknown(c, status) {
      if (currentContext().purpose !== undefined) return // the middleware of a page's path counts this request
      metricsOf('', 'any', 'unknown').answered(status, 0)
      logAnswer({ c }, 'unknown', status, 0)
    },
  }
}

type AnsweredRequest = Omit<ObservedRequest, 'begun'>

/** Upper bounds in milliseconds of the console's chart of answers. */
const LATENCIES = [10, 50, 250, 1000] as const

function latencyLabel(milliseconds: number): string {
  const bound = LATENCIES.find((limit) => milliseconds <= limit)
  return bound === undefined ? 'longer' : `up to ${bound} ms`
}
