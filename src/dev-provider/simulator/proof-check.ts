import { createHash, createPublicKey, verify } from 'node:crypto'
import { json } from './answers.ts'
import { RequestFault } from './check-request.ts'
import type { SimulatedRequest, SimulatedResponse } from './definition.ts'

const HASHES: Readonly<Record<string, string | null>> = {
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  EdDSA: null,
}
/** How far `iat` of a proof may be from now. */
const AGE_SECONDS = 60

type PublicJwk = Readonly<Record<string, string>>

/** What a proof must be bound to. */
interface Bound {
  /** The thumbprint of its key; absent: any key. */
  readonly thumbprint: string | undefined
  /** Absent at the authorization server's own endpoints. */
  readonly accessToken?: string
}

/** Checks proofs of possession (RFC 9449 section 4.3) at a server and an API that both demand a nonce. */
export class ProofCheck {
  readonly #algorithm: string
  readonly #now: () => number
  readonly #used = new Set<unknown>()
  /** That of the key of the latest proof without a fault. */
  thumbprint: string | undefined

  constructor(algorithm: string, now: () => number) {
    this.#algorithm = algorithm
    this.#now = now
  }

  /** Returns the demand for a nonce, if the proof has none. Throws `RequestFault` for any other fault of the proof. */
  demand(request: SimulatedRequest, bound: Bound): SimulatedResponse | undefined {
    const isApi = bound.accessToken !== undefined
    const claims = this.#claimsOf(request, bound)
    const nonce = `simulated-nonce-of-the-${isApi ? 'api' : 'server'}`
    if (claims.nonce === nonce) return undefined
    if (claims.nonce !== undefined) throw new RequestFault('has a proof with the nonce of another server')
    const { headers, ...refusal } = json(isApi ? 401 : 400, { error: 'use_dpop_nonce' })
    const challenge = isApi && { 'www-authenticate': 'DPoP error="use_dpop_nonce"' }
    return { ...refusal, headers: { ...headers, ...challenge, 'dpop-nonce': nonce } }
  }

  #claimsOf({ method, url, headers }: SimulatedRequest, { thumbprint, accessToken }: Bound) {
    const [header = '', payload = '', signature = ''] = (headers.dpop ?? '').split('.')
    const { typ, alg, jwk } = read(header)
    if (typ !== 'dpop+jwt' || alg !== this.#algorithm || typeof jwk !== 'object' || jwk === null)
      throw new RequestFault(`lacks a proof (the header DPoP) of the algorithm ${this.#algorithm}`)
    if (!isSignedBy(jwk as PublicJwk, this.#algorithm, `${header}.${payload}`, signature))
      throw new RequestFault('has a proof that its key has not signed')
    if (thumbprint !== undefined && thumbprintOf(jwk as PublicJwk) !== thumbprint)
      throw new RequestFault('has a proof of another key than that of the authorization request (dpop_jkt)')
    const claims = read(payload)
    const { htm, htu, iat, jti, ath } = claims
    if (htm !== method || htu !== url.origin + url.pathname)
      throw new RequestFault('has a proof for another method or URL')
    if (typeof iat !== 'number' || Math.abs(iat - this.#now()) > AGE_SECONDS)
      throw new RequestFault('has a proof that was not made now')
    if (typeof jti !== 'string' || this.#used.has(jti))
      throw new RequestFault('has a proof that was sent before')
    if (accessToken !== undefined && ath !== sha256(accessToken))
      throw new RequestFault('has a proof for another token')
    this.#used.add(jti)
    this.thumbprint = thumbprintOf(jwk as PublicJwk)
    return claims
  }
}

function read(part: string): Readonly<Record<string, unknown>> {
  return part === '' ? {} : JSON.parse(Buffer.from(part, 'base64url').toString())
}

function isSignedBy(jwk: PublicJwk, algorithm: string, data: string, signature: string): boolean {
  // a JWS signature with ECDSA is its two integers concatenated (RFC 7518 section 3.4), not DER
  const how = { key: createPublicKey({ key: { ...jwk }, format: 'jwk' }), dsaEncoding: 'ieee-p1363' } as const
  return verify(HASHES[algorithm] ?? null, Buffer.from(data), how, Buffer.from(signature, 'base64url'))
}

/** RFC 7638: the members that the kind of key requires, in the order of their names. */
function thumbprintOf({ crv, kty, x, y }: PublicJwk): string {
  return sha256(JSON.stringify({ crv, kty, x, y }))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
