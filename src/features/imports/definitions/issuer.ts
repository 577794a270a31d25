import type { Discover, ServerMetadata } from '../../../providers/discovery.ts'
import {
  carried,
  type ImportedProvider,
  type ImportNote,
  type ImportOptions,
  idOf,
  notCarried,
} from './imported.ts'

/** What a definition has besides the metadata: an MCP server's resource, for example. */
export interface BesidesMetadata {
  /** Parameters of the authorization, token and refresh requests. */
  readonly params?: Readonly<Record<string, string>>
  readonly defaultScopes?: readonly string[]
  readonly apiBaseUrl?: string
}

/** The definition that an issuer's checked metadata makes (RFC 8414, OpenID Connect Discovery). Throws `ProviderRefusal`. */
export async function importIssuer(
  discover: Discover,
  issuer: string,
  options: ImportOptions = {},
): Promise<ImportedProvider> {
  return definitionOf(new URL(issuer).host, await discover(issuer), {}, options)
}

/**
 * The definition that an issuer's metadata makes. It contains the endpoints, so that they can be checked in the file; a
 * later change of the metadata has no effect.
 */
export function definitionOf(
  name: string,
  metadata: ServerMetadata,
  { params, defaultScopes = [], apiBaseUrl }: BesidesMetadata,
  options: ImportOptions,
): ImportedProvider {
  const id = idOf(name)
  if (id === undefined) return notCarried(name, 'no id can be made of its host')
  const notes: ImportNote[] = []
  const client = authentication(metadata, notes)
  const request = { ...client.request, ...(params && { params }) }
  const { code_challenge_methods_supported: methods } = metadata
  const isPlain = methods?.includes('plain') && !methods.includes('S256')
  const oauth2 = {
    issuer: metadata.issuer,
    authorization_response_iss_parameter_supported:
      metadata.authorization_response_iss_parameter_supported === true,
    pkce: { enabled: true, code_challenge_method: isPlain ? 'plain' : 'S256' },
    authorize_request: { endpoint: metadata.authorization_endpoint, ...(params && { params }) },
    token_request: { endpoint: metadata.token_endpoint, ...request },
    refresh_request: { endpoint: metadata.token_endpoint, ...request },
    user_info_request: metadata.userinfo_endpoint && {
      endpoint: metadata.userinfo_endpoint,
      triggers: { on_token_grant: true },
    },
    token_introspection_request: metadata.introspection_endpoint && {
      endpoint: metadata.introspection_endpoint,
      ...client.request,
      params: { token: '{{access_token}}' },
      triggers: { on_token_grant: true, on_token_refresh: true },
    },
    revocation_request: metadata.revocation_endpoint && {
      endpoint: metadata.revocation_endpoint,
      ...client.request,
    },
    end_session_endpoint: metadata.end_session_endpoint,
    public_clients: client.isPublic || undefined,
    default_scopes: defaultScopes.length > 0 ? defaultScopes : undefined,
    api: apiBaseUrl === undefined ? undefined : { base_url: apiBaseUrl },
  }
  return carried(name, { id, name, oauth2 }, notes, options)
}

/** Basic is the default when the metadata does not say (RFC 8414 section 2). */
function authentication(
  { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] }: ServerMetadata,
  notes: ImportNote[],
): { readonly request: { readonly auth_method?: string }; readonly isPublic: boolean } {
  const method = ['client_secret_basic', 'client_secret_post'].find((authMethod) =>
    methods.includes(authMethod),
  )
  const isPublic = methods.includes('none')
  if (method === undefined && !isPublic)
    notes.push({
      member: 'token_endpoint_auth_methods_supported',
      reason: `the client authenticates by ${methods.join(', ').slice(0, 200)}`,
    })
  return { request: method === undefined ? {} : { auth_method: method }, isPublic }
}
