import type { Context } from 'hono'
import type { ApiKey } from '../../domain/api-key.ts'
import type { Span } from '../../services/tracing.ts'

export type OnAnswered = (
  route: { readonly method: string; readonly path: string },
  status: number,
  milliseconds: number,
  request: ObservedRequest,
) => void

/** A request and what its handling has found out about it. `caller` is absent when the key was refused. */
export interface ObservedRequest {
  readonly c: Context
  /** `performance.now()` when the request arrived. */
  readonly begun: number
  caller?: ApiKey
  /** The span of the request, if traces are exported. */
  span?: Span
}
