import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { catalogueOf } from './catalogue.ts'
import { hasDigest } from './listed-names.ts'

// The cached look-ups that every run of a tool makes.

/** The tools that have this name or alias (in lower case), newest first. */
export async function namedTools(broker: Broker, projectId: string, alias: string): Promise<readonly Tool[]> {
  return broker.cache.tools.get(`${projectId} ${alias}`, async () => {
    if (!hasDigest(alias)) return broker.store.tools.named(projectId, alias)
    // the name of a tool whose plain name another tool has: it depends on both, so it is no stored alias
    const listed = await (await catalogueOf(broker, projectId)).named(alias)
    return listed.length > 0 ? listed : broker.store.tools.named(projectId, alias)
  })
}

export async function findWorkerByUid(broker: Broker, uid: string): Promise<Worker | undefined> {
  const { worker } = await broker.cache.workers.get(uid, async () => {
    const found = await broker.store.workers.findByUid(uid)
    return found === undefined ? {} : { worker: found }
  })
  return worker
}
