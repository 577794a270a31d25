import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/**
 * What the answer of `confirm_user` proves: whoever opens it was sent there by the caller's page, which had just
 * vouched for its user. Without it the browser that clicked could finish by itself, once somebody else has been made to
 * visit the caller's page. Not stored: a repeated confirmation gets the same answer.
 */
export interface Confirmations {
  /** For one visit of the caller's page. */
  proofOf(flowHash: string): string
  isProof(proof: string, flowHash: string): boolean
}

/** @param key 32 bytes of the installation's own, the same on all nodes. */
export function createConfirmations(key: Buffer): Confirmations {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'gatepass/confirmation', 32))
  const proofOf = (flowHash: string) => createHmac('sha256', own).update(flowHash).digest('base64url')
  return {
    proofOf,
    isProof(proof, flowHash) {
      const [given, expected] = [Buffer.from(proof), Buffer.from(proofOf(flowHash))]
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}
