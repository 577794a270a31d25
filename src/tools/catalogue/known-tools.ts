import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'

// What every run of a tool looks up, as the cache has it.

/** All that answer to this spelling (lower case), newest first. */
export async function namedTools(broker: Broker, projectId: string, alias: string): Promise<readonly Tool[]> {
  return broker.cache.tools.get(`${projectId} ${alias}`, () => broker.store.tools.named(projectId, alias))
}

export async function findWorkerByUid(broker: Broker, uid: string): Promise<Worker | undefined> {
  const { worker } = await broker.cache.workers.get(uid, async () => {
    const found = await broker.store.workers.findByUid(uid)
    return found === undefined ? {} : { worker: found }
  })
  return worker
}
