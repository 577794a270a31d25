import type { Context } from 'hono'
import type { ApiKey } from '../../domain/api-key.ts'
import type { Span } from '../../services/tracing.ts'

export type OnAnswered = (
  route: { readonly method: string; readonly path: string },
  status: number,
  milliseconds: number,
  by: Answered,
) => void

/** A request that was answered; `caller` is absent when its key was refused. */
export interface Answered {
  readonly c: Context
  /** `performance.now()` when it came. */
  readonly begun: number
  caller?: ApiKey
  /** The span of its work, where traces are sent. */
  span?: Span
}
