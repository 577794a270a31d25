import { unionOfScopes } from '../domain/scopes.ts'
import type { OutgoingRequest } from '../egress/outgoing.ts'
import type { ClientCredentials } from './client-authentication.ts'
import { isSent } from './client-key.ts'
import { BOUND_TOKEN } from './dpop.ts'
import { renderHeaders } from './headers.ts'
import { factsOf } from './known-facts.ts'
import type { Provider } from './provider.ts'
import { authorizationRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import type { RequestBlock } from './request-block.ts'
import {
  fillTemplate,
  isScopeMembers,
  literalWords,
  placesScopes,
  renderParams,
  renderTemplate,
  type TemplateValues,
} from './template.ts'

/** The values for templates of this client's requests, without keys. Each request adds its token or scopes. */
export function templateValues({ provider, client, redirectUri }: RegisteredClient): TemplateValues {
  return {
    client_id: client.clientId,
    client_secret: isSent(provider, client) ? (client.clientSecret ?? '') : '',
    redirect_uri: redirectUri,
    scopeSeparator: provider.scopeSeparator,
  }
}

/**
 * The authorization request that the entry describes (RFC 6749 section 4.1.1), with the protocol's parameters, which the
 * entry's own cannot replace.
 */
export function authorizationRequestOf(
  registered: RegisteredClient,
  scopes: readonly string[],
  existingScopes: readonly string[],
  protocol: Readonly<Record<string, string>>,
): { readonly endpoint: URL; readonly params: Record<string, string> } {
  const { provider, redirectUri } = registered
  const request = authorizationRequestIn(provider)
  const templates = request.params
  const { asked, fresh, existing } = scopesToAsk(provider, scopes, existingScopes)
  const values = { ...templateValues(registered), scopes: fresh, existing_scopes: existing }
  const placed = Object.values(templates).some(placesScopes)
  const params: Record<string, string> = {
    redirect_uri: redirectUri,
    ...(!placed && asked.length > 0 && { scope: asked.join(provider.scopeSeparator) }),
    ...renderParams(templates, values),
    ...protocol,
  }
  // the endpoint's own query stays, except parameters that are set here: they must occur once
  const endpoint = new URL(endpointOf(request, values))
  for (const name of [...Object.keys(params), 'client_id']) endpoint.searchParams.delete(name)
  if (endpoint.searchParams.has('response_type'))
    params.response_type ??= takeParameter(endpoint, 'response_type')
  return { endpoint, params }
}

/**
 * The scopes of an authorization request: the union with those that were granted before, or only new ones where the
 * server keeps the others. A user who is asked for nothing new is asked for all again.
 */
export function scopesToAsk(
  provider: Provider,
  scopes: readonly string[],
  existingScopes: readonly string[],
): Readonly<Record<'asked' | 'fresh' | 'existing', readonly string[]>> {
  const fresh = scopes.filter((scope) => !existingScopes.includes(scope))
  if (factsOf(provider).keepsEarlierGrants === true && fresh.length > 0)
    return { asked: fresh, fresh, existing: [] }
  return { asked: unionOfScopes(scopes, existingScopes), fresh, existing: existingScopes }
}

/** The scopes that the entry adds to each authorization request by the text of its parameters (`offline_access`). */
export function ownScopes({ authorizationRequest }: Provider): string[] {
  if (authorizationRequest === undefined) return []
  const { endpoint, params } = authorizationRequest
  const templates = Object.entries(params)
    .filter(([name, template]) => SCOPE_PARAMETER.test(name) || placesScopes(template))
    .map(([, template]) => template)
  const ofEndpoint = URL.canParse(endpoint) ? new URL(endpoint).searchParams.getAll('scope') : []
  return unionOfScopes((templates.length > 0 ? templates : ofEndpoint).flatMap(literalWords))
}

/** `scope` (RFC 6749 section 3.3), and names such as `user_scope` (Slack) of the scopes of another token. */
const SCOPE_PARAMETER = /(?:^|_)scopes?$/i

/**
 * The request that a block describes, in the encoding that the block asks for. The block's parameters replace those of
 * the protocol. `client`: the client's credentials for this request. `isBound`: the token is used with a proof (RFC 9449).
 */
export function requestOf(
  block: RequestBlock,
  values: TemplateValues,
  {
    protocol,
    client,
    isBound = false,
  }: {
    readonly protocol?: { readonly headers: Record<string, string>; readonly body?: unknown }
    readonly client?: ClientCredentials
    readonly isBound?: boolean
  } = {},
): OutgoingRequest {
  const own =
    block.authMethod === 'bearer_access_token'
      ? tokenIn(block, values, { isBound })
      : credentialsIn(block, client)
  const params = renamed(block, {
    ...Object.fromEntries(new URLSearchParams(protocol?.body === undefined ? '' : String(protocol.body))),
    ...own?.params,
    ...renderParams(block.params, values),
  })
  const authorization = protocol?.headers.authorization ?? own?.authorization
  const headers = {
    accept: 'application/json',
    'user-agent': 'gatepass',
    ...renderHeaders(block.headers, values),
    ...(authorization !== undefined && { authorization }),
  }
  const sent = { headers, ...(client?.certificate && { clientCertificate: client.certificate }) }
  const endpoint = endpointOf(block, values)
  if (block.method === 'GET') {
    const url = new URL(endpoint)
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return { ...sent, url, method: 'GET' }
  }
  const objects = objectParams(block, values)
  // some APIs refuse a form where they expect no body (Dropbox)
  if (Object.keys({ ...params, ...objects }).length === 0)
    return { ...sent, url: endpoint, method: block.method }
  const json = block.requestContentType === 'application/json'
  return {
    ...sent,
    url: endpoint,
    method: block.method,
    headers: { ...headers, 'content-type': block.requestContentType },
    body: json ? JSON.stringify({ ...params, ...objects }) : new URLSearchParams(params).toString(),
  }
}

/** The members of a JSON body that are the scopes as an object; none where no scopes are asked for. */
function objectParams(
  { params }: Pick<RequestBlock, 'params'>,
  { scopes = [] }: TemplateValues,
): Record<string, unknown> {
  if (scopes.length === 0) return {}
  const names = Object.keys(params).filter((name) => isScopeMembers(params[name] ?? ''))
  return Object.fromEntries(names.map((name) => [name, scopeMembers(scopes)]))
}

/** The scopes `name:value` as an object; of several with one name the last counts. */
function scopeMembers(scopes: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    scopes.map((scope) => {
      const at = scope.indexOf(':')
      return [scope.slice(0, at), scope.slice(at + 1)]
    }),
  )
}

