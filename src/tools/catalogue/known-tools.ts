import type { Broker } from '../../broker.ts'
import { type Tool, toolAliases } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { catalogueOf } from './catalogue.ts'
import { hasDigest } from './listed-names.ts'

// Cached reads that every run of a tool needs.

/** The tools that have this name or alias (in lower case), newest first. */
export async function namedTools(broker: Broker, projectId: string, alias: string): Promise<readonly Tool[]> {
  return broker.cache.tools.get(`${projectId} ${alias}`, async () => {
    if (!hasDigest(alias)) return byAlias(broker, projectId, alias)
    // a listed name with a digest depends on two tools (`distinctNames`), so it is not stored as an alias
    const listed = await (await catalogueOf(broker, projectId)).named(alias)
    return listed.length > 0 ? listed : byAlias(broker, projectId, alias)
  })
}

/** The store may still have aliases of an older release, which took the titles of workers' tools for names. */
async function byAlias({ store }: Broker, projectId: string, alias: string): Promise<readonly Tool[]> {
  return (await store.tools.named(projectId, alias)).filter((tool) => toolAliases(tool).includes(alias))
}

/** The worker, through a cache; `undefined` if there is none. */
export async function findWorkerByUid(broker: Broker, uid: string): Promise<Worker | undefined> {
  const { worker } = await broker.cache.workers.get(uid, async () => {
    const found = await broker.store.workers.findByUid(uid)
    return found === undefined ? {} : { worker: found }
  })
  return worker
}
