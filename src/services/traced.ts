import { type Outgoing, OutgoingError } from '../egress/outgoing.ts'
import type { OutgoingRequest, OutgoingStreamRequest } from '../egress/outgoing-request.ts'
import type { Store } from '../store/store.ts'
import type { AuditLog } from './audit-log.ts'
import { currentSpan, errorType, type Tracing, within } from './tracing.ts'

// Decorators that make spans of calls of the store and of the guarded client. They are used only if traces are sent.

export type DatabaseSystem = 'sqlite' | 'postgresql'

/** No span in `tracedStore`: one commit serves the releases of several requests, so `tracedAudit` makes the spans. */
const SHARED = 'audit.release'

/** The store, with a span for each call of a noun's method inside a trace. */
export function tracedStore(store: Store, tracing: Tracing, system: DatabaseSystem): Store {
  const nouns = Object.entries(store).map(([name, noun]) => [
    name,
    typeof noun === 'object' && !Array.isArray(noun) ? tracedNoun(name, noun, tracing, system) : noun,
  ])
  return Object.fromEntries(nouns) as Store // the same names with the same signatures
}

function tracedNoun(name: string, noun: object, tracing: Tracing, system: DatabaseSystem): object {
  const methods = Object.entries(noun).map(([method, call]) => {
    const operation = `${name}.${method}`
    if (typeof call !== 'function' || operation === SHARED) return [method, call]
    return [method, (...args: unknown[]) => storeCall(tracing, system, operation, () => call(...args))]
  })
  return Object.fromEntries(methods)
}

/** Makes the call in a span. A call that returns no promise only reads memory, and gets no span. */
function storeCall<T>(tracing: Tracing, system: DatabaseSystem, operation: string, call: () => T): T {
  if (currentSpan()?.isRecorded !== true) return call()
  const startedAt = performance.now()
  const result = call()
  if (!(result instanceof Promise)) return result
  const span = tracing.child({
    name: operation,
    kind: 'client',
    attributes: { 'db.system.name': system, 'db.operation.name': operation },
    startedAt,
  })
  if (span !== undefined)
    result.then(
      () => span.end(),
      (error: unknown) => span.end(errorType(error)),
    )
  return result
}

/** The audit log, with a span for each release, which ends when the release is committed. */
export function tracedAudit(audit: AuditLog, tracing: Tracing, system: DatabaseSystem): AuditLog {
  return Object.create(audit, {
    release: {
      value: (...args: Parameters<AuditLog['release']>) =>
        storeCall(tracing, system, SHARED, () => audit.release(...args)),
    },
  }) as AuditLog
}

/**
 * The guarded client, with a span for each request inside a trace. Only requests with `continuesTrace` carry `traceparent`,
 * so that providers do not learn trace ids.
 */
export function tracedOutgoing(outgoing: Outgoing, tracing: Tracing): Outgoing {
  const traced =
    <R extends OutgoingRequest | OutgoingStreamRequest, A extends { readonly status: number }>(
      ask: (request: R) => Promise<A>,
    ) =>
    async (request: R): Promise<A> => {
      const { method = 'GET', purpose = 'other' } = request
      const span = tracing.child({
        name: `${method} ${purpose}`,
        kind: 'client',
        attributes: {
          'http.request.method': method,
          'gatepass.kind': purpose,
          ...addressOf(request.url),
        },
      })
      const carried = withTraceparent(request, tracing, span?.traceparent ?? currentSpan()?.traceparent)
      if (span === undefined) return ask(carried)
      try {
        const response = await within(span, () => ask(carried))
        span.set({ 'http.response.status_code': response.status })
        span.end(response.status >= 400 ? String(response.status) : undefined)
        return response
      } catch (error) {
        span.end(error instanceof OutgoingError ? error.kind : errorType(error))
        throw error
      }
    }
  return { ...outgoing, send: traced(outgoing.send), stream: traced(outgoing.stream) }
}

function withTraceparent<R extends OutgoingRequest | OutgoingStreamRequest>(
  request: R,
  { propagates }: Tracing,
  traceparent: string | undefined,
): R {
  if (request.continuesTrace !== true || !propagates || traceparent === undefined) return request
  return { ...request, headers: { ...request.headers, traceparent } }
}

function addressOf(url: string | URL): { 'server.address'?: string; 'server.port'?: number } {
  const parsed = typeof url !== 'string' ? url : URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined) return {}
  const { hostname, port, protocol } = parsed
  return {
    'server.address': hostname,
    'server.port': port !== '' ? Number(port) : protocol === 'http:' ? 80 : 443,
  }
}
