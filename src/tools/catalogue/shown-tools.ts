import type { Broker } from '../../broker.ts'
import { MAX_LISTED_TOOLS, MAX_SHOWN_NAME, type ToolListing } from '../../domain/shown-tools.ts'
import { functionName, type Tool } from '../../domain/tool.ts'
import { type Catalogue, catalogueOf } from './catalogue.ts'

// The tools that MCP clients see: those of one selection or of the whole project, each with one name. They are computed
// once and cached until a tool, a provider or the selection changes.

/** A tool and the name under which it is shown: 1 to 48 of `[A-Za-z0-9_-]`. */
export interface ShownTool {
  readonly name: string
  readonly tool: Tool
}

export interface ShownTools {
  /** Absent: all tools of the project. */
  readonly selection?: ToolSelection | undefined
  /** One version of each tool, oldest first, so that new tools come last. */
  readonly tools: readonly ShownTool[]
  readonly listing: ToolListing
  readonly warnings: readonly SelectorWarning[]
  /** Finds a tool by its shown name or by its name in the other lists of the project, in any case. */
  find(name: string): ShownTool | undefined
  /** Whether the name belonged to a removed tool; such a name is not used for another tool. */
  isRetired(name: string): boolean
}

/** A selection of a project's tools, which MCP clients reach at `/mcp/{id}`. */
export interface ToolSelection {
  /** The same object while the selection has not changed. */
  readonly key: object
  /** Text for the model about these tools. */
  readonly instructions?: string | undefined
  /** Absent: `search` for more than `MAX_LISTED_TOOLS` tools, otherwise `all`. */
  readonly listing?: ToolListing | undefined
  readonly select: (catalogue: Catalogue) => Promise<SelectedTools>
}

/** Finds selections of tools by their ids. */
export interface ToolSelections {
  /** Throws `not_found`. */
  readonly find: (broker: Broker, projectId: string, id: string) => Promise<ToolSelection>
  /** A change of this noun may change a selection. */
  readonly noun: string
}

export interface SelectedTools extends GivenNames {
  /** One version of each tool, oldest first. */
  readonly tools: readonly Tool[]
  readonly warnings: readonly SelectorWarning[]
}

export interface GivenNames {
  /** The names by the `uid` of a tool. */
  readonly names: ReadonlyMap<string, string>
  /** The names of removed tools, in lower case. */
  readonly retired: ReadonlySet<string>
}

/** A selector that selects nothing at present, or not what its author may expect. */
export interface SelectorWarning {
  /** The member, such as `tools.0`. */
  readonly path: string
  readonly message: string
}

/** The tools of the selection, or of the project. Returns the same object while nothing changes. */
export async function shownTools(
  broker: Broker,
  projectId: string,
  selection?: ToolSelection,
): Promise<ShownTools> {
  const catalogue = await catalogueOf(broker, projectId)
  // selections depend on the provider entries too, whose cached list is another object after a change
  const entries = await broker.cache.providers.of(projectId)
  const key = selection?.key ?? catalogue
  const ofCatalogue: ShownOfCatalogue = shownOf.get(catalogue) ?? new WeakMap()
  shownOf.set(catalogue, ofCatalogue)
  const known = ofCatalogue.get(key)
  if (known?.entries === entries) return known.shown
  const shown =
    selection === undefined
      ? showAll(catalogue)
      : selection.select(catalogue).then((selected) => toShown(catalogue, selected, selection))
  const kept = { entries, shown: Promise.resolve(shown) }
  ofCatalogue.set(key, kept)
  kept.shown.catch(() => {
    if (ofCatalogue.get(key) === kept) ofCatalogue.delete(key)
  })
  return kept.shown
}

/** The cached results of one catalogue. The key is that of the selection, or the catalogue for all tools. */
type ShownOfCatalogue = WeakMap<object, { readonly entries: object; readonly shown: Promise<ShownTools> }>

const shownOf = new WeakMap<Catalogue, ShownOfCatalogue>()

function showAll(catalogue: Catalogue): ShownTools {
  const { listed: tools, names } = catalogue
  return toShown(catalogue, { tools, names, retired: new Set(), warnings: [] })
}

function toShown(
  catalogue: Catalogue,
  { tools: selected, names, retired, warnings }: SelectedTools,
  selection?: ToolSelection,
): ShownTools {
  const tools = selected.map((tool) => ({
    name: names.get(tool.uid) ?? functionName(tool, MAX_SHOWN_NAME),
    tool,
  }))
  const byName = new Map<string, ShownTool>()
  // the later entry wins: a shown name over a name in the other lists, and over one that differs by case
  for (const shown of tools) {
    const name = catalogue.modelNames.get(shown.tool.uid)
    if (name !== undefined && !retired.has(name.toLowerCase())) byName.set(name.toLowerCase(), shown)
  }
  for (const shown of tools) byName.set(shown.name.toLowerCase(), shown)
  for (const shown of tools) byName.set(shown.name, shown)
  return {
    selection,
    warnings,
    tools,
    listing: selection?.listing ?? (tools.length > MAX_LISTED_TOOLS ? 'search' : 'all'),
    isRetired: (name) => retired.has(name.toLowerCase()),
    find: (name) => byName.get(name) ?? byName.get(name.toLowerCase()),
  }
}