/** Whether `{{scope_members}}` can have the scope: a name and a value. */
export function isScopeMember(scope: string): boolean {
  return /^[^:]+:.+$/.test(scope)
}

/** The parameters under the names that the server has for them. */
function renamed(
  { parameterNames = {} }: Pick<RequestBlock, 'parameterNames'>,
  params: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Map<string, string>(Object.entries(parameterNames))
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [names.get(name) ?? name, value]))
}

/** The authorization request's URL with the server's names of its parameters, and its fragment. */
export function withServerNames(url: URL, provider: Provider): URL {
  const { stateParameter } = provider
  const { parameterNames = {}, fragment } = authorizationRequestIn(provider)
  const names = { ...parameterNames, ...(stateParameter !== undefined && { state: stateParameter }) }
  for (const [standard, name] of Object.entries(names)) {
    const value = url.searchParams.get(standard)
    if (value === null) continue
    url.searchParams.delete(standard)
    url.searchParams.set(name, value)
  }
  if (fragment !== undefined) url.hash = fragment
  return url
}

/** The block's URL, with the client id in its path where the entry names it (GitHub, Nuvemshop), or the installation. */
function endpointOf(
  { endpoint }: Pick<RequestBlock, 'endpoint'>,
  { client_id = '', installation_id = '' }: TemplateValues,
): string {
  return fillTemplate(endpoint, {
    client_id: encodeURIComponent(client_id),
    installation_id: encodeURIComponent(installation_id),
  })
}

/** RFC 6750 section 2.1, RFC 9449 section 7.1. */
function tokenIn(
  { authHeaderValueFormat = 'Bearer {{access_token}}' }: RequestBlock,
  values: TemplateValues,
  { isBound }: { readonly isBound: boolean },
): ClientCredentials {
  const format = isBound ? BOUND_TOKEN : authHeaderValueFormat
  return { authorization: renderTemplate(format, values), params: {} }
}

/** With `none` the block's own parameters name the client. */
function credentialsIn(
  { authMethod }: RequestBlock,
  client: ClientCredentials | undefined,
): ClientCredentials | undefined {
  return authMethod === 'none' ? undefined : client
}

function takeParameter(url: URL, name: string): string {
  const value = url.searchParams.get(name) ?? ''
  url.searchParams.delete(name)
  return value
}
