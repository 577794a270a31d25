import { sha256 } from '../../domain/ids.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { toolId } from '../../domain/tool.ts'
import type { CatalogueItem, CatalogueTool } from '../backend.ts'
import { definitionDigest } from '../definition.ts'
import { type ItemSummary, listedFaults } from './validate-tool.ts'

const known = new WeakMap<object, ItemSummary>()

/** The summary of an item. If no thread has computed it, it is computed once. */
export function itemSummary(item: Extract<CatalogueItem, { readonly outcome: 'read' }>): ItemSummary {
  if (item.summary !== undefined) return item.summary
  const found = known.get(item.tool) ?? summaryOf(item.tool)
  known.set(item.tool, found)
  return found
}

/** Computes the summary of a tool, which takes long for a large description. */
export function summaryOf(tool: CatalogueTool): ItemSummary {
  const tags = normalizeTags(tool.tags ?? [])
  const json = JSON.stringify({ ...tool, tags })
  const isText = isStorable(json)
  return {
    named: toolId(tool),
    namespace: tool.namespace,
    name: tool.name,
    tags,
    digest: sha256(json),
    // a lone surrogate has no canonical JSON, and its tool is not listed
    definition: isText ? definitionDigest(tool) : '',
    size: json.length,
    requirements: tool.requirements,
    isText,
    faults: listedFaults({ ...tool, tags }),
  }
}

/** Whether the JSON is free of U+0000 and lone surrogates, which PostgreSQL refuses. JSON writes them as escapes. */
function isStorable(json: string): boolean {
  return !/\\u(?:0000|d[89a-f][\da-f]{2})/i.test(json.replaceAll('\\\\', ''))
}
