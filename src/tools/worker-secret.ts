import type { Broker } from '../broker.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Worker } from '../domain/worker.ts'
import { sealingContext } from '../store/protected-tables.ts'

/** A cache by the row's object. The worker cache makes a new object for a changed row, so a replaced secret is never used. */
const opened = new WeakMap<Worker, string>()

/** The worker's credentials; empty if it needs none. They are decrypted once for each row that was read. */
export function openWorkerSecret(broker: Broker, worker: Worker): string {
  const known = opened.get(worker)
  if (known !== undefined) return known
  const secret = broker.sealer.open(worker.secret, sealingContext('workers', 'secret', worker))
  opened.set(worker, secret)
  return secret
}

export function sealWorkerSecret(
  broker: Broker,
  worker: Pick<Worker, 'uid' | 'projectId'>,
  secret: string,
): Sealed {
  return broker.sealer.seal(secret, sealingContext('workers', 'secret', worker))
}
