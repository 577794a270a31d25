import { invalidMember } from '../domain/errors.ts'
import { type AllowsHttp, endpointFault } from '../egress/endpoint.ts'
import { FORM, INTROSPECTED, JSON_TYPE } from '../providers/catalogue/define.ts'
import type {
  AuthorizationRequestBlock,
  RequestBlock,
  ResourceRequestBlock,
  TokenRequestBlock,
} from '../providers/provider.ts'
import { checkResponseMap } from '../providers/response-map.ts'
import { checkTemplate, mentions, type Placeholder } from '../providers/template.ts'
import type { BlockInput } from './provider-schema.ts'

/** The request blocks of a provider, from the wire and back. Faults name their path. */

export type BlockName =
  | 'authorize_request'
  | 'token_request'
  | 'refresh_request'
  | 'user_info_request'
  | 'token_introspection_request'
  | 'revocation_request'

interface Rules {
  readonly placeholders: readonly Placeholder[]
  /** The first is meant when none is said. */
  readonly authMethods: readonly (RequestBlock['authMethod'] | 'by_params')[]
}

const BASIC = ['client_secret_basic', 'client_secret_basic_unencoded'] as const

/** `by_params`: the secret goes where the parameters say, or else beside them in the body; Arcade's default. */
const RULES: Readonly<Record<Exclude<BlockName, 'authorize_request'>, Rules>> = {
  token_request: {
    placeholders: ['client_id', 'client_secret', 'redirect_uri'],
    authMethods: ['by_params', ...BASIC, 'client_secret_post'],
  },
  refresh_request: {
    placeholders: ['refresh_token', 'access_token', 'client_id', 'client_secret', 'redirect_uri'],
    authMethods: ['by_params', ...BASIC, 'client_secret_post', 'bearer_access_token'],
  },
  user_info_request: { placeholders: ['client_id', 'access_token'], authMethods: ['bearer_access_token'] },
  token_introspection_request: {
    placeholders: ['access_token', 'client_id', 'client_secret'],
    authMethods: [...BASIC, 'client_secret_post', 'bearer_access_token', 'by_params'],
  },
  revocation_request: {
    placeholders: ['access_token', 'refresh_token', 'client_id', 'client_secret'],
    authMethods: ['by_params', ...BASIC, 'client_secret_post', 'bearer_access_token'],
  },
}

export function refuse(path: string, fault: string): never {
  throw invalidMember(path, 'invalid', `${path} ${fault}.`)
}

export function parseAuthorizationBlock(said: BlockInput, allowsHttp: AllowsHttp): AuthorizationRequestBlock {
  const path = 'oauth2.authorize_request'
  const params = said.params ?? {}
  checkTemplates(path, params, ['client_id', 'redirect_uri', 'scopes', 'existing_scopes'])
  return { endpoint: checkedEndpoint(path, said, allowsHttp), params }
}

export function parseTokenBlock(
  name: Exclude<BlockName, 'authorize_request'>,
  said: BlockInput,
  allowsHttp: AllowsHttp,
): TokenRequestBlock {
  const path = `oauth2.${name}`
  const isResource = name === 'user_info_request'
  const method = said.method ?? (isResource ? 'GET' : 'POST')
  if (method === 'GET' && !isResource)
    refuse(`${path}.method`, 'has to be POST: with GET a secret or token would stand in the URL')
  const params = said.params ?? {}
  checkTemplates(path, params, RULES[name].placeholders)
  if (method === 'GET' && Object.values(params).some((template) => mentions(template, 'access_token')))
    refuse(`${path}.params`, 'must not hold {{access_token}}: with GET it would stand in the URL')
  const responseMap = said.response_map ?? undefined
  const mapFault = responseMap && checkResponseMap(responseMap)
  if (mapFault !== undefined) refuse(`${path}.response_map`, `has a fault: ${mapFault}`)
  return {
    endpoint: checkedEndpoint(path, said, allowsHttp),
    method,
    ...authentication(name, path, said, params),
    ...headerFormat(path, said),
    requestContentType: said.request_content_type ?? FORM,
    responseContentType: said.response_content_type ?? JSON_TYPE,
    ...(responseMap !== undefined && { responseMap }),
    ...(said.expiration_format != null && { expirationFormat: said.expiration_format }),
  }
}

