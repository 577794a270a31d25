import type { ToolListing } from '../../domain/shown-tools.ts'
import { listedJson } from '../endpoint/listed-tool.ts'
import { CONNECTIONS_TOOL } from './connections.ts'
import type { GatewayTool } from './gateway-tool.ts'
import { CALL_TOOL, createSearchTool } from './search.ts'

const SEARCH_TOOL = createSearchTool((shown) => listedJson(shown, 'modern'))

/** Gatepass' own tools that a list has, besides the project's. */
export function gatewayTools(listing: ToolListing): readonly (GatewayTool | typeof CALL_TOOL)[] {
  return listing === 'search' ? [SEARCH_TOOL, CALL_TOOL, CONNECTIONS_TOOL] : [CONNECTIONS_TOOL]
}
