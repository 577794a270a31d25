import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { syncWorker } from '../worker.ts'

/** The shortest time between two readings of one worker's list after the worker said that it has changed. */
const MIN_INTERVAL_MS = 5_000

/** The readings that began less than the interval ago, by the worker's uid. */
const readings = new WeakMap<Broker, Map<string, { isRequestedAgain: boolean }>>()

/** Reads the worker's list of tools again: at once, or after the interval when a reading has just begun. */
export function readChangedCatalogue(broker: Broker, { uid }: Pick<Worker, 'uid'>): void {
  const ofBroker = readings.get(broker) ?? new Map()
  readings.set(broker, ofBroker)
  const known = ofBroker.get(uid)
  if (known !== undefined) {
    known.isRequestedAgain = true
    return
  }
  const reading = { isRequestedAgain: false }
  ofBroker.set(uid, reading)
  void read(broker, uid)
  setTimeout(() => {
    ofBroker.delete(uid)
    if (reading.isRequestedAgain) readChangedCatalogue(broker, { uid })
  }, MIN_INTERVAL_MS).unref()
}

async function read(broker: Broker, uid: string): Promise<void> {
  try {
    const worker = await broker.store.workers.findByUid(uid)
    if (worker?.enabled === true) await syncWorker(broker, worker)
  } catch (error) {
    broker.log.warn({ error }, 'the changed list of tools of a worker could not be read')
  }
}
