export type OutgoingErrorKind =
  | 'host_not_allowed'
  | 'busy'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'redirected'
  | 'given_up'

/** Holds the host and a system error code; never a path, a query, a header or a body. */
export class OutgoingError extends Error {
  readonly kind: OutgoingErrorKind
  /** `false` only when surely nothing was sent, so that a code or refresh token is still unused. */
  readonly requestSent: boolean

  constructor(kind: OutgoingErrorKind, host: string, options: { requestSent: boolean; code?: string }) {
    super(`${host} ${WHAT_HAPPENED[kind]}${options.code ? ` (${options.code})` : ''}.`)
    this.name = 'OutgoingError'
    this.kind = kind
    this.requestSent = options.requestSent
  }
}

const WHAT_HAPPENED = {
  host_not_allowed: 'may not be reached; an operator can allow it in GATEPASS_ALLOWED_HOSTS',
  busy: 'has too many requests waiting for it already',
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  too_large: 'answered with more than is read',
  redirected: 'answered with a redirect, which is not followed',
  given_up: 'was not asked, since the request was no longer wanted when it could be sent',
} as const satisfies Record<OutgoingErrorKind, string>

/** The system's or undici's name for what happened, where it is no more than a name. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined
}
