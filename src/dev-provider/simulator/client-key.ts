import { createHmac, generateKeyPairSync, type KeyObject, verify } from 'node:crypto'

/** A client secret that is a key, and the check of the JWTs that it signs (RFC 7523 section 3). */
export interface ClientKey {
  readonly secret: string
  /** Whether the JWT is of this key and of the declared algorithm, and has not expired. */
  verifies(jwt: string, now: number): boolean
}

/** How an entry says that its client signs. */
export interface SigningClient {
  readonly method?: string | undefined
  readonly algorithm?: string | undefined
}

const SIGNING = ['private_key_jwt', 'client_secret_jwt', 'signed_client_secret']

/** The key of a client that signs; `undefined` for others, and for algorithms that the simulator does not know. */
export function clientKeyFor({ method = '', algorithm }: SigningClient): ClientKey | undefined {
  if (!SIGNING.includes(method)) return undefined
  const used = algorithm ?? (method === 'client_secret_jwt' ? 'HS256' : 'RS256')
  if (used === 'HS256') {
    const secret = 'simulated-secret-of-32-bytes-or-more'
    const mac = (data: string) => createHmac('sha256', secret).update(data).digest('base64url')
    return { secret, verifies: (jwt, now) => isGood(jwt, used, now, (data, mark) => mac(data) === mark) }
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
    verifies: (jwt, now) => isGood(jwt, used, now, (data, mark) => isSignedBy(pair.publicKey, data, mark)),
  }
}

function isSignedBy(key: KeyObject, data: string, signature: string): boolean {
  // JWS signatures by elliptic curves are the two numbers side by side (RFC 7518 section 3.4)
  const how = { key, dsaEncoding: 'ieee-p1363' } as const
  return verify('sha256', Buffer.from(data), how, Buffer.from(signature, 'base64url'))
}

function isGood(
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
