import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import type { ProofKey } from '../domain/connection.ts'

// DPoP (RFC 9449): tokens that are of use only together with a key, which each connection has for itself.

/** Those whose keys are made in less than a millisecond: a key is made at each click. */
export const DPOP_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA'] as const
export type DpopAlgorithm = (typeof DPOP_ALGORITHMS)[number]

export interface DpopSettings {
  readonly algorithm: DpopAlgorithm
  /** Tokens that the server does not bind to the key (`token_type` Bearer) are accepted, too. */
  readonly optional?: true
}

/** Template of the `Authorization` value with a token that is bound to a key (RFC 9449 section 7.1). */
export const BOUND_TOKEN = 'DPoP {{access_token}}'

const CURVES = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521', EdDSA: 'Ed25519' } as const

export function newProofKey(algorithm: DpopAlgorithm): ProofKey {
  const { privateKey } =
    algorithm === 'EdDSA'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: CURVES[algorithm] })
  const { kty = '', crv = '', x = '', y, d = '' } = privateKey.export({ format: 'jwk' })
  return { alg: algorithm, kty, crv, x, ...(y !== undefined && { y }), d }
}

/** The public part of the key, which each proof carries. */
export function publicJwkOf({ kty, crv, x, y }: ProofKey) {
  return { kty, crv, x, ...(y !== undefined && { y }) }
}

/** The value of `dpop_jkt` (RFC 9449 section 10). */
export function thumbprintOf(key: ProofKey): Promise<string> {
  return calculateJwkThumbprint(publicJwkOf(key))
}

/** The key of an imported connection; `undefined` if the value is none that `newProofKey` could have made. */
export function parseProofKey(value: Readonly<Record<string, unknown>>): ProofKey | undefined {
  const { alg, kty, crv, x, y, d } = value
  const algorithm = DPOP_ALGORITHMS.find((known) => known === alg)
  if (algorithm === undefined) return undefined
  const curve = CURVES[algorithm]
  if (crv !== curve) return undefined
  if (typeof kty !== 'string' || typeof x !== 'string' || typeof d !== 'string') return undefined
  const key = { alg: algorithm, kty, crv: curve, x, ...(typeof y === 'string' && { y }), d }
  try {
    createPrivateKey({ key, format: 'jwk' })
    return key
  } catch {
    return undefined
  }
}

/**
 * Whether the tokens may be used: bound ones where the entry has `dpop`, and others where it has not, or has it as
 * optional. After a change of `dpop`, or an import without the key, they may not be.
 */
export function fitsDpop(
  { dpop }: { readonly dpop?: DpopSettings | undefined },
  { dpopKey }: { readonly dpopKey?: ProofKey | undefined },
): boolean {
  return dpopKey === undefined ? dpop === undefined || dpop.optional === true : dpop !== undefined
}
