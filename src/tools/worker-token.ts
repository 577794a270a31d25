import { createHmac, randomUUID } from 'node:crypto'

/** OXP allows up to 15 minutes. */
const TOKEN_SECONDS = 60

interface WorkerClaims {
  readonly ver?: string
  /** The public URL of this Gatepass. */
  readonly iss: string
  readonly aud?: string | undefined
}

/** The protected header, with which all tokens begin. */
export const WORKER_TOKEN_HEADER = base64url({ alg: 'HS256', typ: 'JWT' })

/**
 * Makes a JWT (RFC 7519) for one request to a worker. By its `jti` a worker recognises a replayed request, also one that
 * was first sent to another worker with the same secret. Signing does not use jose, because jose signs in a thread, and
 * handing a token to a thread costs ten times as much as the HMAC.
 */
export function signWorkerToken(secret: string, claims: WorkerClaims): string {
  if (secret === '') throw new Error('a worker without a secret gets no token') // anyone can sign with an empty key
  const iat = Math.floor(Date.now() / 1000)
  const signed = `${WORKER_TOKEN_HEADER}.${base64url({ ...claims, jti: randomUUID(), iat, exp: iat + TOKEN_SECONDS })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
