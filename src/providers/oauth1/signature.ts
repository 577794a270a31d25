import { createHmac, createSign, randomBytes } from 'node:crypto'
import type { EpochSeconds } from '../../domain/clock.ts'

// The signature of a request and its `Authorization` header (RFC 5849 sections 3.4 and 3.5.1).

/** With `RSA-SHA1` the client secret is an RSA key in PEM. */
export const SIGNATURE_METHODS = ['HMAC-SHA1', 'HMAC-SHA256', 'RSA-SHA1', 'PLAINTEXT'] as const
export type SignatureMethod = (typeof SIGNATURE_METHODS)[number]

/** Who signs. Without a token: the client alone, for temporary credentials. */
export interface SigningKeys {
  readonly signatureMethod: SignatureMethod
  readonly realm?: string | undefined
  readonly clientId: string
  readonly clientSecret: string
  readonly token?: string | undefined
  readonly tokenSecret?: string | undefined
}

export interface RequestToSign {
  readonly method: string
  readonly url: URL
  /** Path and query as they are sent, if not those of `url`. */
  readonly path?: string
  /** A body of the type `application/x-www-form-urlencoded`; bodies of other types are not signed. */
  readonly form?: Uint8Array | undefined
  /** `oauth_callback` or `oauth_verifier`. */
  readonly protocol?: Readonly<Record<string, string>>
}

/** The value of `Authorization` for one request: a request that is sent again needs another one, since its nonce is used. */
export function signedAuthorization(
  keys: SigningKeys,
  request: RequestToSign,
  now: EpochSeconds,
  nonce = randomBytes(16).toString('hex'),
): string {
  const { signatureMethod, realm, clientId, token } = keys
  const params: Readonly<Record<string, string>> = {
    oauth_consumer_key: clientId,
    ...(token !== undefined && { oauth_token: token }),
    oauth_signature_method: signatureMethod,
    oauth_timestamp: String(Math.floor(now)),
    oauth_nonce: nonce,
    oauth_version: '1.0',
    ...request.protocol,
  }
  const signed = { ...params, oauth_signature: signatureOf(keys, baseStringOf(request, params)) }
  const members = Object.entries(signed).map(([name, value]) => `${name}="${percentEncode(value)}"`)
  return `OAuth ${[...(realm === undefined ? [] : [`realm="${realm}"`]), ...members].join(', ')}`
}

/** RFC 5849 section 3.6: every byte of UTF-8 but letters, digits, `-`, `.`, `_` and `~`. */
export function percentEncode(text: string): string {
  return percentEncodeBytes(Buffer.from(text).toString('latin1'))
}

/** RFC 5849 section 3.4.1.1, without `oauth_signature` and `realm`. */
export function baseStringOf(
  { method, url, path = `${url.pathname}${url.search}`, form }: RequestToSign,
  params: Readonly<Record<string, string>>,
): string {
  const at = path.indexOf('?')
  const [before, query] = at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at + 1)]
  const pairs = [
    ...pairsOf(query),
    ...pairsOf(form === undefined ? '' : Buffer.from(form).toString('latin1')),
    ...Object.entries(params).map(([name, value]) => [percentEncode(name), percentEncode(value)] as const),
  ].sort(([name, value], [otherName, other]) => compare(name, otherName) || compare(value, other))
  // `url.host` is in lower case and has no port that is the scheme's default
  const uri = `${url.protocol}//${url.host}${before === '' ? '/' : before}`
  const normalized = pairs.map(([name, value]) => `${name}=${value}`).join('&')
  return [method.toUpperCase(), uri, normalized].map(percentEncode).join('&')
}

/** RFC 5849 sections 3.4.2 to 3.4.4; `HMAC-SHA256` is the same with the other hash. */
export function signatureOf(
  { signatureMethod, clientSecret, tokenSecret = '' }: SigningKeys,
  baseString: string,
): string {
  if (signatureMethod === 'RSA-SHA1')
    return createSign('RSA-SHA1').update(baseString).sign(clientSecret, 'base64')
  const key = `${percentEncode(clientSecret)}&${percentEncode(tokenSecret)}`
  if (signatureMethod === 'PLAINTEXT') return key
  const hash = signatureMethod === 'HMAC-SHA1' ? 'sha1' : 'sha256'
  return createHmac(hash, key).update(baseString).digest('base64')
}

/** The parameters of a query or form, decoded and encoded again byte by byte: their bytes need not be UTF-8. */
function pairsOf(text: string): (readonly [name: string, value: string])[] {
  return text
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const at = part.indexOf('=')
      const [name, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
      return [percentEncodeBytes(decoded(name)), percentEncodeBytes(decoded(value))] as const
    })
}

/** Each character of the result is a byte. */
function decoded(part: string): string {
  return part
    .replaceAll('+', ' ')
    .replaceAll(/%([\dA-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function percentEncodeBytes(bytes: string): string {
  return bytes.replaceAll(
    /[^\w.~-]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}

/** Of ASCII, so the order of code units is that of bytes. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
