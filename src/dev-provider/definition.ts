import { type Definition, readDefinition } from '../providers/definition/read-definition.ts'
import { SCOPES } from './scopes.ts'

/** What pages say of the sandbox's scopes. It is no entry of the catalogue: the sample tool brings the provider. */
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
