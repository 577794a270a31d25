import type { Broker } from '../broker.ts'
import { newId } from '../domain/ids.ts'

// The uid of an entry that is not added yet. The redirect URI contains it, so a reserved uid lets an administrator register
// the redirect URI at the provider first. Nothing is stored: the reservation is `uid.until.proof`, and the proof covers the
// project, so that no request can choose a uid.

/** Registering a client may take days, because some providers review it. */
export const RESERVED_DAYS = 7

/** Makes a reservation for an entry of the project. */
export function reserveProvider({ confirmations, now }: Broker, projectId: string): string {
  const uid = newId('prov')
  const until = String(now() + RESERVED_DAYS * 86_400)
  return [uid, until, confirmations.proofOf(subject(projectId, uid, until))].join('.')
}

/** The uid of a reservation; `undefined` if this installation did not make it for the project, or it has expired. */
export function reservedUid(
  { confirmations, now }: Broker,
  projectId: string,
  reservation: string,
): string | undefined {
  const [uid = '', until = '', proof = ''] = reservation.split('.')
  if (!confirmations.isProof(proof, subject(projectId, uid, until))) return undefined
  return Number(until) > now() ? uid : undefined
}

/** The subject of the proof. It contains brackets, which no flow hash has, so the two cannot be confused. */
function subject(projectId: string, uid: string, until: string): string {
  return JSON.stringify(['provider uid', projectId, uid, until])
}
