import { fromBase64Url } from './base64-url.ts'
import { isRecord } from './is-record.ts'

/** A JSON Web Token in its compact form (RFC 7519), not yet verified. */
export interface Jwt {
  readonly header: Readonly<Record<string, unknown>>
  readonly claims: Readonly<Record<string, unknown>>
  readonly signature: Uint8Array<ArrayBuffer>
  /** The bytes that the signature is of. */
  readonly signed: Uint8Array<ArrayBuffer>
}

/** Returns `undefined` for a text that is no JWT. */
export function parseJwt(token: string): Jwt | undefined {
  const [head = '', payload = '', signature = '', ...more] = token.split('.')
  if (signature === '' || more.length > 0) return undefined
  try {
    const decode = (part: string): unknown => JSON.parse(new TextDecoder().decode(fromBase64Url(part)))
    const [header, claims] = [decode(head), decode(payload)]
    if (!isRecord(header) || !isRecord(claims)) return undefined
    const signed = new TextEncoder().encode(`${head}.${payload}`)
    return { header, claims, signature: fromBase64Url(signature), signed }
  } catch {
    return undefined
  }
}
