import type { Broker } from '../broker.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Worker } from '../domain/worker.ts'
import type { SealedPlace } from '../store/seal.ts'

type Place = Pick<Worker, 'uid' | 'projectId'>

/** The worker's credentials; empty where it needs none. */
export function openWorkerSecret(broker: Broker, worker: Worker): string {
  return broker.sealer.open(worker.secret, place(worker))
}

export function sealWorkerSecret(broker: Broker, worker: Place, secret: string): Sealed {
  return broker.sealer.seal(secret, place(worker))
}

function place({ uid, projectId }: Place): SealedPlace {
  return { table: 'workers', column: 'secret', rowId: uid, projectId }
}
