import type { Broker, OidcVerifier } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { carriedContext } from '../../store/protection.ts'
import type { SealingContext } from '../../store/seal.ts'
import { openCarried } from '../carried-seal.ts'
import { verifierName } from '../user-session.ts'

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
  const proven: Proven = { browserHash: sha256(browserId), verifier: verifierName(verifier), expiresAt }
  const value = broker.sealer.seal(JSON.stringify(proven), proofContext(authorization))
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
  const proven = openCarried<Proven>(broker.sealer, proof, proofContext(authorization))
  if (proven === undefined) return false
  const { browserHash, verifier: by, expiresAt } = proven
  return browserHash === sha256(browserId) && by === verifierName(verifier) && broker.now() < expiresAt
}

function proofContext({ id, projectId, userId }: Authorization): SealingContext {
  return carriedContext('proof', { rowId: id, projectId, userId })
}
