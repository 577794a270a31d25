import { type Definition, readDefinition } from '../providers/definition/read-definition.ts'
import { SCOPES } from './scopes.ts'

/** The id of the sandbox as a provider. */
export const SANDBOX_PROVIDER = 'sandbox'

/**
 * Describes the sandbox's scopes for pages, and where its API is. The catalogue does not list it: the sandbox's provider
 * entry comes from the sample tool's metadata.
 */
export function sandboxDefinition(publicUrl: URL): Definition {
  const endpoint = (path: string) => ({ endpoint: new URL(`sandbox/${path}`, publicUrl).href })
  return readDefinition(
    {
      id: SANDBOX_PROVIDER,
      name: 'Sandbox',
      oauth2: {
        authorize_request: endpoint('authorize'),
        token_request: endpoint('token'),
        api: { base_url: new URL('sandbox', publicUrl).href },
      },
      scopes: {
        'profile:read': { text: SCOPES['profile:read'], level: 'read' },
        'profile:write': { text: SCOPES['profile:write'], level: 'write' },
      },
    },
    { allowsHttp: () => true },
  )
}
