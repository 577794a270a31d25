import { isConfidential } from '../domain/confidential-url.ts'

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
