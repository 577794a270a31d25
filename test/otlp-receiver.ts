import { gunzipSync } from 'node:zlib'
import { answer, type Loopback, listen, type RecordedRequest } from './loopback.ts'

/** A span of OTLP's JSON, with its attributes as an object. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code?: number }
  readonly resource: Readonly<Record<string, string | number | boolean>>
}

export interface ReceivedMetric {
  readonly name: string
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: readonly Point[] }
  readonly gauge?: { readonly dataPoints: readonly Point[] }
  readonly histogram?: { readonly dataPoints: readonly HistogramPoint[] }
}

export interface Point {
  readonly attributes: Attributes
  readonly asDouble?: number
  readonly asInt?: number
}

export interface HistogramPoint {
  readonly attributes: Attributes
  readonly count: number
  readonly sum: number
  readonly bucketCounts: readonly number[]
  readonly explicitBounds: readonly number[]
}

type Attributes = readonly {
  readonly key: string
  readonly value: {
    stringValue?: string
    intValue?: number | string
    doubleValue?: number
    boolValue?: boolean
  }
}[]

/** An HTTP server that keeps the spans and metrics it receives by OTLP in JSON. */
export interface OtlpReceiver extends Loopback {
  readonly requests: readonly (Pick<RecordedRequest, 'path' | 'headers'> & { readonly body: Buffer })[]
  readonly spans: readonly ReceivedSpan[]
  /** The metrics of the last request that had any. */
  readonly metrics: readonly ReceivedMetric[]
  /** The status of its next answers; `hang`: it does not answer. */
  behaviour: number | 'hang'
  /** Every answer waits for it. */
  mayAnswer?: Promise<void>
  spansOf(traceId: string): readonly ReceivedSpan[]
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const requests: OtlpReceiver['requests'][number][] = []
  const spans: ReceivedSpan[] = []
  let metrics: ReceivedMetric[] = []

  const loopback = await listen(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
    const sent = Buffer.concat(chunks)
    const body = req.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    if (receiver.behaviour === 'hang') return
    requests.push({ path: req.url ?? '', headers: req.headers, body })
    if (receiver.behaviour === 200 && req.headers['content-type'] === 'application/json') {
      const { resourceSpans = [], resourceMetrics = [] } = JSON.parse(body.toString())
      for (const { resource, scopeSpans } of resourceSpans)
        for (const { spans: some } of scopeSpans)
          for (const { links = [], status = {}, ...one } of some)
            spans.push({
              ...one,
              links,
              status,
              attributes: toObject(one.attributes),
              resource: toObject(resource.attributes),
            })
      if (resourceMetrics.length > 0)
        metrics = resourceMetrics.flatMap((one: { scopeMetrics: { metrics: ReceivedMetric[] }[] }) =>
          one.scopeMetrics.flatMap((scope) => scope.metrics),
        )
    }
    await receiver.mayAnswer
    answer(res, receiver.behaviour, 'application/json', '{}')
  })
  const receiver: OtlpReceiver = {
    ...loopback,
    requests,
    spans,
    behaviour: 200,
    get metrics() {
      return metrics
    },
    spansOf: (traceId) => spans.filter((span) => span.traceId === traceId),
  }
  return receiver
}

export function toObject(attributes: Attributes = []): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, intValue, doubleValue, boolValue } }) => [
      key,
      stringValue ?? doubleValue ?? boolValue ?? Number(intValue),
    ]),
  )
}
