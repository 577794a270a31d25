import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { isToolsetId } from '../../domain/shown-tools.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { createReadCache } from '../../services/read-cache.ts'
import type { Catalogue } from '../../tools/catalogue/catalogue.ts'
import {
  type SelectedTools,
  type ShownTools,
  shownTools,
  type ToolSelection,
  type ToolSelections,
} from '../../tools/catalogue/shown-tools.ts'
import type { Toolset } from './domain.ts'
import { giveBareNames } from './toolset-names.ts'
import { selectTools } from './toolset-selection.ts'

/** Cached toolsets, each with a list of its tools: 1 MB for 10,000 of them. */
const MAX_CACHED = 100

const cacheOf = perBroker(({ store }) =>
  createReadCache<{ readonly toolset?: Toolset }>(store, {
    max: MAX_CACHED,
    forgets: ({ noun }) => (noun === 'toolset' ? 'all' : undefined),
  }),
)

/** Returns the project's toolset of that id, through a cache. Throws `not_found`. */
export async function getToolset(broker: Broker, projectId: string, id: string): Promise<Toolset> {
  const { toolsets } = broker.store
  const { toolset } = !isToolsetId(id)
    ? {}
    : await cacheOf(broker).get(`${projectId} ${id}`, async () => {
        const found = await toolsets.find(projectId, id)
        return found === undefined ? {} : { toolset: found }
      })
  if (toolset !== undefined) return toolset
  const there = (await toolsets.list(projectId)).map((known) => known.id)
  throw new BrokerError(
    'not_found',
    `There is no toolset "${id.slice(0, 80)}" in this project.${didYouMean(id, there)}`,
  )
}

/** The tools of a toolset, with their names. */
export function toolsOf(broker: Broker, toolset: Toolset): Promise<ShownTools> {
  return shownTools(broker, toolset.projectId, toSelection(broker, toolset))
}

export const toolSelections: ToolSelections = {
  find: async (broker, projectId, id) => toSelection(broker, await getToolset(broker, projectId, id)),
  noun: 'toolset',
}

function toSelection(broker: Broker, toolset: Toolset): ToolSelection {
  const { instructions, listing } = toolset
  return { key: toolset, instructions, listing, select: (catalogue) => select(broker, toolset, catalogue) }
}

async function select(broker: Broker, toolset: Toolset, catalogue: Catalogue): Promise<SelectedTools> {
  const selected = await selectTools(broker, toolset, catalogue.newest)
  const given =
    toolset.names === 'bare'
      ? await giveBareNames(broker, toolset, selected.tools, catalogue.names)
      : { names: catalogue.names, retired: new Set<string>() }
  return { ...selected, ...given }
}
