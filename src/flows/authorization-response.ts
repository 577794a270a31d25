import type { Broker } from '../broker.ts'
import type { FailureReason } from '../domain/authorization.ts'
import type { Provider } from '../providers/provider.ts'

/** The parameter, if it occurs exactly once (RFC 6749 section 3.1). */
export function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

/**
 * The response with its code in the parameter `code`. If the server uses another name, its own `code` is dropped. With
 * OAuth 1.0a the verifier is the code, and an answer without one is the user's refusal, for which RFC 5849 has no error.
 */
export function standardResponse(
  query: URLSearchParams,
  { codeParameter, oauth1 }: Pick<Provider, 'codeParameter' | 'oauth1'> = {},
): URLSearchParams {
  if (oauth1 === undefined) return codeParameter === undefined ? query : renamed(query, codeParameter, 'code')
  const standard = renamed(query, 'oauth_verifier', 'code')
  if (!standard.has('error') && (only(standard, 'code') === undefined || standard.has('denied')))
    standard.set('error', 'access_denied')
  return standard
}

/**
 * The response with its state in the parameter `state`. Some providers use another name (Crisp), which their entry says;
 * for a fixed callback the state is in the browser's cookie, and the token of the response must be the attempt's.
 */
export async function withStandardState(
  { store }: Pick<Broker, 'store'>,
  { providerUid, keptState }: { readonly providerUid: string; readonly keptState?: string | undefined },
  query: URLSearchParams,
): Promise<URLSearchParams> {
  if (query.has('state')) return query
  const { stateParameter, oauth1 } = (await store.providers.findByUid(providerUid))?.provider ?? {}
  if (oauth1?.fixedCallback !== true || keptState === undefined)
    return stateParameter === undefined ? query : renamed(query, stateParameter, 'state')
  return new URLSearchParams([...query, ['state', keptState]])
}

function renamed(query: URLSearchParams, from: string, to: string): URLSearchParams {
  const standard = new URLSearchParams(query)
  standard.delete(to)
  standard.delete(from)
  for (const value of query.getAll(from)) standard.append(to, value)
  return standard
}

/** What is known about a server's issuer. */
export interface KnownIssuer {
  /** Absent: unknown, so an `iss` cannot be compared. */
  readonly issuer?: string | undefined
  /** The server announces that every response has `iss`. */
  readonly announcesIss?: boolean | undefined
}

/**
 * Whether the response may come from this server (RFC 9207 section 2.4). An `iss` is compared even if the server did not
 * announce it, since Google and GitHub send it unannounced. For a server without a known issuer,
 * only the redirect URI distinguishes its responses.
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

/** Makes a value of a query safe for logs and messages. */
export function sanitized(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?').slice(0, 200)
}
