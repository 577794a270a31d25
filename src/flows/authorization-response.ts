import type { FailureReason } from '../domain/authorization.ts'

/** The parameter, if it occurs exactly once (RFC 6749 section 3.1). */
export function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

/** The response with its code as `code`. Where the server has another name for it, a `code` is none. */
export function standardResponse(query: URLSearchParams, codeParameter: string | undefined): URLSearchParams {
  if (codeParameter === undefined) return query
  const standard = new URLSearchParams(query)
  standard.delete('code')
  standard.delete(codeParameter)
  for (const code of query.getAll(codeParameter)) standard.append('code', code)
  return standard
}

/** The known issuer of a server. */
export interface KnownIssuer {
  /** Absent: unknown, so an `iss` cannot be compared. */
  readonly issuer?: string | undefined
  /** The server announces that every response has `iss`. */
  readonly announcesIss?: boolean | undefined
}

/**
 * Whether the response may come from that server (RFC 9207 section 2.4). An `iss` is compared even if the server did not
 * announce it, since Google and GitHub send it unannounced. For a server without a known issuer, only its own redirect
 * URI distinguishes its responses.
 */
export function mayComeFrom(query: URLSearchParams, { issuer, announcesIss = false }: KnownIssuer): boolean {
  if (issuer === undefined) return true
  return query.has('iss') ? only(query, 'iss') === issuer : !announcesIss
}

/** Our reason for an `error` of the provider (RFC 6749 section 4.1.2.1, OpenID Connect Core section 3.1.2.6). */
export function reasonOf(error: string): FailureReason {
  switch (error) {
    case 'access_denied':
    case 'user_denied':
    case 'consent_required':
    case 'interaction_required':
    case 'login_required':
    case 'account_selection_required':
      return 'access_denied'
    case 'invalid_scope':
      return 'invalid_scope'
    case 'unauthorized_client':
    case 'invalid_client':
      return 'invalid_client'
    case 'server_error':
    case 'temporarily_unavailable':
      return 'provider_unavailable'
    default:
      return 'provider_refused'
  }
}

/** A query's value, made safe for logs and messages. */
export function sanitized(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 200)
}
