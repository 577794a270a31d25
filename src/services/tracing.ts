import { AsyncLocalStorage } from 'node:async_hooks'
import { BrokerError } from '../domain/errors.ts'

// Traces, as the flows use them. `src/features/telemetry` implements `Tracing` with OpenTelemetry. Without a collector
// `broker.tracing` is absent, and tracing costs nothing. Attributes are words of closed lists, ids of providers and tools,
// and hosts: never a user, an account, a query, arguments, a result or SQL.

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface SpanDescription {
  /** One of few values: a route, the name of a tool, a method of the store. */
  readonly name: string
  /** `server`: answers a request. `client`: waits for another system. Default: `internal`. */
  readonly kind?: 'server' | 'client' | 'internal'
  readonly attributes?: Attributes
  /** `performance.now()` when the span began. Default: now. */
  readonly startedAt?: number
  /** `traceparent` of the work that queued this work, or that this work waits for. */
  readonly links?: readonly (string | undefined)[]
}

export interface TraceDescription extends SpanDescription {
  /** The header of a caller with a valid key. If it is malformed or absent, a new trace begins. */
  readonly traceparent?: string | undefined
}

/** One piece of work in a trace. */
export interface Span {
  readonly traceId: string
  /** W3C Trace Context level 1, section 3.2. */
  readonly traceparent: string
  /** Whether the trace is recorded. If not, the span gets no child spans. */
  readonly isRecorded: boolean
  set(attributes: Attributes): void
  /** Ends the span. `failure` is its `error.type` if the work failed. */
  end(failure?: string): void
}

/** Begins the spans of a process. */
export interface Tracing {
  /** Begins a trace, or continues that of the caller. The caller of this method ends the span. */
  begin(trace: TraceDescription): Span
  /** Begins a span below the current one; `undefined` where no trace is recorded. */
  child(span: SpanDescription): Span | undefined
  /** Whether Gatepass sends `traceparent` to workers. */
  readonly propagates: boolean
}

const current = new AsyncLocalStorage<Span>()

/** The span of the work that runs now, recorded or not. */
export function currentSpan(): Span | undefined {
  return current.getStore()
}

/** `traceparent` of the current span if its trace is recorded, for a link of work that is done later. */
export function recordedTrace(): string | undefined {
  const span = currentSpan()
  return span?.isRecorded === true ? span.traceparent : undefined
}

/** Runs a function, and all that it awaits, with the span as the current one. */
export function within<T>(span: Span, run: () => T): T {
  return current.run(span, run)
}

/** Runs a function outside of any trace: for work that a request only triggers. */
export function outsideTraces<T>(run: () => T): T {
  return current.exit(run)
}

/** How a piece of work ended: its attributes, and its `error.type` if it failed. */
export interface SpanEnd {
  readonly attributes?: Attributes
  readonly failure?: string | undefined
}

/** Runs a function below a new span, which ends with what the function returns, resolves with or throws. */
export function inSpan<T>(
  tracing: Tracing,
  description: SpanDescription,
  run: () => T,
  endOf?: (result: Awaited<T>) => SpanEnd,
): T {
  const span = tracing.child(description)
  return span === undefined ? run() : runIn(span, run, endOf)
}

/** Runs a function as a trace of its own: work that no request waits for. */
export function inTrace<T>(
  tracing: Tracing,
  description: SpanDescription,
  run: () => T,
  endOf?: (result: Awaited<T>) => SpanEnd,
): T {
  return runIn(tracing.begin(description), run, endOf)
}

function runIn<T>(span: Span, run: () => T, endOf?: (result: Awaited<T>) => SpanEnd): T {
  const end = (result: Awaited<T>) => {
    const { attributes, failure } = endOf?.(result) ?? {}
    if (attributes !== undefined) span.set(attributes)
    span.end(failure)
  }
  const fail = (error: unknown) => {
    span.set({ 'gatepass.outcome': error instanceof BrokerError ? 'refused' : 'failed' })
    span.end(errorType(error))
  }
  try {
    const result = within(span, run)
    if (result instanceof Promise) result.then(end, fail)
    else end(result as Awaited<T>) // it is no promise
    return result
  } catch (error) {
    fail(error)
    throw error
  }
}

/** The code, kind or class of an error. Never its message, which may quote untrusted input. */
export function errorType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown'
  const { code, kind, name } = error as {
    readonly code?: unknown
    readonly kind?: unknown
    readonly name?: unknown
  }
  return (
    ([code, kind, name].find((word) => typeof word === 'string' && WORD.test(word)) as string | undefined) ??
    'unknown'
  )
}

const WORD = /^\w{1,60}$/
