// How tools are shown to MCP clients.

export const TOOL_LISTINGS = ['all', 'search'] as const
/** `all`: MCP clients get every tool; `search`: they get two tools that search and call the others. */
export type ToolListing = (typeof TOOL_LISTINGS)[number]

/** Clients refuse or cut longer lists; Copilot does above this number. */
export const MAX_LISTED_TOOLS = 128

/** The longest name, in characters. Model APIs allow 64; some clients need 16 for a prefix with the server's name. */
export const MAX_SHOWN_NAME = 48

/** Gatepass' own tools at `/mcp`. No other tool is shown under these names. */
export const GATEWAY_TOOLS = {
  connections: 'gatepass_connections',
  search: 'gatepass_search_tools',
  call: 'gatepass_call_tool',
} as const

/** Whether a selection of tools may have this id, and so a path below `/mcp`. */
export function isToolsetId(text: string): boolean {
  return /^[a-z0-9-]{1,64}$/.test(text)
}
