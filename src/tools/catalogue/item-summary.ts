import { sha256 } from '../../domain/ids.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { toolId } from '../../domain/tool.ts'
import type { CatalogueItem, CatalogueTool } from '../backend.ts'
import { type ItemSummary, listedFaults } from './validate-tool.ts'

const known = new WeakMap<object, ItemSummary>()

/** The facts of an item. If no thread has computed them, they are computed once. */
export function itemSummary(item: Extract<CatalogueItem, { readonly outcome: 'read' }>): ItemSummary {
  if (item.facts !== undefined) return item.facts
  const found = known.get(item.tool) ?? factsOf(item.tool)
  known.set(item.tool, found)
  return found
}

/** Computes the facts of a tool, which takes long for a large description. */
export function factsOf(tool: CatalogueTool): ItemSummary {
  const tags = normalizeTags(tool.tags ?? [])
  const json = JSON.stringify({ ...tool, tags })
  return {
    named: toolId(tool),
    namespace: tool.namespace,
    name: tool.name,
    tags,
    digest: sha256(json),
    size: json.length,
    requirements: tool.requirements,
    isText: isText(json),
    faults: listedFaults({ ...tool, tags }),
  }
}

/** Whether the JSON is free of U+0000 and lone surrogates, which PostgreSQL refuses. JSON writes them as escapes. */
function isText(json: string): boolean {
  return !/\\u(?:0000|d[89a-f][\da-f]{2})/i.test(json.replaceAll('\\\\', ''))
}
