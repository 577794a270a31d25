export type OutgoingErrorKind =
  | 'host_not_allowed'
  | 'busy'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'redirected'
  | 'given_up'

/** A request that got no usable response. Holds the host and a system error code; never a path, query, header or body. */
export class OutgoingError extends Error {
  readonly kind: OutgoingErrorKind
  /** The kind in words that follow the name of a host. */
  readonly reason: string
  /** `false` only if no byte can have been sent, so that a code or refresh token is still unused. */
  readonly requestSent: boolean

  constructor(
    kind: OutgoingErrorKind,
    host: string,
    { requestSent, code }: { readonly requestSent: boolean; readonly code?: string },
  ) {
    super(`${host} ${REASONS[kind]}${code ? ` (${code})` : ''}.`)
    this.name = 'OutgoingError'
    this.kind = kind
    this.reason = REASONS[kind]
    this.requestSent = requestSent
  }
}

const REASONS = {
  host_not_allowed: 'may not be reached; an operator can allow it in GATEPASS_ALLOWED_HOSTS',
  busy: 'has too many requests waiting for it already',
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  too_large: 'sent a response that is too large',
  redirected: 'answered with a redirect, which is not followed',
  given_up: 'was sent nothing, because the request was no longer wanted',
} as const satisfies Record<OutgoingErrorKind, string>

/** The error code of the system or of undici, if it is a plain name. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined
}
