import { contextOf } from '../arcade/backend.ts'
import type { BackendCall } from '../backend.ts'
import { type McpSettings, USUAL_TOKEN_META } from './settings.ts'

/**
 * The `_meta` of a call: the tool's tokens, secrets and user, in the form Arcade's MCP servers read. Only tools that
 * declare such needs get it, and it never contains the token for the server itself.
 */
export function callMeta(
  { tokenMeta = USUAL_TOKEN_META }: Pick<McpSettings, 'tokenMeta'>,
  call: BackendCall,
): Record<string, unknown> | undefined {
  const authorizations = call.authorizations.filter(({ requirements }) =>
    requirements.some(({ use }) => use !== 'server'),
  )
  const { secrets, metadata } = call
  if (authorizations.length + secrets.length + metadata.length === 0) return undefined
  return { [tokenMeta]: contextOf({ ...call, authorizations }) }
}
