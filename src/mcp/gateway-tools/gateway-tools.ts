import type { ToolListing } from '../../domain/toolset.ts'
import type { JsonRecord } from '../../parsing/json-record.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import { listedTool } from '../endpoint/listed-tool.ts'
import { CONNECTIONS_TOOL } from './connections.ts'
import type { GatewayTool } from './gateway-tool.ts'
import { CALL_TOOL, createSearchTool } from './search.ts'

const listed = new WeakMap<ShownTool, JsonRecord>()

/** `listedTool`, cached because a large schema takes time. */
function listedOnce(shown: ShownTool): JsonRecord {
  const known = listed.get(shown) ?? listedTool(shown.tool, shown.name, 'modern')
  listed.set(shown, known)
  return known
}

const SEARCH_TOOL = createSearchTool(listedOnce)

/** Gatepass' own tools that a list has, besides the project's. */
export function gatewayTools(listing: ToolListing): readonly (GatewayTool | typeof CALL_TOOL)[] {
  return listing === 'search' ? [SEARCH_TOOL, CALL_TOOL, CONNECTIONS_TOOL] : [CONNECTIONS_TOOL]
}
