import { endpointFault } from '../../egress/endpoint.ts'
import { parseApiHost } from '../../providers/api-host.ts'
import type { ProviderApi } from '../../providers/provider.ts'
import { readHeaders } from './header-templates.ts'
import { refuse } from './refuse.ts'
import { readHeaderFormat } from './request-members.ts'
import type { OAuth2Context } from './requests.ts'
import { readUrl } from './url-variables.ts'

interface ApiInput {
  readonly base_url?: string | null | undefined
  readonly hosts?: readonly string[] | undefined
  readonly auth_header_value_format?: string | null | undefined
  readonly headers?: Readonly<Record<string, string>> | null | undefined
}

/** Members that are left out stay; `null` removes a member or the whole. Throws `invalid_request` without any host. */
export function readApi(
  sent: ApiInput | null | undefined,
  before: ProviderApi | undefined,
  context: Pick<OAuth2Context, 'allowsHttp' | 'variables'>,
): ProviderApi | undefined {
  if (sent === undefined) return before
  if (sent === null) return undefined
  const base =
    sent.base_url === undefined
      ? { url: before?.baseUrl, template: before?.baseUrlTemplate }
      : sent.base_url === null
        ? {}
        : readBaseUrl(sent.base_url, context)
  const { url: baseUrl, template } = base
  const hosts = sent.hosts?.map(readHost) ?? before?.hosts ?? []
  const format = sent.auth_header_value_format
  const authorization =
    format === undefined
      ? before?.authorization
      : readHeaderFormat('oauth2.api.auth_header_value_format', format)
  const headers =
    sent.headers === undefined
      ? before?.headers
      : readHeaders('oauth2.api.headers', sent.headers, ['client_id', 'access_token'])
  if (headers?.authorization !== undefined)
    refuse('oauth2.api.headers.authorization', 'is written in oauth2.api.auth_header_value_format')
  const ownHost = baseUrl === undefined ? [] : [new URL(baseUrl).host]
  const all = [...new Set([...ownHost, ...hosts])]
  if (all.length === 0) refuse('oauth2.api', 'needs a base_url or hosts')
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(template !== undefined && { baseUrlTemplate: template }),
    hosts: all,
    ...(authorization !== undefined && { authorization }),
    ...(headers !== undefined && { headers }),
  }
}

export function writeApi({ baseUrl, baseUrlTemplate, hosts, authorization, headers }: ProviderApi) {
  return {
    ...(baseUrl !== undefined && { base_url: baseUrlTemplate ?? baseUrl }),
    hosts: [...hosts],
    ...(authorization !== undefined && { auth_header_value_format: authorization }),
    ...(headers !== undefined && { headers: { ...headers } }),
  }
}

function readBaseUrl(
  sent: string,
  { allowsHttp, variables }: Pick<OAuth2Context, 'allowsHttp' | 'variables'>,
) {
  const read = readUrl('oauth2.api.base_url', sent, variables)
  const fault = endpointFault(read.url, allowsHttp)
  if (fault !== undefined) refuse('oauth2.api.base_url', fault)
  if (read.url.includes('?')) refuse('oauth2.api.base_url', 'must not hold a query')
  return read
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
