import type { SpanContext } from '@opentelemetry/api'

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const ZEROS = /^0+$/

/** Reads a `traceparent` (W3C Trace Context level 1, section 3.2); `undefined`: none, or malformed. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  if (text === undefined || text.length > 512) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(text) ?? []
  // version 00 has four fields; later ones may have more
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 1) === 1 ? '01' : '00'}`
}
