import { isRecord } from './is-record.ts'

/** Makes the function that checks the `Authorization` header of a request: a JWT of HS256 for `worker`, version `1`. */
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
    const [head = '', body = '', signature = '', ...more] = token.split('.')
    if (more.length > 0) return false
    const { alg } = parsed(head)
    const bytes = decoded(signature)
    if (alg !== 'HS256' || bytes === undefined) return false
    const isSigned = await crypto.subtle.verify(
      'HMAC',
      await key,
      bytes,
      new TextEncoder().encode(`${head}.${body}`),
    )
    return isSigned && isForWorker(parsed(body))
  }
}

/** `exp` and `nbf` are optional and checked when present. */
function isForWorker({ aud, ver, exp, nbf }: Readonly<Record<string, unknown>>): boolean {
  const now = Date.now() / 1000
  const isAddressed = aud === 'worker' || (Array.isArray(aud) && aud.includes('worker'))
  const isCurrent = exp === undefined || (typeof exp === 'number' && now < exp)
  const hasBegun = nbf === undefined || (typeof nbf === 'number' && nbf <= now + CLOCK_SKEW_SECONDS)
  return isAddressed && ver === '1' && isCurrent && hasBegun
}

const CLOCK_SKEW_SECONDS = 60

function parsed(part: string): Readonly<Record<string, unknown>> {
  const bytes = decoded(part)
  if (bytes === undefined) return {}
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

/** Base64url. */
function decoded(part: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(part)) return undefined
  try {
    const binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
