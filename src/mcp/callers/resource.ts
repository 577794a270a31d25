import type { BrokerSettings } from '../../broker.ts'
import { metadataUrl } from '../../sdk/mcp/resource.ts'

/** `/mcp` or `/mcp/{toolset}` as a protected resource (RFC 9728). Each is a separate audience of tokens (RFC 8707). */
export interface McpResource {
  /** The URL that users type, without a trailing slash. It is the audience of its access tokens. */
  readonly url: string
  /** The URL of its metadata (RFC 9728 section 3.1). */
  readonly metadataUrl: string
}

/** The resource of a toolset, or of all tools of the project. */
export function mcpResource(publicUrl: URL, toolset?: string): McpResource {
  const url = new URL(toolset === undefined ? '/mcp' : `/mcp/${toolset}`, publicUrl)
  return { url: url.href, metadataUrl: metadataUrl(url) }
}

/** The authorization servers whose tokens are accepted. Gatepass' own comes first: clients need no setup there. */
export function issuersOf({ publicUrl, mcp }: Pick<BrokerSettings, 'publicUrl' | 'mcp'>): readonly string[] {
  return [publicUrl.origin, ...(mcp.issuer === undefined ? [] : [mcp.issuer.issuer])]
}
