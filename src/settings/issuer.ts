import { isConfidential } from '../domain/confidential-url.ts'
import type { SettingName } from './names.ts'
import type { AddFault } from './read.ts'

/**
 * Parses an issuer's URL: https, without query and fragment (RFC 8414 section 2), and without credentials. `undefined` for any
 * other text. Plain http is accepted on loopback hosts, and everywhere in development.
 */
export function parseIssuer(text: string, development: boolean): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url === undefined ||
    !isConfidential(url, development) ||
    url.username !== '' ||
    url.password !== '' ||
    /[?#]/.test(text)
    ? undefined
    : url
}

/** Reads the scopes of a login by OpenID Connect. By default they include `email` if the claim `email` is needed. */
export function readLoginScopes(
  text: string | undefined,
  name: SettingName,
  { needsEmail }: { readonly needsEmail: boolean },
  addFault: AddFault,
): readonly string[] {
  const scopes = (text ?? (needsEmail ? 'openid email' : 'openid')).split(/\s+/)
  if (!scopes.includes('openid') || scopes.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
    addFault(name, 'must be scopes separated by spaces, `openid` among them.')
  return scopes
}
