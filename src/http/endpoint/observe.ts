import type { Context, MiddlewareHandler } from 'hono'
import type { Broker } from '../../broker.ts'
import type { RouteMetrics } from '../../services/metrics.ts'
import { currentContext, inContext } from '../../services/request-context.ts'
import type { Answered, OnAnswered } from './answered.ts'
import { requestId } from './request-id.ts'
import { endRequestSpan, inRequestSpan } from './request-span.ts'

/** Counts every answer by its route, and logs it. */
export interface Observer {
  /** Called by the API's endpoints. */
  readonly onAnswered: OnAnswered
  /** A middleware for pages, which are counted by `route`. It also sets the request context to the user. */
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
  const figures = new Map<object | string, RouteMetrics>()
  const limited = metrics.counter(
    'gatepass_rate_limited_total',
    'Requests refused because there were too many',
    ['route'],
  )

  function figuresOf(key: object | string, method: string, route: string): RouteMetrics {
    const known = figures.get(key)
    if (known !== undefined) return known
    const made = metrics.route(method, route)
    figures.set(key, made)
    return made
  }

  function line({ c, span, caller }: Answering, route: string, status: number, milliseconds: number): void {
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
        ...(span !== undefined && { traceId: span.traceId }),
      },
      'answered',
    )
  }

  return {
    onAnswered(route, status, milliseconds, by) {
      endRequestSpan(tracing, route, by, status)
      figuresOf(route, route.method.toUpperCase(), route.path).answered(status, milliseconds / 1000)
      const { caller } = by
      if (caller !== undefined && caller.projectId !== '')
        activity.count(caller.projectId, 'latency', latencyLabel(milliseconds))
      if (status === 429) limited.increment(route.path)
      if (status >= 500 || log.isDebugging) line(by, route.path, status, milliseconds)
    },
    page(route) {
      return async (c, next) => {
        const begun = performance.now()
        const { method } = c.req
        const traced = { method: METHODS.has(method) ? method : 'other', path: route }
        const by: Answered = { c, begun }
        const done = (status: number) => {
          const milliseconds = performance.now() - begun
          figuresOf(`${method} ${route}`, traced.method, route).answered(status, milliseconds / 1000)
          endRequestSpan(tracing, traced, by, status)
          line(by, route, status, milliseconds)
        }
        const context = {
          actor: { kind: 'user' },
          purpose: `${method} ${route}`,
          requestId: requestId(c),
        } as const
        await inContext(context, () => inRequestSpan(tracing, traced, by, next)) // hono has turned an error into a response by now
        done(c.res.status)
      }
    },
    unknown(c, status) {
      if (currentContext().purpose !== undefined) return // below the path of a page, whose middleware counts it
      figuresOf('', 'any', 'unknown').answered(status, 0)
      line({ c }, 'unknown', status, 0)
    },
  }
}

type Answering = Omit<Answered, 'begun'>

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Upper bounds in milliseconds of the console's chart of answers. */
const LATENCIES = [10, 50, 250, 1000] as const

function latencyLabel(milliseconds: number): string {
  const bound = LATENCIES.find((one) => milliseconds <= one)
  return bound === undefined ? 'longer' : `up to ${bound} ms`
}
