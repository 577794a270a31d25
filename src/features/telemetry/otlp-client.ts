import { setTimeout as sleep } from 'node:timers/promises'
import { gzip } from 'node:zlib'
import type { Log } from '../../domain/log.ts'
import { createOutgoing, type Outgoing, OutgoingError } from '../../egress/outgoing.ts'
import { parseRetryAfter } from '../../egress/retry-after.ts'
import type { OtlpEndpoint } from './settings.ts'

// Sends telemetry to the operator's collector (OTLP/HTTP, OpenTelemetry protocol specification 1.9). The operator sets the
// collector's address, so its host may be private and its URL plain http. The client is still a guarded one: it reaches
// only this host, follows no redirect, and limits time and size.

/** Sends batches of one signal to the collector. */
export interface OtlpClient {
  /** Resolves with whether the collector accepted the batch. Never rejects. */
  send(body: Uint8Array): Promise<boolean>
  /** Aborts requests that are under way. */
  close(): Promise<void>
}

/** Statuses after which OTLP allows a retry of the same request. */
const RETRYABLE = [429, 502, 503, 504]
const FIRST_PAUSE_MS = 1_000
/** The part of a pause that is random, so that processes do not all retry at once. */
const RANDOM_PART = 0.5

export function createOtlpClient(
  signal: 'traces' | 'metrics',
  endpoint: OtlpEndpoint,
  { log, ended }: { readonly log: Log; readonly ended: (outcome: 'sent' | 'failed') => void },
): OtlpClient {
  const { url, timeoutMs, compression } = endpoint
  const outgoing = clientOf(endpoint)
  const stop = new AbortController()
  let isFailing = false

  /** Counts the result. Logs when the collector stops accepting batches, and when it accepts them again. */
  function report(reason: string | undefined): void {
    ended(reason === undefined ? 'sent' : 'failed')
    const about = { signal, collector: url.host }
    if (reason !== undefined && !isFailing)
      log.warn(
        { ...about, reason },
        'telemetry cannot be sent; it is dropped until the collector accepts it again',
      )
    if (reason === undefined && isFailing) log.info(about, 'telemetry is sent again')
    isFailing = reason !== undefined
  }

  return {
    async send(plain) {
      const endsAt = performance.now() + timeoutMs
      const body = compression === 'gzip' ? await gzipped(plain) : plain
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
        const {
          reason,
          isRetryable,
          retryAfter = 0,
        } = await attempt(outgoing, endpoint, {
          body,
          deadlineMs: endsAt - performance.now(),
          signal: stop.signal,
        })
        const waitMs = Math.max(retryAfter * 1000, pauseMs * (1 - RANDOM_PART * Math.random()))
        if (!isRetryable || stop.signal.aborted || performance.now() + waitMs >= endsAt) {
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

/** Sends an empty batch. Returns why the collector did not accept it, such as `unreachable` or `status 404`. */
export async function tryCollector(endpoint: OtlpEndpoint): Promise<string | undefined> {
  const outgoing = clientOf(endpoint)
  try {
    const empty = endpoint.protocol === 'http/json' ? '{}' : ''
    const plain = { ...endpoint, compression: 'none' } as const
    return (await attempt(outgoing, plain, { body: Buffer.from(empty), deadlineMs: endpoint.timeoutMs }))
      .reason
  } finally {
    await outgoing.close()
  }
}

/** One request; `reason` says why the collector did not accept it. */
async function attempt(
  outgoing: Outgoing,
  { url, headers, protocol, timeoutMs, compression }: OtlpEndpoint,
  request: { readonly body: Uint8Array; readonly deadlineMs: number; readonly signal?: AbortSignal },
): Promise<{ reason: string | undefined; isRetryable: boolean; retryAfter?: number | undefined }> {
  try {
    const answer = await outgoing.send({
      ...request,
      url,
      method: 'POST',
      headers: {
        ...headers,
        'content-type': protocol === 'http/json' ? 'application/json' : 'application/x-protobuf',
        ...(compression === 'gzip' && { 'content-encoding': 'gzip' }),
      },
    })
    return {
      reason: answer.status >= 200 && answer.status <= 299 ? undefined : `status ${answer.status}`,
      isRetryable: RETRYABLE.includes(answer.status),
      retryAfter: parseRetryAfter(answer.headers['retry-after'], Date.now() / 1000, timeoutMs / 1000),
    }
  } catch (error) {
    const reason = error instanceof OutgoingError ? error.kind : 'failed'
    return { reason, isRetryable: reason === 'unreachable' }
  }
}

/** A guarded client that may reach only the collector's host and port. */
function clientOf({ url: { hostname, port, protocol } }: OtlpEndpoint): Outgoing {
  const number = port !== '' ? port : protocol === 'http:' ? 80 : 443
  return createOutgoing({ allowedHosts: [`${hostname}:${number}`] })
}

function gzipped(body: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) =>
    gzip(body, (error, result) => (error === null ? resolve(result) : reject(error))),
  )
}
