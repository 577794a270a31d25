import { setTimeout as sleep } from 'node:timers/promises'
import { gzip } from 'node:zlib'
import type { Log } from '../domain/log.ts'
import { createOutgoing, type Outgoing, OutgoingError } from '../egress/outgoing.ts'
import { parseRetryAfter } from '../egress/retry-after.ts'
import type { OtlpEndpoint } from '../settings/telemetry.ts'

/** Sends telemetry to the operator's collector (OTLP/HTTP 1.9, OpenTelemetry protocol specification). */
export interface OtlpClient {
  /** Resolves with whether the collector took it. Never rejects. */
  send(body: Uint8Array): Promise<boolean>
  /** Cuts off what is under way. */
  close(): Promise<void>
}

/** OTLP: after these the same request may be sent again. */
const PASSING = [429, 502, 503, 504]
const FIRST_PAUSE_MS = 1_000
const PART_OF_PAUSE = 0.5

/**
 * The collector's address is the operator's own setting, so its host may be private and spoken to by plain http. The
 * client is a guarded one all the same: it reaches this host alone, follows no redirect, and has limits of time and size.
 */
export function createOtlpClient(
  signal: 'traces' | 'metrics',
  { url, headers, protocol, timeoutMs, compression }: OtlpEndpoint,
  { log, ended }: { readonly log: Log; readonly ended: (outcome: 'sent' | 'failed') => void },
): OtlpClient {
  const outgoing: Outgoing = createOutgoing({ allowedHosts: [hostOf(url)] })
  const stop = new AbortController()
  let isFailing = false

  async function attempt(body: Uint8Array, deadlineMs: number) {
    try {
      const answer = await outgoing.send({
        url,
        method: 'POST',
        headers: {
          ...headers,
          'content-type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
          ...(compression === 'gzip' && { 'content-encoding': 'gzip' }),
        },
        body,
        deadlineMs,
        signal: stop.signal,
      })
      return {
        reason: answer.status >= 200 && answer.status <= 299 ? undefined : `status ${answer.status}`,
        isPassing: PASSING.includes(answer.status),
        retryAfter: parseRetryAfter(answer.headers['retry-after'], Date.now() / 1000, timeoutMs / 1000),
      }
    } catch (error) {
      const kind = error instanceof OutgoingError ? error.kind : 'failed'
      return { reason: kind, isPassing: kind === 'unreachable', retryAfter: undefined }
    }
  }

  /** One line when the collector becomes unreachable, and one when it is back. */
  function report(reason: string | undefined): void {
    ended(reason === undefined ? 'sent' : 'failed')
    if (reason !== undefined && !isFailing)
      log.warn({ signal, collector: url.host, reason }, 'telemetry cannot be sent; it is lost until it can')
    if (reason === undefined && isFailing)
      log.info({ signal, collector: url.host }, 'telemetry is sent again')
    isFailing = reason !== undefined
  }

  return {
    async send(plain) {
      const endsAt = performance.now() + timeoutMs
      const body = compression === 'gzip' ? await gzipped(plain) : plain
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
        const { reason, isPassing, retryAfter = 0 } = await attempt(body, endsAt - performance.now())
        const waitMs = Math.max(retryAfter * 1000, pauseMs * (1 - PART_OF_PAUSE * Math.random()))
        if (!isPassing || stop.signal.aborted || performance.now() + waitMs >= endsAt) {
          report(reason)
          return reason === undefined
        }
        await sleep(waitMs, undefined, { ref: false, signal: stop.signal }).catch(() => undefined)
      }
    },
    async close() {
      stop.abort()
      await outgoing.close()
    },
  }
}

/** As in `GATEPASS_ALLOWED_HOSTS`, with its port alone. */
function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port !== '' ? port : protocol === 'http:' ? 80 : 443}`
}

function gzipped(body: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) =>
    gzip(body, (error, result) => (error === null ? resolve(result) : reject(error))),
  )
}
