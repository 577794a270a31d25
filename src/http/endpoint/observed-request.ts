import type { ApiKey } from '../../domain/api-key.ts'
import type { Span } from '../../services/tracing.ts'
import type { Received } from './request-header.ts'

export interface Route {
  readonly method: string
  /** The pattern of the route, never the path of a request. */
  readonly path: string
}

export type OnAnswered = (
  route: Route,
  status: number,
  milliseconds: number,
  request: ObservedRequest,
) => void

/** A request and what its handling has found out about it. `caller` is absent when the key was refused. */
export interface ObservedRequest {
  readonly c: Received
  /** `performance.now()` when the request arrived. */
  readonly begun: number
  caller?: ApiKey
  /** The span of the request, if traces are exported. */
  span?: Span
}

/** The methods that metrics and traces name; every other one is `other`. */
export const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
])

/** The routes of a path that takes any method: one object per method, because metrics are looked up by object. */
export function routesOf(path: string): (method: string) => Route {
  const other = { method: 'other', path }
  const routes = new Map([...METHODS].map((method) => [method, { method, path }]))
  return (method) => routes.get(method) ?? other
}
