import { type Definition, readDefinition } from '../providers/definition/read-definition.ts'
import { SCOPES } from './scopes.ts'

/**
 * The definition with which pages describe the sandbox's scopes. The catalogue does not list it: the sandbox's provider
 * entry comes from the sample tool's metadata.
 */
export function sandboxDefinition(publicUrl: URL): Definition {
  const endpoint = (path: string) => ({ endpoint: new URL(`sandbox/${path}`, publicUrl).href })
  return readDefinition(
    {
      id: 'sandbox',
      name: 'Sandbox',
      oauth2: { authorize_request: endpoint('authorize'), token_request: endpoint('token') },
      scopes: {
        'profile:read': { text: SCOPES['profile:read'], level: 'read' },
        'profile:write': { text: SCOPES['profile:write'], level: 'write' },
      },
    },
    { allowsHttp: () => true },
  )
}
