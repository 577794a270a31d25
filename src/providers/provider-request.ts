import type { OutgoingRequest } from './outgoing.ts'
import type { Client, RegisteredClient, RequestBlock } from './provider.ts'
import { renderParams, renderTemplate, type TemplateValues } from './template.ts'

/** What templates of this client's requests may hold; the request adds its own token or scopes. */
export function templateValues({ provider, client, redirectUri }: RegisteredClient): TemplateValues {
  return {
    client_id: client.clientId,
    client_secret: client.clientSecret ?? '',
    redirect_uri: redirectUri,
    scopeSeparator: provider.scopeSeparator,
  }
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
  const params = {
    ...Object.fromEntries(new URLSearchParams(protocol?.body === undefined ? '' : String(protocol.body))),
    ...renderParams(block.params, values),
  }
  const authorization = protocol?.headers.authorization ?? authorizationOf(block, values)
  const headers = {
    accept: 'application/json',
    'user-agent': 'gatepass',
    ...(authorization !== undefined && { authorization }),
  }
  if (block.method === 'GET') {
    const url = new URL(block.endpoint)
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
    return { url, method: 'GET', headers }
  }
  const json = block.requestContentType === 'application/json'
  return {
    url: block.endpoint,
    method: 'POST',
    headers: { ...headers, 'content-type': block.requestContentType },
    body: json ? JSON.stringify(params) : new URLSearchParams(params).toString(),
  }
}

/** RFC 6750 section 2.1 with the token, or RFC 6749 section 2.3.1 with the client. */
function authorizationOf(block: RequestBlock, values: TemplateValues): string | undefined {
  const { client_id: clientId, client_secret: clientSecret } = values
  if (block.authMethod === 'bearer_access_token') {
    const format = block.authHeaderValueFormat ?? 'Bearer {{access_token}}'
    return renderTemplate(format, values)
  }
  if (
    block.authMethod === 'client_secret_basic' &&
    typeof clientId === 'string' &&
    typeof clientSecret === 'string'
  )
    return basic({ clientId, clientSecret })
  return undefined
}

function basic({ clientId, clientSecret = '' }: Client): string {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`
}
