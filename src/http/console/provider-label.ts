import { html } from 'hono/html'
import { type Tool, toolId } from '../../domain/tool.ts'
import { providersOf } from '../../flows/get-provider.ts'
import type { ProviderBook } from '../../flows/provider-book.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { catalogueOf } from '../../tools/catalogue/catalogue.ts'
import { type Html, name } from '../pages/layout.ts'
import { link } from './elements.ts'
import { icon } from './layout.ts'
import { logoTile } from './providers/logo-tile.ts'
import type { OnPage } from './routes.ts'

/** How lists show the project's providers. */
export interface ProviderLabels {
  /** The logo and the id, which links to the provider's page; `undefined`: the entry was removed. */
  of(entry: ProviderEntry | undefined): Html
  /** The same for a provider that a tool names, whether or not there is an entry. */
  named(id: string): Html
  /** The tile of the first provider that the tool needs. */
  ofTool(tool: Tool | undefined): Html
}

export async function providerLabels({ broker, projectId }: OnPage): Promise<ProviderLabels> {
  const book = await providersOf(broker, projectId)
  const tiles = new Map<string, Html>()

  /** Made once for each provider, because a definition is found by comparing endpoints. */
  function tileOf(entry: ProviderEntry): Html {
    const known = tiles.get(entry.uid)
    if (known !== undefined) return known
    const made = logoTile(broker.definitions.describing(entry)?.facts.logo, entry.provider.displayName)
    tiles.set(entry.uid, made)
    return made
  }

  function tileNamed(id: string): Html {
    const entry = entryNamed(book, id)
    return entry === undefined ? logoTile(broker.definitions.find(id)?.facts.logo, id) : tileOf(entry)
  }

  function labelOf(entry: ProviderEntry | undefined): Html {
    if (entry === undefined) return html`<span class="muted">removed</span>`
    const { id } = entry
    return html`<span class="with-logo">${tileOf(entry)}${link(`/providers/${encodeURIComponent(id)}`, name(id, { longest: 60 }))}</span>`
  }

  return {
    of: labelOf,
    named(id) {
      const entry = entryNamed(book, id)
      return entry === undefined
        ? html`<span class="with-logo">${tileNamed(id)}${name(id, { longest: 60 })}</span>`
        : labelOf(entry)
    },
    ofTool(tool) {
      const [first] = [tool?.requirements.authorization, ...(tool?.requirements.alternatives ?? [])].flat()
      const id = first?.id ?? first?.providerId
      return id === undefined ? html`<span class="logo none">${icon('tool')}</span>` : tileNamed(id)
    },
  }
}

/** The entry with this id; else the only one with this well-known id. */
function entryNamed(book: ProviderBook, id: string): ProviderEntry | undefined {
  const [first, ...others] = book.byKind(id)
  return book.byId(id) ?? (others.length === 0 ? first : undefined)
}

/** The tools with these ids, by id. */
export async function toolsById(
  { broker, projectId }: OnPage,
  ids: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Tool>> {
  const { tools } = await catalogueOf(broker, projectId)
  return new Map(
    tools.flatMap((tool) => {
      const id = toolId(tool)
      return ids.has(id) ? [[id, tool] as const] : []
    }),
  )
}
