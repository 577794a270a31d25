import type { Broker } from '../../broker.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { providersOf } from '../../flows/get-provider.ts'
import { findToolsNamed } from '../../tools/catalogue/get-tool.ts'
import { identityOf, withoutTwins } from '../../tools/catalogue/listed-names.ts'
import { createProviderNames } from '../../tools/catalogue/search-tools.ts'
import type { SelectedTools, SelectorWarning } from '../../tools/catalogue/shown-tools.ts'
import { describeSource, sourceOf } from '../../tools/catalogue/tool-source.ts'
import { createTimeBudget } from '../../tools/slices.ts'
import type { ToolSelectors, Toolset } from './domain.ts'

/**
 * Selects the tools of a toolset among `newest`, which has the newest version of each tool of the project. A name with a
 * version selects that version, also where another selector selects the tool.
 */
export async function selectTools(
  broker: Broker,
  toolset: ToolSelectors & Pick<Toolset, 'projectId' | 'toolSources'>,
  newest: readonly Tool[],
): Promise<Pick<SelectedTools, 'tools' | 'warnings'>> {
  const { namespaces = [], tags = [], providers = [] } = toolset
  const warnings: SelectorWarning[] = []
  const selected = new Map<string, Tool>()

  async function byLabel(
    member: 'namespaces' | 'tags' | 'providers',
    wanted: readonly string[],
    labelsOf: (tool: Tool) => readonly string[],
  ): Promise<void> {
    if (wanted.length === 0) return
    const missing = new Map(wanted.map((label, i) => [label.toLowerCase(), `${member}.${i}`]))
    const all = new Set(missing.keys())
    const budget = createTimeBudget()
    for (const tool of newest) {
      for (const label of labelsOf(tool)) {
        if (!all.has(label)) continue
        missing.delete(label)
        selected.set(identityOf(tool), tool)
      }
      await budget.pause()
    }
    for (const [label, path] of missing) warnings.push({ path, message: NOTHING[member](label) })
  }

  await byLabel('namespaces', namespaces, ({ namespace }) => [namespace.toLowerCase()])
  await byLabel('tags', tags, (tool) => tool.tags)
  await byLabel('providers', providers, createProviderNames(await providersOf(broker, toolset.projectId)))
  for (const [i, name] of (toolset.tools ?? []).entries()) {
    if (name === EVERY_TOOL) {
      for (const tool of newest) if (!selected.has(identityOf(tool))) selected.set(identityOf(tool), tool)
      continue
    }
    const named = await findToolsNamed(broker, toolset.projectId, name)
    const kept = toolset.toolSources?.[name]
    const meant: Tool[] = []
    let other: string | undefined
    for (const tool of named) {
      const source = await sourceOf(broker, tool)
      if (kept === undefined ? hasOwnName(tool) : source === kept) meant.push(tool)
      else other = source
    }
    if (meant.length === 0 && kept !== undefined && other !== undefined) {
      const message = `${quoted(name)} is of ${describeSource(other)} now. The toolset was made for the tool of ${describeSource(kept)}: set tools again to use this one.`
      warnings.push({ path: `tools.${i}`, message })
      continue
    }
    const [tool] = meant.toSorted(byAge)
    if (tool !== undefined) selected.set(identityOf(tool), tool)
    if (meant.length !== 1) warnings.push({ path: `tools.${i}`, message: toolWarning(name, meant, tool) })
  }
  return { tools: withoutTwins([...selected.values()].sort(byAge)), warnings }
}

/** The selector that means every tool of the project, instead of a tool's name. */
export const EVERY_TOOL = '*'

function byAge(a: Tool, b: Tool): number {
  return a.uid < b.uid ? -1 : 1 // uids begin with the time
}

function toolWarning(name: string, meant: readonly Tool[], oldest: Tool | undefined): string {
  if (oldest === undefined) return `No tool is called ${quoted(name)} now.`
  return `${quoted(name)} may be any of ${meant.map(toolId).join(', ')}. It selects the oldest, ${toolId(oldest)}: use one of these ids.`
}

const NOTHING = {
  namespaces: (name: string) => `No tool is in the namespace ${quoted(name)} now.`,
  tags: (tag: string) => `No tool has the tag ${quoted(tag)} now.`,
  providers: (provider: string) => `No tool needs the provider ${quoted(provider)} now.`,
} as const

function quoted(text: string): string {
  return `"${text.slice(0, 120)}"`
}
