import { createHmac, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'

/** A key that is the client secret, and the check of the JWTs that the key signs (RFC 7523 section 3). */
export interface ClientKey {
  readonly secret: string
  /** Whether the JWT is signed with this key and the declared algorithm, and unexpired. `now`: seconds since 1970. */
  verifies(jwt: string, now: number): boolean
}

/** The client authentication of an entry, and the signature algorithm (RFC 7518) if the entry sets one. */
export interface SigningClient {
  readonly method?: string | undefined
  readonly algorithm?: string | undefined
}

/** The authentication methods whose client signs a JWT. */
const SIGNING_METHODS = ['private_key_jwt', 'client_secret_jwt', 'signed_client_secret']

/** The key of a client that signs; `undefined` for others, and for algorithms that the simulator does not know. */
export function clientKeyFor({ method = '', algorithm }: SigningClient): ClientKey | undefined {
  if (!SIGNING_METHODS.includes(method)) return undefined
  const used = algorithm ?? (method === 'client_secret_jwt' ? 'HS256' : 'RS256')
  if (used === 'HS256') {
    const secret = 'simulated-secret-of-32-bytes-or-more'
    const mac = (data: string) => createHmac('sha256', secret).update(data).digest('base64url')
    return {
      secret,
      verifies: (jwt, now) => isValid(jwt, used, now, (data, signature) => mac(data) === signature),
    }
  }
  const pair =
    used === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : used === 'RS256'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : undefined
  if (pair === undefined) return undefined
  return {
    secret: String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
    verifies: (jwt, now) =>
      isValid(jwt, used, now, (data, signature) => isSignedBy(pair.publicKey, data, signature)),
  }
}

function isSignedBy(key: KeyObject, data: string, signature: string): boolean {
  // a JWS signature with ECDSA is its two integers concatenated (RFC 7518 section 3.4), not DER
  const how = { key, dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', Buffer.from(data), how, Buffer.from(signature, 'base64url'))
}

function isValid(
  jwt: string,
  algorithm: string,
  now: number,
  isSigned: (data: string, signature: string) => boolean,
): boolean {
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  if (!isSigned(`${header}.${claims}`, signature)) return false
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
  return read(header).alg === algorithm && read(claims).exp > now
}
