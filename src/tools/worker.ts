import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { didYouMean } from '../domain/nearest.ts'
import type { Worker, WorkerType } from '../domain/worker.ts'
import { NO_NEEDS } from '../domain/worker-needs.ts'
import { checkReachable } from '../egress/reachable-url.ts'
import { changeRow } from '../services/change-row.ts'
import { acceptAtRegistration, endFirstUse } from './catalogue/acceptance.ts'
import { type SyncOptions, syncCatalogue } from './catalogue/sync-catalogue.ts'
import { WorkerFault } from './worker-fault.ts'
import { sealWorkerSecret } from './worker-secret.ts'
import type { WorkerSettings } from './worker-settings.ts'

/** The interval at which the catalogues of all workers are read. */
export const SYNC_SECONDS = 30

/**
 * Registers a worker and reads its catalogue once. If the catalogue cannot be read, the worker is registered with the
 * reason (`syncError`), and the catalogue is read again later. Throws `already_exists`, `host_not_allowed`.
 */
export async function registerWorker(
  broker: Broker,
  projectId: string,
  settings: WorkerSettings,
): Promise<Worker> {
  const worker = newWorker(broker, projectId, settings)
  const audit = broker.audit.of(projectId, { action: 'worker.added', subject: worker.id })
  if ((await broker.store.workers.add(worker, audit)) === undefined)
    throw new BrokerError(
      'already_exists',
      `There is a worker "${settings.id}" already. PATCH /v1/workers/${settings.id} changes it.`,
    )
  if (!worker.enabled) return worker
  const synced = await syncWorker(broker, worker)
  // without a catalogue there is nothing to accept; an administrator accepts what a later catalogue names
  if (synced.syncedAt === undefined) return synced
  await acceptAtRegistration(broker, synced)
  return (await broker.store.workers.findByUid(worker.uid)) ?? synced
}

/** A worker with these settings that is not stored yet. Throws `host_not_allowed`, `invalid_request`. */
export function newWorker(
  broker: Broker,
  projectId: string,
  { secret, ...settings }: WorkerSettings,
): Worker {
  checkUri(broker, settings.type, settings.uri)
  const now = broker.now()
  const uid = newId('work')
  return {
    ...settings,
    uid,
    projectId,
    secret: sealWorkerSecret(broker, { uid, projectId }, secret),
    accepted: { ...NO_NEEDS, ...(!broker.backends.of(settings).isInProcess && { isFirstUse: true }) },
    createdAt: now,
    updatedAt: now,
  }
}

/** A change of a worker's settings: members that are absent do not change. */
export type WorkerChange = Partial<Omit<WorkerSettings, 'id' | 'type'>>

type ToChange = (current: Worker) => WorkerChange | Promise<WorkerChange>

/** Like `changeWorker`, for an administrator. Throws `invalid_request` for a worker that the server's settings name. */
export async function updateWorker(broker: Broker, worker: Worker, toChange: ToChange): Promise<Worker> {
  refuseManaged(broker, worker, 'change')
  return changeWorker(broker, worker, toChange)
}

/**
 * Changes settings and reads the catalogue again. `toChange` computes the change from the current settings, and is called
 * again when another request has changed them meanwhile. Throws `not_found` when the worker was deleted.
 */
export async function changeWorker(broker: Broker, worker: Worker, toChange: ToChange): Promise<Worker> {
  const { projectId, id } = worker
  const audit = broker.audit.of(projectId, { action: 'worker.changed', subject: id })
  const updated = await changeRow(
    `The worker "${id}"`,
    worker,
    () => getWorker(broker, projectId, id),
    async (current) => {
      const { secret, ...rest } = await toChange(current)
      if (rest.uri !== undefined) checkUri(broker, current.type, rest.uri)
      const to: Worker = {
        ...current,
        ...rest,
        ...(secret !== undefined && { secret: sealWorkerSecret(broker, current, secret) }),
        updatedAt: broker.now(),
      }
      return broker.store.workers.change(current, to, audit)
    },
  )
  return updated.enabled ? syncWorker(broker, updated, { isChangedHere: true }) : updated
}

/** Deletes the worker with its tools; from then on their names are free. Throws `not_found`, `invalid_request` for one that the settings name. */
export async function deleteWorker(broker: Broker, projectId: string, id: string): Promise<void> {
  const worker = await broker.store.workers.find(projectId, id)
  if (worker !== undefined) refuseManaged(broker, worker, 'remove')
  const names = worker === undefined ? 0 : await broker.store.toolNames.count(projectId, worker.uid)
  const audit = broker.audit.of(projectId, {
    action: 'worker.deleted',
    subject: id,
    ...(names > 0 && { reason: `names ${names}` }),
  })
  // a worker that was altered in the database is not found, and can still be deleted
  if (!(await broker.store.workers.delete(projectId, id, audit))) await getWorker(broker, projectId, id)
}

