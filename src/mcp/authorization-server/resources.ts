import { MCP_SCOPES } from '../callers/principal.ts'

/**
 * The resource that a client named (RFC 8707), as the audience of its tokens: `<origin>/mcp` or
 * `<origin>/mcp/{toolset}`. `undefined` for any other URL.
 */
export function resourceOf({ origin }: URL, indicator: string): string | undefined {
  const url = URL.canParse(indicator) ? new URL(indicator) : undefined
  if (url === undefined || url.origin !== origin || url.username !== '' || url.password !== '')
    return undefined
  if (/[?#]/.test(indicator)) return undefined
  const path = url.pathname.replace(/\/$/, '')
  return /^\/mcp(?:\/[a-z0-9-]{1,64})?$/.test(path) ? `${origin}${path}` : undefined
}

/** The toolset of a resource that `resourceOf` accepts; `undefined` for all tools of the project. */
export function toolsetOf(resource: string): string | undefined {
  return new URL(resource).pathname.split('/')[2] || undefined // the client may have added a slash
}

/** The requested scopes that exist here, or `mcp` if there are none. */
export function offeredScopes(asked: string | null): string {
  const known = MCP_SCOPES.filter((scope) => asked?.split(' ').includes(scope))
  return known.length === 0 ? 'mcp' : known.join(' ')
}
