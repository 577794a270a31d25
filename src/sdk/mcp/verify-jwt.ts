// Verifies the JSON Web Tokens of callers with WebCrypto.

import type { Jwt } from '../jwt.ts'

/** The tolerated difference between the clocks of the issuer and this machine. */
const LEEWAY_SECONDS = 30

/**
 * Whether the token is not expired (`exp`) and already valid (`nbf`); an absent claim sets no limit. `nowMs`: Unix
 * time.
 */
export function isCurrent({ exp, nbf }: Jwt['claims'], nowMs: number): boolean {
  const seconds = nowMs / 1000
  if (exp !== undefined && !(typeof exp === 'number' && exp + LEEWAY_SECONDS > seconds)) return false
  return nbf === undefined || (typeof nbf === 'number' && nbf - LEEWAY_SECONDS <= seconds)
}

export function hasAudience({ aud }: Jwt['claims'], audience: string): boolean {
  return Array.isArray(aud) ? aud.includes(audience) : aud === audience
}

const ALGORITHMS: Readonly<Record<string, { readonly key: AlgorithmLike; readonly verify?: AlgorithmLike }>> =
  {
    RS256: { key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' } },
    RS384: { key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-384' } },
    RS512: { key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' } },
    PS256: { key: { name: 'RSA-PSS', hash: 'SHA-256' }, verify: { name: 'RSA-PSS', saltLength: 32 } },
    PS384: { key: { name: 'RSA-PSS', hash: 'SHA-384' }, verify: { name: 'RSA-PSS', saltLength: 48 } },
    PS512: { key: { name: 'RSA-PSS', hash: 'SHA-512' }, verify: { name: 'RSA-PSS', saltLength: 64 } },
    ES256: { key: { name: 'ECDSA', namedCurve: 'P-256' }, verify: { name: 'ECDSA', hash: 'SHA-256' } },
    ES384: { key: { name: 'ECDSA', namedCurve: 'P-384' }, verify: { name: 'ECDSA', hash: 'SHA-384' } },
    ES512: { key: { name: 'ECDSA', namedCurve: 'P-521' }, verify: { name: 'ECDSA', hash: 'SHA-512' } },
    EdDSA: { key: { name: 'Ed25519' } },
  }

type AlgorithmLike = RsaHashedImportParams | EcKeyImportParams | RsaPssParams | EcdsaParams | Algorithm

/**
 * Whether one of the keys signed the token. Only algorithms with public keys are accepted, not HMAC with a shared
 * secret.
 */
export async function isSignedByKey(
  { header: { alg, kid }, signature, signed }: Jwt,
  keys: readonly JsonWebKey[],
): Promise<boolean> {
  const algorithm = typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg] : undefined
  if (algorithm === undefined) return false
  for (const jwk of keys) {
    if (kid !== undefined && 'kid' in jwk && jwk.kid !== kid) continue
    if ((jwk.alg !== undefined && jwk.alg !== alg) || (jwk.use !== undefined && jwk.use !== 'sig')) continue
    const key = await crypto.subtle
      .importKey('jwk', jwk, algorithm.key, false, ['verify'])
      .catch(() => undefined) // the key is not one for this algorithm
    if (key === undefined) continue
    if (await crypto.subtle.verify(algorithm.verify ?? algorithm.key, key, signature, signed)) return true
  }
  return false
}
