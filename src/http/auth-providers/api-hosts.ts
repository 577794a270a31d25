import { type AllowsHttp, endpointFault } from '../../egress/endpoint.ts'
import { parseApiHost } from '../../providers/api-host.ts'
import type { ProviderApi } from '../../providers/provider.ts'
import { readHeaderFormat, refuse } from './request-members.ts'

interface ApiInput {
  readonly base_url?: string | null | undefined
  readonly hosts?: readonly string[] | undefined
  readonly auth_header_value_format?: string | null | undefined
}

/** Members that are left out stay; `null` removes a member or the whole. Throws `invalid_request` without any host. */
export function readApi(
  sent: ApiInput | null | undefined,
  before: ProviderApi | undefined,
  allowsHttp: AllowsHttp,
): ProviderApi | undefined {
  if (sent === undefined) return before
  if (sent === null) return undefined
  const baseUrl = sent.base_url === undefined ? before?.baseUrl : (sent.base_url ?? undefined)
  if (sent.base_url != null) checkBaseUrl(sent.base_url, allowsHttp)
  const hosts = sent.hosts?.map(readHost) ?? before?.hosts ?? []
  const format = sent.auth_header_value_format
  const authorization =
    format === undefined
      ? before?.authorization
      : readHeaderFormat('oauth2.api.auth_header_value_format', format)
  const ownHost = baseUrl === undefined ? [] : [new URL(baseUrl).host]
  const all = [...new Set([...ownHost, ...hosts])]
  if (all.length === 0) refuse('oauth2.api', 'needs a base_url or hosts')
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    hosts: all,
    ...(authorization !== undefined && { authorization }),
  }
}

export function writeApi({ baseUrl, hosts, authorization }: ProviderApi) {
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

function readHost(text: string, index: number): string {
  return (
    parseApiHost(text) ??
    refuse(
      `oauth2.api.hosts.${index}`,
      `is ${JSON.stringify(text.slice(0, 100))}, which is no host, host:port or *.example.com (with at least two labels after the *)`,
    )
  )
}
