import { type Jwt, parseJwt } from '../jwt.ts'

/** Makes a function that checks an `Authorization` header: a JWT by HS256 with the audience `worker` and `ver` "1". */
export function tokenVerifier(secret: string): (header: string | null) => Promise<boolean> {
  const key = crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['verify'],
  )
  return async (header) => {
    const [, token = ''] = /^Bearer +(\S+)$/i.exec(header ?? '') ?? []
    const jwt = parseJwt(token)
    if (jwt?.header.alg !== 'HS256') return false
    const isSigned = await crypto.subtle.verify('HMAC', await key, jwt.signature, jwt.signed)
    return isSigned && isForWorker(jwt.claims)
  }
}

/** Checks the claims. `exp` and `nbf` are optional. */
function isForWorker({ aud, ver, exp, nbf }: Jwt['claims']): boolean {
  const now = Date.now() / 1000
  const isAddressed = aud === 'worker' || (Array.isArray(aud) && aud.includes('worker'))
  const isCurrent = exp === undefined || (typeof exp === 'number' && now < exp)
  const hasBegun = nbf === undefined || (typeof nbf === 'number' && nbf <= now + CLOCK_SKEW_SECONDS)
  return isAddressed && ver === '1' && isCurrent && hasBegun
}

const CLOCK_SKEW_SECONDS = 60
