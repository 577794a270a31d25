// An MCP server as a protected resource: how a client without a valid token learns where it gets one.

/** RFC 9728 section 3. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource'

/** Returns the URL of a resource's metadata (RFC 9728 section 3.1). */
export function metadataUrl({ origin, pathname }: URL): string {
  return `${origin}${METADATA_PATH}${pathname === '/' ? '' : pathname}`
}

/** Returns the challenge of a refused request (RFC 6750 section 3, RFC 9728 section 5.1). */
export function bearerChallenge(parameters: {
  readonly error?: string | undefined
  readonly resource_metadata?: string | undefined
  readonly scope?: string | undefined
}): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`.trim()
}
