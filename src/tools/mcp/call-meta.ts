import { contextOf } from '../arcade/backend.ts'
import type { BackendCall } from '../backend.ts'
import { type McpSettings, USUAL_TOKEN_META } from './settings.ts'

/**
 * What a call carries beside its arguments: the tool's tokens, secrets and user, as Arcade's MCP servers read them
 * (reference/arcade.md section 3). Only for a tool that declares what it needs, and never the token that opens the server.
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
