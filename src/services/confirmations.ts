import { createHmac, hkdfSync } from 'node:crypto'
import { isSameSecret } from '../domain/ids.ts'

/**
 * Proofs in the `next_uri` of `confirm_user`: the browser that opens it was sent there by the caller's page, which had
 * just confirmed its user. Without the proof, the browser that began the flow could finish it alone after luring
 * another user to the caller's page. Proofs are computed, not stored: a repeated confirmation gets the same one.
 */
export interface Confirmations {
  /** The proof for one visit of the caller's page. */
  proofOf(flowHash: string): string
  isProof(proof: string, flowHash: string): boolean
}

/** `key`: 32 bytes of this installation, the same on all nodes. */
export function createConfirmations(key: Buffer): Confirmations {
  const own = Buffer.from(hkdfSync('sha256', key, '', 'gatepass/confirmation', 32))
  const proofOf = (flowHash: string) => createHmac('sha256', own).update(flowHash).digest('base64url')
  return {
    proofOf,
    isProof: (proof, flowHash) => isSameSecret(proof, proofOf(flowHash)),
  }
}
