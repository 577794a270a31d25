import type { Broker } from '../broker.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Worker } from '../domain/worker.ts'
import type { SealedPlace } from '../store/seal.ts'

type Place = Pick<Worker, 'uid' | 'projectId'>

/** A cache by the row's object. The worker cache makes a new object for a changed row, so a replaced secret is never used. */
const opened = new WeakMap<Worker, string>()

/** The worker's credentials; empty if it needs none. They are decrypted once for each row that was read. */
export function openWorkerSecret(broker: Broker, worker: Worker): string {
  const known = opened.get(worker)
  if (known !== undefined) return known
  const secret = broker.sealer.open(worker.secret, place(worker))
  opened.set(worker, secret)
  return secret
}

export function sealWorkerSecret(broker: Broker, worker: Place, secret: string): Sealed {
  return broker.sealer.seal(secret, place(worker))
}

function place({ uid, projectId }: Place): SealedPlace {
  return { table: 'workers', column: 'secret', rowId: uid, projectId }
}
