import { fromBase64Url } from './base64-url.ts'
import { isRecord } from './is-record.ts'

/** A JSON Web Token in its compact form (RFC 7519), not yet verified. */
export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly signature: Uint8Array<ArrayBuffer>
  /** The bytes that were signed: the header and the claims, as they were sent. */
  readonly signed: Uint8Array<ArrayBuffer>
}

/**
 * Parses a JWT without verifying it. Returns `undefined` for a text that is no JWT, and for a JWT with `crit` in its
 * header: a recipient must refuse extensions that it does not support, and none is supported here (RFC 7515 section
 * 4.1.11).
 */
export function parseJwt(token: string): Jwt | undefined {
  const [head = '', payload = '', signature = '', ...more] = token.split('.')
  if (signature === '' || more.length > 0) return undefined
  try {
    const decode = (part: string): unknown => JSON.parse(new TextDecoder().decode(fromBase64Url(part)))
    const [header, claims] = [decode(head), decode(payload)]
    if (!isRecord(header) || !isRecord(claims) || 'crit' in header) return undefined
    const signed = new TextEncoder().encode(`${head}.${payload}`)
    return { header, claims, signature: fromBase64Url(signature), signed }
  } catch {
    return undefined
  }
}
