import { fitsPattern } from './callback-members.ts'
import type { Provider, ProviderApi, ProviderVariable } from './provider.ts'
import { checkTemplate, fillTemplate } from './template.ts'

type Variables = Readonly<Record<string, ProviderVariable>>

/** A host (with a port), or one segment of a path: the value cannot end the part of the URL that it is put into. */
const PART_OF_URL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*(?::\d{1,5})?$/

/** Why the value cannot be put into the entry's URLs, or `undefined` when it can. */
export function variableFault({ pattern, value }: ProviderVariable): string | undefined {
  if (!PART_OF_URL.test(value)) return 'is no host and no single segment of a path (letters, digits, - . _)'
  return fitsPattern(pattern, value) ? undefined : `does not match ${pattern}`
}

/** Why the text is no URL template, or `undefined`: its placeholders are variables, and all else is literal. */
export function urlTemplateFault(template: string, variables: Variables | undefined): string | undefined {
  return checkTemplate(template, Object.keys(variables ?? {}))
}

/** The URL of a template. */
export function fillUrl(template: string, variables: Variables | undefined): string {
  const values = Object.entries(variables ?? {}).map(([name, { value }]) => [name, value] as const)
  return fillTemplate(template, Object.fromEntries(values))
}

/** The templates of the provider's URLs, by their members on the wire. */
export function urlTemplatesOf(provider: Provider): readonly (readonly [path: string, template: string])[] {
  const templates = {
    'authorize_request.endpoint': provider.authorizationRequest.endpointTemplate,
    'token_request.endpoint': provider.tokenRequest.endpointTemplate,
    'refresh_request.endpoint': provider.refreshRequest?.endpointTemplate,
    'user_info_request.endpoint': provider.userInfoRequest?.endpointTemplate,
    'token_introspection_request.endpoint': provider.introspectionRequest?.endpointTemplate,
    'revocation_request.endpoint': provider.revocationRequest?.endpointTemplate,
    'api.base_url': provider.api?.baseUrlTemplate,
  }
  return Object.entries(templates).flatMap(([path, template]) =>
    template === undefined ? [] : [[path, template] as const],
  )
}

/**
 * The provider with other values of its variables in its URLs, which must be valid. A URL whose template names a variable
 * that there is no more stays.
 */
export function withVariables(provider: Provider, variables: Variables | undefined): Provider {
  const filled = <Block extends Provider['authorizationRequest']>(block: Block): Block => {
    const { endpointTemplate } = block
    return endpointTemplate === undefined || urlTemplateFault(endpointTemplate, variables) !== undefined
      ? block
      : { ...block, endpoint: fillUrl(endpointTemplate, variables) }
  }
  const { userInfoRequest, refreshRequest, introspectionRequest, revocationRequest, api } = provider
  return {
    ...provider,
    authorizationRequest: filled(provider.authorizationRequest),
    tokenRequest: filled(provider.tokenRequest),
    ...(refreshRequest && { refreshRequest: filled(refreshRequest) }),
    ...(userInfoRequest && { userInfoRequest: filled(userInfoRequest) }),
    ...(introspectionRequest && { introspectionRequest: filled(introspectionRequest) }),
    ...(revocationRequest && { revocationRequest: filled(revocationRequest) }),
    ...(api && { api: apiWith(api, variables) }),
  }
}

/** The host of the former base URL is dropped: tokens of one account must not be sent to the host of another. */
function apiWith(api: ProviderApi, variables: Variables | undefined): ProviderApi {
  const { baseUrl: former, baseUrlTemplate, hosts } = api
  if (baseUrlTemplate === undefined || urlTemplateFault(baseUrlTemplate, variables) !== undefined) return api
  const baseUrl = fillUrl(baseUrlTemplate, variables)
  const others = hosts.filter((host) => former === undefined || host !== new URL(former).host)
  return { ...api, baseUrl, hosts: [...new Set([new URL(baseUrl).host, ...others])] }
}