function refuseManaged(broker: Broker, worker: Worker, what: 'change' | 'remove'): void {
  if (broker.backends.of(worker).isInProcess)
    throw new BrokerError(
      'invalid_request',
      `The worker "${worker.id}" comes from GATEPASS_TOOLS; ${what} it there.`,
    )
}

/** Returns the project's worker of that id. Throws `not_found`. */
export async function getWorker(broker: Broker, projectId: string, id: string): Promise<Worker> {
  const worker = await broker.store.workers.find(projectId, id)
  if (worker === undefined)
    throw new BrokerError(
      'not_found',
      `There is no worker "${id.slice(0, 100)}" in this project.${await similarWorker(broker, projectId, id)}`,
    )
  return worker
}

async function similarWorker(broker: Broker, projectId: string, id: string): Promise<string> {
  const workers = await broker.store.workers.list(projectId)
  return didYouMean(
    id,
    workers.map((worker) => worker.id),
  )
}

/** Reads the catalogue and replaces the worker's tools by it. If the catalogue cannot be read, the tools stay as they are. */
export async function syncWorker(broker: Broker, worker: Worker, options: SyncOptions = {}): Promise<Worker> {
  const read = await syncCatalogue(broker, worker, options).then(
    (faults) => ({
      syncedAt: broker.now(),
      ...(faults.length > 0 && { syncError: summaryOf(faults) }),
    }),
    (error: unknown) => {
      if (!(error instanceof WorkerFault)) throw error
      return { syncError: error.message, unreachableSince: worker.unreachableSince ?? broker.now() }
    },
  )
  if ('syncedAt' in read) await endFirstUse(broker, worker)
  const current = await broker.store.workers.findByUid(worker.uid)
  const { syncError: _, unreachableSince: __, ...rest } = current ?? worker
  let synced: Worker = { ...rest, ...read }
  if (current === undefined) return synced
  // writes only the result of this reading, since a request may change the settings meanwhile
  if (
    current.syncedAt !== synced.syncedAt ||
    current.syncError !== synced.syncError ||
    current.unreachableSince !== synced.unreachableSince
  )
    synced = (await broker.store.workers.settleSync({ uid: worker.uid, ...read })) ?? synced
  if (synced.syncError !== undefined && synced.syncError !== worker.syncError)
    broker.log.warn(
      { worker: worker.id, reason: synced.syncError },
      'the catalogue of a worker could not be read completely',
    )
  return synced
}

/** The number of sentences in `syncError`, which people read. */
const MAX_FAULTS = 40

/** The first faults as one text. */
function summaryOf(faults: readonly string[]): string {
  const more = faults.length - MAX_FAULTS
  return [...faults.slice(0, MAX_FAULTS), ...(more > 0 ? [`And ${more} more.`] : [])].join(' ')
}

/** Reads the catalogues of all enabled workers; one that fails does not stop the others. */
export async function syncWorkers(broker: Broker): Promise<void> {
  const workers = await broker.store.workers.all()
  await Promise.all(workers.filter(({ enabled }) => enabled).map((worker) => trySync(broker, worker)))
}

/**
 * Makes the job that reads the catalogues at intervals. A round does not wait longer than the interval for workers whose
 * large catalogues are queued, and the next round leaves these workers out.
 */
export function createSyncRounds(broker: Broker): () => Promise<void> {
  const underWay = new Set<string>()
  return async () => {
    const workers = await broker.store.workers.all()
    const syncs = workers
      .filter(({ enabled, uid }) => enabled && !underWay.has(uid))
      .map(async (worker) => {
        underWay.add(worker.uid)
        await trySync(broker, worker)
        underWay.delete(worker.uid)
      })
    await Promise.race([Promise.all(syncs), sleep(SYNC_SECONDS * 1000, undefined, { ref: false })])
  }
}

async function trySync(broker: Broker, worker: Worker): Promise<void> {
  try {
    await syncWorker(broker, worker)
  } catch (error) {
    broker.log.error(
      { error: error instanceof Error ? error.name : 'unknown' },
      'a worker could not be synced',
    )
  }
}

function checkUri(broker: Broker, type: WorkerType, uri: string): void {
  if (!broker.backends.of({ type }).isInProcess) checkReachable(broker.outgoing, `${type}.uri`, uri)
}
