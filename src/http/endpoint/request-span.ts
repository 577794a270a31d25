import { type Tracing, within } from '../../services/tracing.ts'
import type { ObservedRequest, Route } from './observed-request.ts'
import { requestHeader } from './request-header.ts'

/** Routes without spans, because programs request them every few seconds. */
const UNTRACED = /^\/(?:health|ready|metrics|v1\/health|assets\/.*)$/

/** Runs the work of an accepted request within a new span, which `endRequestSpan` ends. */
export function inRequestSpan<T>(
  tracing: Tracing | undefined,
  route: Route,
  request: ObservedRequest,
  run: () => T,
): T {
  if (tracing === undefined || UNTRACED.test(route.path)) return run()
  request.span = begin(tracing, route, request)
  return within(request.span, run)
}

/** Ends the span of a request. A request that was refused before its work began has no span yet and gets it here. */
export function endRequestSpan(
  tracing: Tracing | undefined,
  route: Route,
  request: ObservedRequest,
  status: number,
): void {
  if (tracing === undefined || UNTRACED.test(route.path)) return
  request.span ??= begin(tracing, route, request)
  request.span.set({ 'http.response.status_code': status })
  request.span.end(status >= 500 ? String(status) : undefined)
}

/** Continues the caller's trace only if its API key is valid: a request without one must not join a trace. */
function begin(tracing: Tracing, { method, path }: Route, { c, begun, caller }: ObservedRequest) {
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
