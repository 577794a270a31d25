import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import { runInSlices, type Steps } from '../slices.ts'
import { giveMcpNames, giveModelNames, leaveOutTwins } from './listed-names.ts'
import { selectNewest } from './versions.ts'

/** All tools of a project, with the lists and names made of them. Computed once, until one of the tools changes. */
export interface Catalogue {
  /** All tools in all versions, oldest first. */
  readonly tools: readonly Tool[]
  /** The newest version of each tool, oldest first. */
  readonly newest: readonly Tool[]
  /** `newest` without workers' tools that imported tools are bound to (`withoutTwins`). */
  readonly listed: readonly Tool[]
  /** Names for MCP clients, by the `uid` of a tool of any version. */
  readonly names: ReadonlyMap<string, string>
  /** Names for models, by the `uid` of a tool of any version. */
  readonly modelNames: ReadonlyMap<string, string>
  /** The tools that have this name in `names` or `modelNames`. `name` must be in lower case. */
  named(name: string): Promise<readonly Tool[]>
}

const catalogues = new WeakMap<readonly Tool[], Promise<Catalogue>>()

/** The project's catalogue: the same object until one of its tools changes. */
export async function catalogueOf(broker: Broker, projectId: string): Promise<Catalogue> {
  const tools = await broker.cache.catalogue.of(projectId)
  const known = catalogues.get(tools)
  if (known !== undefined) return known
  const made = makeCatalogue(tools)
  catalogues.set(tools, made)
  made.catch(() => catalogues.delete(tools)) // the next request tries again
  return made
}

async function makeCatalogue(tools: readonly Tool[]): Promise<Catalogue> {
  const newest = await runInSlices(selectNewest(tools))
  const listed = await runInSlices(leaveOutTwins(newest))
  const names = await runInSlices(giveMcpNames(tools))
  const modelNames = await runInSlices(giveModelNames(tools))
  let byName: Promise<ReadonlyMap<string, readonly Tool[]>> | undefined
  return {
    tools,
    newest,
    listed,
    names,
    modelNames,
    async named(name) {
      byName ??= runInSlices(byNames(tools, [names, modelNames]))
      return (await byName).get(name) ?? []
    },
  }
}

function* byNames(
  tools: readonly Tool[],
  lists: readonly ReadonlyMap<string, string>[],
): Steps<ReadonlyMap<string, readonly Tool[]>> {
  const found = new Map<string, Tool[]>()
  for (const tool of tools) {
    for (const name of new Set(lists.map((names) => names.get(tool.uid)?.toLowerCase() ?? ''))) {
      const known = found.get(name)
      if (known === undefined) found.set(name, [tool])
      else known.push(tool)
    }
    yield
  }
  return found
}
