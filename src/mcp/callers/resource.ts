import type { BrokerSettings } from '../../broker.ts'

/** RFC 9728 section 3. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** `/mcp` or `/mcp/{toolset}` as a protected resource (RFC 9728). Each is a separate audience of tokens (RFC 8707). */
export interface McpResource {
  /** The URL that users type, without a trailing slash. It is the audience of its access tokens. */
  readonly url: string
  /** The URL of its metadata (RFC 9728 section 3.1). */
  readonly metadataUrl: string
}

/** The resource of a toolset, or of all tools of the project. */
export function mcpResource(publicUrl: URL, toolset?: string): McpResource {
  const path = toolset === undefined ? '/mcp' : `/mcp/${toolset}`
  return {
    url: `${publicUrl.origin}${path}`,
    metadataUrl: `${publicUrl.origin}${METADATA_PATH}${path}`,
  }
}

/** The authorization servers whose tokens are accepted. Gatepass' own comes first: clients need no setup there. */
export function issuersOf({ publicUrl, mcp }: Pick<BrokerSettings, 'publicUrl' | 'mcp'>): readonly string[] {
  return [publicUrl.origin, ...(mcp.issuer === undefined ? [] : [mcp.issuer.issuer])]
}
