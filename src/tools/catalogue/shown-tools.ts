import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { functionName, type Tool } from '../../domain/tool.ts'
import {
  isToolsetId,
  MAX_LISTED_TOOLS,
  MAX_SHOWN_NAME,
  type ToolListing,
  type Toolset,
} from '../../domain/toolset.ts'
import { type GivenNames, giveBareNames } from './bare-names.ts'
import { type Catalogue, catalogueOf } from './catalogue.ts'
import { type SelectorWarning, selectTools } from './select-tools.ts'

// The tools that MCP clients see: those of one toolset or of the whole project, each with one name. They are computed once
// and cached until a tool, a provider or the toolset changes.

/** A tool and the name under which it is shown: 1 to 48 of `[A-Za-z0-9_-]`. */
export interface ShownTool {
  readonly name: string
  readonly tool: Tool
}

export interface ShownTools {
  /** Absent: all tools of the project. */
  readonly toolset?: Toolset | undefined
  /** One version of each tool, oldest first, so that new tools come last. */
  readonly tools: readonly ShownTool[]
  readonly listing: ToolListing
  /** Selectors of the toolset that select nothing at present. */
  readonly warnings: readonly SelectorWarning[]
  /** Finds a tool by its shown name or by its name in the other lists of the project, in any case. */
  find(name: string): ShownTool | undefined
  /** Whether the name belonged to a removed tool; such a name is not used for another tool. */
  isRetired(name: string): boolean
}

/** The tools of the toolset, or of the project. Returns the same object while nothing changes. Throws `not_found`. */
export async function shownTools(broker: Broker, projectId: string, toolsetId?: string): Promise<ShownTools> {
  const toolset = toolsetId === undefined ? undefined : await getToolset(broker, projectId, toolsetId)
  const catalogue = await catalogueOf(broker, projectId)
  // selections depend on the provider entries too, whose cached list is another object after a change
  const entries = await broker.cache.providers.of(projectId)
  const key = toolset ?? catalogue
  const ofCatalogue: ShownOfCatalogue = shownOf.get(catalogue) ?? new WeakMap()
  shownOf.set(catalogue, ofCatalogue)
  const known = ofCatalogue.get(key)
  if (known?.entries === entries) return known.shown
  const shown = toolset === undefined ? showAll(catalogue) : showToolset(broker, toolset, catalogue)
  const kept = { entries, shown: Promise.resolve(shown) }
  ofCatalogue.set(key, kept)
  kept.shown.catch(() => {
    if (ofCatalogue.get(key) === kept) ofCatalogue.delete(key)
  })
  return kept.shown
}

/** Returns the project's toolset of that id, through a cache. Throws `not_found`. */
export async function getToolset(broker: Broker, projectId: string, id: string): Promise<Toolset> {
  const { toolset } = !isToolsetId(id)
    ? {}
    : await broker.cache.toolsets.get(`${projectId} ${id}`, async () => {
        const found = await broker.store.toolsets.find(projectId, id)
        return found === undefined ? {} : { toolset: found }
      })
  if (toolset !== undefined) return toolset
  const there = (await broker.store.toolsets.list(projectId)).map((one) => one.id)
  throw new BrokerError(
    'not_found',
    `There is no toolset "${id.slice(0, 80)}" in this project.${didYouMean(id, there)}`,
  )
}

/** The cached results of one catalogue. The key is the toolset, or the catalogue for all tools. */
type ShownOfCatalogue = WeakMap<object, { readonly entries: object; readonly shown: Promise<ShownTools> }>

const shownOf = new WeakMap<Catalogue, ShownOfCatalogue>()

function showAll(catalogue: Catalogue): ShownTools {
  return toShown(
    catalogue,
    catalogue.listed,
    { names: catalogue.names, retired: new Set() },
    { warnings: [] },
  )
}

async function showToolset(broker: Broker, toolset: Toolset, catalogue: Catalogue): Promise<ShownTools> {
  const { tools, warnings } = await selectTools(broker, toolset, catalogue.newest)
  const given =
    toolset.names === 'bare'
      ? await giveBareNames(broker, toolset, tools, catalogue.names)
      : { names: catalogue.names, retired: new Set<string>() }
  return toShown(catalogue, tools, given, { toolset, warnings })
}

function toShown(
  catalogue: Catalogue,
  selected: readonly Tool[],
  { names, retired }: GivenNames,
  of: Pick<ShownTools, 'toolset' | 'warnings'>,
): ShownTools {
  const tools = selected.map((tool) => ({
    name: names.get(tool.uid) ?? functionName(tool, MAX_SHOWN_NAME),
    tool,
  }))
  const byName = new Map<string, ShownTool>()
  // the later entry wins: a shown name over a name in the other lists, and over one that differs by case
  for (const one of tools) {
    const name = catalogue.modelNames.get(one.tool.uid)
    if (name !== undefined && !retired.has(name.toLowerCase())) byName.set(name.toLowerCase(), one)
  }
  for (const one of tools) byName.set(one.name.toLowerCase(), one)
  for (const one of tools) byName.set(one.name, one)
  return {
    ...of,
    tools,
    listing: of.toolset?.listing ?? (tools.length > MAX_LISTED_TOOLS ? 'search' : 'all'),
    isRetired: (name) => retired.has(name.toLowerCase()),
    find: (name) => byName.get(name) ?? byName.get(name.toLowerCase()),
  }
}
