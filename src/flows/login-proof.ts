import type { Broker, OidcVerifier } from '../broker.ts'
import type { Authorization } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { sha256 } from '../domain/ids.ts'
import type { Sealed } from '../domain/sealed.ts'
import { type SealedPlace, UnsealError } from '../store/seal.ts'

/** How long a login is valid for further steps and clicks of the same authorization. */
const PROOF_SECONDS = 600

/** A sealed cookie which proves that the right user has logged in, for one authorization, browser and issuer. */
export interface LoginProof {
  readonly value: Sealed
  readonly seconds: number
}

interface Proven {
  readonly browserHash: string
  readonly verifier: string
  readonly expiresAt: EpochSeconds
}

/** Makes the proof. Called after the login has identified the authorization's user. */
export function proveLogin(
  broker: Broker,
  verifier: OidcVerifier,
  authorization: Authorization,
  browserId: string,
): LoginProof {
  const expiresAt = Math.min(broker.now() + PROOF_SECONDS, authorization.expiresAt)
  const proven: Proven = { browserHash: sha256(browserId), verifier: verifierHash(verifier), expiresAt }
  const value = broker.sealer.seal(JSON.stringify(proven), proofPlace(authorization))
  return { value, seconds: Math.max(expiresAt - broker.now(), 0) }
}

/** Whether the browser has a valid proof for the authorization. */
export function hasLoggedIn(
  broker: Broker,
  verifier: OidcVerifier,
  authorization: Authorization,
  browserId: string,
  proof: string | undefined,
): boolean {
  if (proof === undefined) return false
  try {
    // only proveLogin seals a proof, in this shape
    const opened = broker.sealer.open(proof as Sealed, proofPlace(authorization))
    const { browserHash, verifier: by, expiresAt } = JSON.parse(opened) as Proven
    return browserHash === sha256(browserId) && by === verifierHash(verifier) && broker.now() < expiresAt
  } catch (error) {
    if (error instanceof UnsealError) return false
    throw error
  }
}

/** Binds a proof to the settings: it is invalid when they change. */
function verifierHash({ issuer, client, claim }: OidcVerifier): string {
  return sha256(JSON.stringify([issuer, client.clientId, claim]))
}

function proofPlace({ id, projectId, userId }: Authorization): SealedPlace {
  return { table: 'logins', column: 'proof', rowId: id, projectId, userId }
}
