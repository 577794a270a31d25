import type { CatalogueItem } from '../backend.ts'
import {
  type CatalogueReading,
  checkToolCount,
  type ReceivedCatalogue,
  readPacked,
} from '../catalogue/catalogue-reading.ts'
import { scrubParsed } from '../scrub/scrub.ts'
import { type McpServerInfo, readMcpTool } from './read-mcp-tool.ts'
import type { McpSettings } from './settings.ts'

/** What `readList` needs besides the list of tools. */
export interface McpListing {
  readonly server: McpServerInfo
  readonly settings: McpSettings
  /** Removed from the list, because models read descriptions and operators read errors. */
  readonly secrets: readonly string[]
}

/** How many refused tools are reported for one server; the list is stored with the worker and read by the operator. */
const MAX_REASONS = 20

export function readList(
  pages: readonly unknown[],
  { server, settings, secrets }: McpListing,
): readonly CatalogueItem[] {
  const tools = pages.flat() // each page is an array
  checkToolCount(tools.length)
  const items = tools.map((tool) => readMcpTool(scrubParsed(tool, secrets), server, settings))
  const refused = items.filter((item) => item.outcome === 'refused')
  if (refused.length <= MAX_REASONS) return items
  const reason = `${refused.length - MAX_REASONS} more cannot be taken either.`
  return [
    ...items.filter((item) => item.outcome === 'read'),
    ...refused.slice(0, MAX_REASONS),
    { outcome: 'refused', name: refused[MAX_REASONS]?.name ?? '', reason },
  ]
}

/** Runs in a thread (thread-pool.ts). */
export function run(received: ReceivedCatalogue<McpListing>, transfer: ArrayBuffer[]): CatalogueReading {
  return readPacked(received, readList, transfer)
}
