import { type AllowsHttp, endpointFault } from '../egress/endpoint.ts'
import { parseApiHost } from '../providers/api-host.ts'
import type { ProviderApi } from '../providers/provider.ts'
import { parseHeaderFormat, refuse } from './provider-blocks.ts'
import type { OAuth2Input, ProviderWire } from './provider-schema.ts'

// Where the broker may send users' tokens by itself, from the wire and back.

/** What is left out stays; `null` takes a member or all of it away. Without a host there is none. */
export function changedApi(
  said: OAuth2Input['api'],
  before: ProviderApi | undefined,
  allowsHttp: AllowsHttp,
): ProviderApi | undefined {
  if (said === undefined) return before
  if (said === null) return undefined
  const baseUrl = said.base_url === undefined ? before?.baseUrl : (said.base_url ?? undefined)
  if (said.base_url != null) checkBaseUrl(said.base_url, allowsHttp)
  const hosts = said.hosts?.map(parseHost) ?? before?.hosts ?? []
  const format = said.auth_header_value_format
  const authorization =
    format === undefined
      ? before?.authorization
      : parseHeaderFormat('oauth2.api.auth_header_value_format', format)
  const ownHost = baseUrl === undefined ? [] : [new URL(baseUrl).host]
  const all = [...new Set([...ownHost, ...hosts])]
  if (all.length === 0) refuse('oauth2.api', 'needs a base_url or hosts')
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    hosts: all,
    ...(authorization !== undefined && { authorization }),
  }
}

export function apiToWire({ baseUrl, hosts, authorization }: ProviderApi): ProviderWire['oauth2']['api'] {
  return {
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    hosts: [...hosts],
    ...(authorization !== undefined && { auth_header_value_format: authorization }),
  }
}

function checkBaseUrl(text: string, allowsHttp: AllowsHttp): void {
  const fault = endpointFault(text, allowsHttp)
  if (fault !== undefined) refuse('oauth2.api.base_url', fault)
  if (text.includes('?')) refuse('oauth2.api.base_url', 'must not hold a query')
}

function parseHost(text: string, index: number): string {
  return (
    parseApiHost(text) ??
    refuse(
      `oauth2.api.hosts.${index}`,
      `is ${JSON.stringify(text.slice(0, 100))}, which is no host, host:port or *.example.com (with at least two labels after the *)`,
    )
  )
}
