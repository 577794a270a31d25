import type { Provider } from '../provider.ts'
import type { EndpointPatterns } from './endpoint-patterns.ts'

/** A provider that the broker ships with, under the id that callers and tools use for it. */
export interface BuiltInProvider {
  readonly id: string
  /** What holds in every use: nothing in it asks for a refresh token. */
  readonly provider: Provider
  /** What must be asked for besides so that a refresh token comes. Absent: it comes unasked, or never. */
  readonly offlineAccess?: OfflineAccess
  /**
   * Its endpoints by their role, other spellings and former ones included. `{name}` is a variable. An endpoint is never
   * removed: entries that have it would become another provider's.
   */
  readonly endpoints: EndpointPatterns
}

export interface OfflineAccess {
  readonly params?: Readonly<Record<string, string>>
  readonly scopes?: readonly string[]
}

export const FORM = 'application/x-www-form-urlencoded'
export const JSON_TYPE = 'application/json'

/** The parameter that carries the scopes asked for together with those already granted. */
export const SCOPES_TEMPLATE = '{{scopes}} {{existing_scopes}}'

/** Where most servers keep the account's id and name, OpenID Connect's claims first. */
export const USUAL_ACCOUNT: Provider['account'] = {
  id: ['$.sub', '$.id', '$.user_id'],
  name: ['$.email', '$.preferred_username', '$.login', '$.username', '$.name'],
}

/** What a token's introspection says of its life and scope (RFC 7662 section 2.2). */
export const INTROSPECTED = {
  responseMap: { expires_in: '$.exp', scope: '$.scope' },
  expirationFormat: 'absolute_unix_timestamp',
} as const
