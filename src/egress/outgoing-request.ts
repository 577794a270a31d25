import type { ClientCertificate, Dispatcher } from './guarded-agent.ts'
import type { ReceivedBody } from './received-body.ts'

export type { ClientCertificate } from './guarded-agent.ts'

/** What a request is for. Metrics have it as a label. */
export type OutgoingPurpose =
  | 'pushed_authorization'
  | 'device_authorization'
  | 'temporary'
  | 'exchange'
  | 'refresh'
  | 'revocation'
  | 'resource'
  | 'discovery'
  | 'login'
  | 'worker'
  | 'policy'
  | 'webhook'
  | 'proxy'
  | 'tool'

export interface OutgoingRequest {
  readonly url: string | URL
  /**
   * Sent byte for byte instead of the URL's path and query; begins with a slash. A key that an API reads there belongs
   * here: errors, records and caches have the URL.
   */
  readonly path?: string | undefined
  readonly purpose?: OutgoingPurpose
  readonly method?: Dispatcher.HttpMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** Whether the header `traceparent` is added if tracing is on. Set only for requests to the operator's workers. */
  readonly continuesTrace?: boolean
  /** Presented in the TLS handshake (RFC 8705). Such a request is not made over plain http. */
  readonly clientCertificate?: ClientCertificate
  /** The time limit from the call to the last byte of the response, including the wait for a connection. Default: 10 s. */
  readonly deadlineMs?: number
  /** The limit for the response's body, both as received and as decoded. Default: 256 KiB. */
  readonly maxBytes?: number | undefined
  /** Whether a redirect is returned or refused as `redirected` (the default). It is never followed. */
  readonly redirects?: 'answer' | 'refuse'
  /** When it is aborted, the request ends as `timeout`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called when the connection is open, right before the first byte is written. If it resolves with `false`, nothing is
   * sent and the request ends as `given_up`. For a request without a body it is called before the connection is opened.
   */
  readonly isStillWanted?: () => Promise<boolean>
}

export interface OutgoingResponse {
  readonly status: number
  /** Names in lower case; repeated fields are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface OutgoingStreamRequest
  extends Omit<OutgoingRequest, 'body' | 'isStillWanted' | 'clientCertificate'> {
  /** The name of a pool: the requests that name it share connections and their limits only with each other. */
  readonly pool?: string
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | undefined
  /** The time limit for the response's head, from the call or from the last sent piece of the body. Default: 10 s. */
  readonly deadlineMs?: number
  /** How long the response's body may pause, without bytes arriving or being read; `Infinity`: no limit. Default: 60 s. */
  readonly idleMs?: number
  /** The limit for the response's body, as received. Default: none. */
  readonly maxBytes?: number
  /** Default: `identity`. The body is returned undecoded, with its `content-encoding`. */
  readonly acceptEncoding?: string
  /** When it is aborted, the request ends as `timeout`, also while the response's body is read. */
  readonly signal?: AbortSignal | undefined
}

export interface OutgoingStreamResponse {
  readonly status: number
  /** As in `OutgoingResponse`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReadableStream<Uint8Array>
  /** The same body without the cost of a web stream. The caller reads either this or `body`. */
  readonly received?: ReceivedBody
}
