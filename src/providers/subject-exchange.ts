import type { Provider, SubjectTokenKind } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { saying } from './provider-words.ts'
import { renderTemplate, type TemplateValues } from './template.ts'

// Token exchange as a client (RFC 8693): a token of another entry's connection is exchanged for one of this entry.

/** The `urn` of each kind of token (RFC 8693 section 3). */
const TYPES: Readonly<Record<SubjectTokenKind, string>> = {
  access_token: 'urn:ietf:params:oauth:token-type:access_token',
  id_token: 'urn:ietf:params:oauth:token-type:id_token',
}

/** The parameters that say which token is exchanged, and for what; none for other grants. */
export function exchangeParams({ grant }: Provider, subjectToken = ''): Record<string, string> {
  if (grant?.type !== 'token_exchange') return {}
  return {
    subject_token: subjectToken,
    subject_token_type: TYPES[grant.subject.token],
    requested_token_type: TYPES.access_token,
  }
}

/** The `issued_token_type` that the answer must have; `undefined` for other grants. `params` may request another type. */
export function issuedTokenType(provider: Provider, values: TemplateValues): string | undefined {
  if (provider.grant?.type !== 'token_exchange') return undefined
  const { requested_token_type: own = '' } = tokenRequestIn(provider).params
  return renderTemplate(own, values) || TYPES.access_token
}

/**
 * The refusal of an exchange: `invalid_request` means that the subject token is not accepted (RFC 8693 section 2.2.2), as
 * `invalid_grant` does elsewhere.
 */
export function refusalOfSubject(error: unknown, { grant, displayName }: Provider): unknown {
  if (grant?.type !== 'token_exchange' || !(error instanceof ProviderRefusal)) return error
  if (error.code !== 'invalid_request' && error.reason !== 'invalid_grant') return error
  const { code, words, outcome } = error
  return new ProviderRefusal(
    'invalid_grant',
    `${displayName} did not accept the token of "${grant.subject.connection}" that was exchanged (${code}).${saying(displayName, words)}`,
    { cause: error, code, words, outcome },
  )
}
