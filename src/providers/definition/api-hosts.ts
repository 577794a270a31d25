import { parseApiHost } from '../api-host.ts'
import type { ProviderApi } from '../provider.ts'
import { baseUrlTemplateFault, fillUrl, isFilled, literalHost } from '../variables.ts'
import { readHeaders } from './header-templates.ts'
import { refuse } from './refuse.ts'
import { readHeaderFormat } from './request-members.ts'
import type { OAuth2Context } from './requests.ts'
import { literalUrlFault } from './url-variables.ts'

type ApiContext = Pick<OAuth2Context, 'allowsHttp' | 'variables' | 'read'> & {
  /** The member on the wire that has `api`; by default `oauth2`. */
  readonly within?: string
  /** What headers may name; by default the client's id, the token and kept values. */
  readonly placeholders?: readonly string[]
}

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
  context: ApiContext,
): ProviderApi | undefined {
  if (sent === undefined) return before
  if (sent === null) return undefined
  const { within = 'oauth2' } = context
  const base =
    sent.base_url === undefined
      ? { url: before?.baseUrl, template: before?.baseUrlTemplate }
      : sent.base_url === null
        ? {}
        : readBaseUrl(sent.base_url, context)
  const { url: baseUrl, template } = base
  const hosts =
    sent.hosts?.map((host, index) => readHost(host, `${within}.api.hosts.${index}`)) ?? before?.hosts ?? []
  const format = sent.auth_header_value_format
  const authorization =
    format === undefined
      ? before?.authorization
      : readHeaderFormat(`${within}.api.auth_header_value_format`, format)
  const placeholders = context.placeholders ?? [
    'client_id',
    'access_token',
    ...Object.keys(context.read.keptValues ?? {}),
  ]
  const headers =
    sent.headers === undefined
      ? before?.headers
      : readHeaders(`${within}.api.headers`, sent.headers, placeholders)
  if (headers?.authorization !== undefined)
    refuse(
      `${within}.api.headers.authorization`,
      within === 'oauth2' ? 'is written in oauth2.api.auth_header_value_format' : 'is written in place',
    )
  const written = template === undefined ? baseUrl : fillUrl(template, context.variables)
  const ownHost = written === undefined ? undefined : literalHost(written)
  const all = [...new Set([...(ownHost === undefined ? [] : [ownHost]), ...hosts])]
  if (all.length === 0)
    refuse(
      `${within}.api`,
      template === undefined ? 'needs a base_url or hosts' : 'needs hosts: its base_url has none',
    )
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
    ...((baseUrlTemplate ?? baseUrl) !== undefined && { base_url: baseUrlTemplate ?? baseUrl }),
    hosts: [...hosts],
    ...(authorization !== undefined && { auth_header_value_format: authorization }),
    ...(headers !== undefined && { headers: { ...headers } }),
  }
}

function readBaseUrl(sent: string, { allowsHttp, variables, read, within = 'oauth2' }: ApiContext) {
  const path = `${within}.api.base_url`
  const keptValues = read.keptValues ?? {}
  const fault = baseUrlTemplateFault(sent, { ...(variables && { variables }), keptValues })
  if (fault !== undefined)
    refuse(
      path,
      within === 'oauth2'
        ? `${fault}: oauth2.variables and oauth2.kept_values declare what may be named`
        : `${fault}: fields that are not secret, and ${within}.variables, declare what may be named`,
    )
  const url = fillUrl(sent, variables)
  const urlFault =
    literalUrlFault(url, allowsHttp) ?? (url.includes('?') ? 'must not hold a query' : undefined)
  if (urlFault !== undefined) refuse(path, urlFault)
  return { ...(isFilled(url) && { url }), ...(url !== sent || !isFilled(url) ? { template: sent } : {}) }
}

function readHost(text: string, path: string): string {
  return (
    parseApiHost(text) ??
    refuse(
      path,
      `is ${JSON.stringify(text.slice(0, 100))}, which is not a host, host:port, or *.example.com (with at least two labels after the *)`,
    )
  )
}
