import { type Tracing, within } from '../../services/tracing.ts'
import type { Answered } from './answered.ts'
import { requestHeader } from './request-header.ts'

interface Route {
  readonly method: string
  /** The pattern, never the path. */
  readonly path: string
}

/** Programs ask for these every few seconds. */
const UNTRACED = /^\/(?:health|ready|metrics|v1\/health|assets\/.*)$/

/** Runs the work of a request that was accepted below a span of its own. The answer ends the span. */
export function inRequestSpan<T>(tracing: Tracing | undefined, route: Route, by: Answered, run: () => T): T {
  if (tracing === undefined || UNTRACED.test(route.path)) return run()
  by.span = begin(tracing, route, by)
  return within(by.span, run)
}

/** Ends the span of a request. One that was refused before its work began gets its span here. */
export function endRequestSpan(
  tracing: Tracing | undefined,
  route: Route,
  by: Answered,
  status: number,
): void {
  if (tracing === undefined || UNTRACED.test(route.path)) return
  by.span ??= begin(tracing, route, by)
  by.span.set({ 'http.response.status_code': status })
  by.span.end(status >= 500 ? String(status) : undefined)
}

/** The trace of a caller is continued only when its API key is valid: what others send decides nothing. */
function begin(tracing: Tracing, { method, path }: Route, { c, begun, caller }: Answered) {
  const name = method === 'other' ? '_OTHER' : method.toUpperCase()
  const hasKey = caller !== undefined && caller.id !== ''
  return tracing.begin({
    name: `${name} ${path}`,
    kind: 'server',
    attributes: { 'http.request.method': name, 'http.route': path },
    startedAt: begun,
    ...(hasKey && { traceparent: requestHeader(c, 'traceparent') }),
  })
}
