import type { Broker } from '../broker.ts'
import type { Worker } from '../domain/worker.ts'
import { readBounded } from './catalogue/read-bounded.ts'
import { newWorker } from './worker.ts'
import { WorkerFault } from './worker-fault.ts'
import type { WorkerSettings } from './worker-settings.ts'

/** Whether a worker with these settings answers, and how many tools it lists. Nothing is kept. Throws like `newWorker`. */
export async function tryWorker(
  broker: Broker,
  projectId: string,
  settings: WorkerSettings,
): Promise<{ readonly healthy: boolean; readonly message?: string; readonly toolCount?: number }> {
  const worker = newWorker(broker, projectId, settings)
  const backend = broker.backends.of(worker)
  const health = await backend.health(broker, worker)
  // a healthy worker with a message needs an authorization, which only a registered worker can get
  if (!health.healthy || health.message !== undefined) return health
  try {
    const listed = await readBounded(worker, (bounds) => backend.catalogue(broker, worker, bounds))
    // `unchanged` does not occur, because nothing was read before
    const items = listed === 'unchanged' ? [] : listed.items
    return { ...health, toolCount: items.filter(({ outcome }) => outcome === 'read').length }
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return { healthy: false, message: error.message }
  } finally {
    await deleteAddedProvider(broker, worker)
  }
}

/** Deletes the provider entry that the test of an MCP server with OAuth has added. */
async function deleteAddedProvider({ store, audit }: Broker, { uid, projectId }: Worker): Promise<void> {
  for (const { id, externalId } of await store.providers.list(projectId))
    if (externalId === uid)
      await store.providers.delete(
        projectId,
        id,
        audit.of(projectId, { action: 'provider.deleted', providerId: id }),
      )
}
