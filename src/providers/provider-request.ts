import { unionOfScopes } from '../domain/scopes.ts'
import type { OutgoingRequest } from '../egress/outgoing.ts'
import { type ClientCredentials, clientCredentials } from './client-authentication.ts'
import { renderHeaders } from './headers.ts'
import { factsOf } from './known-facts.ts'
import type { Provider, RegisteredClient, RequestBlock } from './provider.ts'
import { fillTemplate, mentions, renderParams, renderTemplate, type TemplateValues } from './template.ts'

/** The values for templates of this client's requests; each request adds its token or scopes. */
export function templateValues({ provider, client, redirectUri }: RegisteredClient): TemplateValues {
  return {
    client_id: client.clientId,
    client_secret: client.clientSecret ?? '',
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
  const templates = provider.authorizationRequest.params
  const { asked, fresh, existing } = scopesToAsk(provider, scopes, existingScopes)
  const values = { ...templateValues(registered), scopes: fresh, existing_scopes: existing }
  const placed = Object.values(templates).some(
    (template) => mentions(template, 'scopes') || mentions(template, 'existing_scopes'),
  )
  const params: Record<string, string> = {
    redirect_uri: redirectUri,
    ...(!placed && asked.length > 0 && { scope: asked.join(provider.scopeSeparator) }),
    ...renderParams(templates, values),
    ...protocol,
  }
  // the endpoint's own query stays, except parameters that are set here: they must occur once
  const endpoint = new URL(endpointOf(provider.authorizationRequest, values))
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

/**
 * The request that a block describes: its rendered parameters laid over those of the protocol, which openid-client
 * prepared (`protocol`), in the encoding the block asks for.
 */
export function requestOf(
  block: RequestBlock,
  values: TemplateValues,
  protocol?: { readonly headers: Record<string, string>; readonly body?: unknown },
): OutgoingRequest {
  // openid-client has put the client's credentials into the requests that it prepares
  const prepared = protocol?.headers.authorization !== undefined || protocol?.body !== undefined
  const own =
    prepared && block.authMethod !== 'bearer_access_token' ? undefined : ownCredentials(block, values)
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
  const endpoint = endpointOf(block, values)
  if (block.method === 'GET') {
    const url = new URL(endpoint)
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return { url, method: 'GET', headers }
  }
  // some APIs refuse a form where they expect nothing (Dropbox)
  if (Object.keys(params).length === 0) return { url: endpoint, method: block.method, headers }
  const json = block.requestContentType === 'application/json'
  return {
    url: endpoint,
    method: block.method,
    headers: { ...headers, 'content-type': block.requestContentType },
    body: json ? JSON.stringify(params) : new URLSearchParams(params).toString(),
  }
}

/** The parameters under the names that the server has for them. */
function renamed(
  { parameterNames = {} }: Pick<RequestBlock, 'parameterNames'>,
  params: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Map<string, string>(Object.entries(parameterNames))
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [names.get(name) ?? name, value]))
}

/** The authorization request's URL with the server's names of its parameters. */
export function withParameterNames(url: URL, { parameterNames = {} }: Provider['authorizationRequest']): URL {
  for (const [standard, name] of Object.entries(parameterNames)) {
    const value = url.searchParams.get(standard)
    if (value === null) continue
    url.searchParams.delete(standard)
    url.searchParams.set(name, value)
  }
  return url
}

/** The block's URL, with the client id in its path where the entry names it (GitHub, Nuvemshop). */
function endpointOf(
  { endpoint }: Pick<RequestBlock, 'endpoint'>,
  { client_id = '' }: TemplateValues,
): string {
  return fillTemplate(endpoint, { client_id: encodeURIComponent(client_id) })
}

/** RFC 6750 section 2.1 with the token, or RFC 6749 section 2.3.1 with the client. */
function ownCredentials(block: RequestBlock, values: TemplateValues): ClientCredentials {
  if (block.authMethod === 'bearer_access_token') {
    const format = block.authHeaderValueFormat ?? 'Bearer {{access_token}}'
    return { authorization: renderTemplate(format, values), params: {} }
  }
  const { client_id: clientId, client_secret: clientSecret } = values
  if (block.authMethod === 'none' || typeof clientId !== 'string') return { params: {} }
  return clientCredentials(block.authMethod, {
    clientId,
    ...(typeof clientSecret === 'string' && { clientSecret }),
  })
}

function takeParameter(url: URL, name: string): string {
  const value = url.searchParams.get(name) ?? ''
  url.searchParams.delete(name)
  return value
}
