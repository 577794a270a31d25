import type { Broker } from '../../broker.ts'
import { isQualifiedName, type Tool, toolAliases } from '../../domain/tool.ts'
import { toolIdentity } from '../../domain/tool-name.ts'
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

/**
 * The store may still have aliases of an older release, which took the titles of workers' tools for names. A worker's tool
 * `Clock:Gmail_Send` is not found by its bare name while `Gmail:Send` has an owner, also while no worker lists `Gmail:Send`.
 */
async function byAlias({ store }: Broker, projectId: string, alias: string): Promise<readonly Tool[]> {
  const named = (await store.tools.named(projectId, alias)).filter((tool) =>
    toolAliases(tool).includes(alias),
  )
  const isBare = (tool: Tool) => tool.source.kind === 'worker' && !isQualifiedName(tool, alias)
  if (alias.includes(':') || !named.some(isBare)) return named
  const owned = await store.toolNames.find(projectId, identitiesWritten(alias))
  return owned.length === 0 ? named : named.filter((tool) => !isBare(tool))
}

/** The identities of all tools that the name may mean together with its toolkit. */
function identitiesWritten(alias: string): readonly string[] {
  const separators = [...alias.matchAll(/(?<=.)[._](?=.)/g)]
  return [
    toolIdentity({ namespace: '', name: alias }),
    ...separators.map(({ index }) =>
      toolIdentity({ namespace: alias.slice(0, index), name: alias.slice(index + 1) }),
    ),
  ]
}

/** The worker, through a cache; `undefined` if there is none. */
export async function findWorkerByUid(broker: Broker, uid: string): Promise<Worker | undefined> {
  const { worker } = await broker.cache.workers.get(uid, async () => {
    const found = await broker.store.workers.findByUid(uid)
    return found === undefined ? {} : { worker: found }
  })
  return worker
}