export function parseResourceBlock(
  name: 'user_info_request' | 'token_introspection_request',
  said: BlockInput,
  allowsHttp: AllowsHttp,
): ResourceRequestBlock {
  if (said.triggers === undefined) refuse(`oauth2.${name}.triggers`, 'is required')
  const { on_token_grant: onTokenGrant = false, on_token_refresh: onTokenRefresh = false } = said.triggers
  return {
    ...(name === 'token_introspection_request' && INTROSPECTED),
    ...parseTokenBlock(name, said, allowsHttp),
    triggers: { onTokenGrant, onTokenRefresh },
  }
}

/** One way of showing the client per request: where it has a way, the secret is taken out of the parameters. */
function authentication(
  name: Exclude<BlockName, 'authorize_request'>,
  path: string,
  said: BlockInput,
  params: Readonly<Record<string, string>>,
): Pick<RequestBlock, 'authMethod' | 'params'> {
  const { authMethods } = RULES[name]
  // beyond Arcade, so `none` means it: Google's takes the token alone
  if (name === 'revocation_request' && said.auth_method === 'none') return { authMethod: 'none', params }
  const named = said.auth_method === 'none' ? 'by_params' : said.auth_method || authMethods[0]
  const authMethod = authMethods.find((one) => one === named)
  if (authMethod === undefined) {
    const known = authMethods.map((one) => (one === 'by_params' ? 'none' : one)).join(', ')
    return refuse(`${path}.auth_method`, `has to be one of ${known}`)
  }
  const holdsSecret = (template: string) => mentions(template, 'client_secret')
  if (authMethod === 'by_params') {
    const byParams = Object.values(params).some(holdsSecret)
    return { authMethod: byParams ? 'none' : 'client_secret_post', params }
  }
  if (authMethod === 'bearer_access_token') return { authMethod, params }
  const kept = Object.entries(params).filter(([, template]) => !holdsSecret(template))
  return { authMethod, params: Object.fromEntries(kept) }
}

function headerFormat(path: string, said: BlockInput): Pick<RequestBlock, 'authHeaderValueFormat'> {
  const format = parseHeaderFormat(`${path}.auth_header_value_format`, said.auth_header_value_format)
  return format === undefined ? {} : { authHeaderValueFormat: format }
}

/** The template of an `Authorization` value; nothing and an empty one are none. */
export function parseHeaderFormat(path: string, format: string | null | undefined): string | undefined {
  if (format == null || format === '') return undefined
  const fault = checkTemplate(format, ['access_token'])
  if (fault !== undefined) refuse(path, fault)
  if (!mentions(format, 'access_token') || !/^[\x20-\x7e]+$/.test(format))
    refuse(
      path,
      'has to hold {{access_token}} and nothing but visible ASCII, such as "Bearer {{access_token}}"',
    )
  return format
}

function checkTemplates(
  path: string,
  params: Readonly<Record<string, string>>,
  allowed: readonly Placeholder[],
): void {
  for (const [name, template] of Object.entries(params)) {
    const fault = checkTemplate(template, allowed)
    if (fault !== undefined) refuse(`${path}.params.${name}`, fault)
  }
}

function checkedEndpoint(path: string, said: BlockInput, allowsHttp: AllowsHttp): string {
  if (said.endpoint === undefined) return refuse(`${path}.endpoint`, 'is required')
  const fault = endpointFault(said.endpoint, allowsHttp)
  if (fault !== undefined) refuse(`${path}.endpoint`, fault)
  return said.endpoint
}

export function authorizationBlockToWire({ endpoint, params }: AuthorizationRequestBlock) {
  return { endpoint, method: 'GET' as const, params: { ...params } }
}

export function tokenBlockToWire(block: TokenRequestBlock) {
  const { authHeaderValueFormat, responseMap, expirationFormat } = block
  return {
    endpoint: block.endpoint,
    method: block.method,
    auth_method: block.authMethod,
    params: { ...block.params },
    ...(authHeaderValueFormat !== undefined && { auth_header_value_format: authHeaderValueFormat }),
    request_content_type: block.requestContentType,
    response_content_type: block.responseContentType,
    ...(responseMap !== undefined && { response_map: { ...responseMap } }),
    ...(expirationFormat !== undefined && { expiration_format: expirationFormat }),
  }
}

export function resourceBlockToWire(block: ResourceRequestBlock) {
  const { onTokenGrant, onTokenRefresh } = block.triggers
  return {
    ...tokenBlockToWire(block),
    triggers: { on_token_grant: onTokenGrant, on_token_refresh: onTokenRefresh },
  }
}
