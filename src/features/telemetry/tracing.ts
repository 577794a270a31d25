import type { Span as ApiSpan, Context, Link, SpanContext } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { currentSpan, type Span, type SpanDescription, type Tracing } from '../../services/tracing.ts'
import type { OtlpClient } from './otlp-client.ts'
import type { Packages } from './packages.ts'
import { createSampler } from './sampler.ts'
import type { TraceSettings } from './settings.ts'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'

/** Limits the spans of one trace in this process: an import of ten thousand tools is one request. */
const MAX_SPANS_PER_TRACE = 1_000

/** Why a span of a recorded trace is not sent. */
export type SpanLoss = 'queue_full' | 'export_failed' | 'trace_full'

export interface TracingParts {
  readonly packages: Packages
  readonly settings: TraceSettings
  readonly resource: Resource
  readonly version: string
  readonly client: OtlpClient
  readonly onLost: (why: SpanLoss, spans: number) => void
  readonly onCapped: () => void
}

/** The state that all spans of one trace share in this process. */
interface LocalTrace {
  /** Milliseconds to add to `performance.now()`, so that the spans of one trace keep their order. */
  readonly epochMs: number
  spans: number
}

/**
 * Implements `Tracing` with OpenTelemetry's SDK. It registers nothing globally, so tool modules in this process that have
 * their own instrumentation see no span of Gatepass, and Gatepass sends none of theirs.
 */
export function createTracing(parts: TracingParts): Tracing & { flush(): Promise<void> } {
  const { packages, settings, resource, version, client, onLost, onCapped } = parts
  const { api, trace } = packages
  /** Ended spans that the exporter has not received yet. */
  let waiting = 0

  const serializer =
    settings.protocol === 'http/json'
      ? packages.transformer.JsonTraceSerializer
      : packages.transformer.ProtobufTraceSerializer
  const exporter: SpanExporter = {
    export(spans, done) {
      waiting -= spans.length
      const body = serializer.serializeRequest(spans)
      void client.send(body ?? new Uint8Array()).then((isSent) => {
        if (!isSent) onLost('export_failed', spans.length)
        done({ code: SUCCESS }) // a failure was counted and logged; the SDK would only log it again
      })
    },
    shutdown: async () => {},
  }
  const { maxQueueSize } = settings.batch
  // the client has its own time limit, which ends first
  const exportTimeoutMillis = 2 * settings.timeoutMs
  const batch = new trace.BatchSpanProcessor({ exporter, ...settings.batch, exportTimeoutMillis })
  const processor = {
    onStart() {},
    onEnd(span: ReadableSpan) {
      if (waiting >= maxQueueSize) return onLost('queue_full', 1)
      waiting++
      batch.onEnd(span)
    },
    forceFlush: () => batch.forceFlush(),
    shutdown: () => batch.shutdown(),
  }
  const tracer = new trace.TracerProvider({
    resource,
    sampler: createSampler(packages, settings, onCapped),
    spanProcessors: [processor],
  }).getTracer('gatepass', version)

  const KINDS = {
    server: api.SpanKind.SERVER,
    client: api.SpanKind.CLIENT,
    internal: api.SpanKind.INTERNAL,
  }

  function start(description: SpanDescription, parent: Context, local: LocalTrace): Span {
    const { name, kind = 'internal', attributes, startedAt = performance.now(), links = [] } = description
    const span = tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        startTime: startedAt + local.epochMs,
        ...(attributes && { attributes }),
        links: links.map(parseTraceparent).flatMap((context): Link[] => (context ? [{ context }] : [])),
      },
      parent,
    )
    return new RecordedSpan(packages, span, local)
  }

  return {
    propagates: settings.propagates,
    begin({ traceparent, ...description }) {
      const remote = settings.propagates ? parseTraceparent(traceparent) : undefined
      const parent =
        remote === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, remote)
      return start(description, parent, { epochMs: Date.now() - performance.now(), spans: 0 })
    },
    child(description) {
      const parent = currentSpan()
      if (!(parent instanceof RecordedSpan) || !parent.isRecorded) return undefined
      const { local } = parent
      if (++local.spans >= MAX_SPANS_PER_TRACE) {
        onLost('trace_full', 1)
        return undefined
      }
      return start(description, parent.context, local)
    },
    flush: () => batch.forceFlush(),
  }
}

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0

/** A span of the SDK, recorded or not. */
class RecordedSpan implements Span {
  readonly isRecorded: boolean
  readonly local: LocalTrace
  readonly #api: Packages['api']
  readonly #span: ApiSpan
  readonly #context: SpanContext
  #isOver = false

  constructor({ api }: Packages, span: ApiSpan, local: LocalTrace) {
    this.#api = api
    this.#span = span
    this.#context = span.spanContext()
    this.isRecorded = span.isRecording()
    this.local = local
  }

  get traceId(): string {
    return this.#context.traceId
  }

  get traceparent(): string {
    return formatTraceparent(this.#context)
  }

  /** The parent context of child spans. */
  get context(): Context {
    return this.#api.trace.setSpan(this.#api.ROOT_CONTEXT, this.#span)
  }

  set(attributes: Readonly<Record<string, string | number | boolean>>): void {
    this.#span.setAttributes(attributes)
  }

  end(failure?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    if (failure !== undefined) {
      this.#span.setAttribute('error.type', failure)
      this.#span.setStatus({ code: this.#api.SpanStatusCode.ERROR })
    }
    this.#span.end(performance.now() + this.local.epochMs)
  }
}
