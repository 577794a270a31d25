import { z } from 'zod'
import type { AllowsHttp } from '../../egress/endpoint.ts'
import { FORM, JSON_TYPE } from '../catalogue/built-in-provider.ts'
import type { Provider } from '../provider.ts'
import {
  EXPIRATION_FORMATS,
  RENAMED_PARAMETERS,
  type RequestBlock,
  type ResourceRequestBlock,
} from '../request-block.ts'
import { checkResponseMap } from '../response-map.ts'
import { checkTemplate, hasPlaceholder, isScopeMembers } from '../template.ts'
import { isFilled, literalHost } from '../variables.ts'
import {
  errorResponseAnswer,
  errorResponseInput,
  readErrorResponse,
  writeErrorResponse,
} from './error-response.ts'
import { headersAnswer, headersInput, readHeaders } from './header-templates.ts'
import { type Found, memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import { literalUrlFault, readUrl } from './url-variables.ts'

// The members of the blocks that describe requests to an authorization server, such as `token_request`.

/** What one kind of request allows, and what it means when a block leaves a member out. */
export interface RequestRules {
  readonly placeholders: readonly string[]
  /**
   * The first is the default. `by_params`: the client secret goes where `params` or `headers` have it, else into the
   * body. This is Arcade's default, which the wire calls `none`.
   */
  readonly authMethods: readonly (RequestBlock['authMethod'] | 'by_params')[]
  /** `none` means that the request authenticates no client, instead of `by_params`. */
  readonly mayBeUnauthenticated?: boolean
  /** GET is allowed and is the default. In other requests it would put a secret or a token into the URL. */
  readonly mayBeGet?: boolean
  readonly mayBeDelete?: boolean
  /** With GET the URL may have the token, since the server has no other way (Instagram). */
  readonly mayHaveTokenInUrl?: boolean
  readonly defaults?: Pick<ResourceRequestBlock, 'responseMap' | 'expirationFormat'>
  /** Default: a form. */
  readonly contentType?: RequestBlock['requestContentType']
}

export interface RequestContext {
  /** The path of the block, for messages: `oauth2.token_request`. */
  readonly path: string
  readonly rules: RequestRules
  readonly allowsHttp: AllowsHttp
  /** The variables and kept values that the endpoint may name. */
  readonly naming: Pick<Provider, 'variables' | 'keptValues'>
  /** The parameters that the request body has for this block. */
  readonly params: Readonly<Record<string, string>>
  /** The headers that the request body has for this block. */
  readonly headers: Readonly<Record<string, string>>
  readonly read: Found<ResourceRequestBlock>
}

const CONTENT_TYPES = [FORM, JSON_TYPE] as const
const templates = z
  .record(z.string().min(1).max(200), z.string().max(2000))
  .refine((params) => Object.keys(params).length <= 50, 'at most 50 members')
const endpoint = z.string().min(1).max(1000)
const strings = z.record(z.string(), z.string())

const member = memberOf<ResourceRequestBlock, RequestContext>()
/** The same schema where a block is created and where it is changed. */
export const input = <Schema extends z.ZodType>(schema: Schema) => ({ create: schema, change: schema })

export const REQUEST_MEMBERS = {
  endpoint: member({
    create: endpoint,
    change: endpoint.optional(),
    answer: z.string(),
    read(sent, { path, rules, allowsHttp, naming }) {
      if (sent === undefined) return refuse(`${path}.endpoint`, 'is required')
      const isOfOne = rules.placeholders.includes('installation_id')
      if (hasPlaceholder(sent, 'installation_id') !== isOfOne)
        refuse(
          `${path}.endpoint`,
          isOfOne ? 'has to name {{installation_id}}' : 'may not name {{installation_id}}',
        )
      const { url, template } = readUrl(`${path}.endpoint`, sent, naming)
      if (!isFilled(url) && literalHost(url) === undefined)
        refuse(`${path}.endpoint`, 'may name {{client_id}} and {{installation_id}} in its path only')
      const fault = literalUrlFault(url, allowsHttp)
      if (fault !== undefined) refuse(`${path}.endpoint`, fault)
      return { endpoint: url, endpointTemplate: template }
    },
    write: (block) => block.endpointTemplate ?? block.endpoint,
  }),
  method: member({
    ...input(z.enum(['GET', 'POST', 'DELETE']).nullish()),
    answer: z.string(),
    read(sent, { path, rules: { mayBeGet = false, mayBeDelete = false } }) {
      const method = sent ?? (mayBeGet ? 'GET' : 'POST')
      if (method === 'DELETE' && !mayBeDelete)
        refuse(`${path}.method`, `has to be ${mayBeGet ? 'GET or POST' : 'POST'}`)
      if (method === 'GET' && !mayBeGet)
        refuse(`${path}.method`, 'has to be POST: with GET a secret or token would be part of the URL')
      return { method }
    },
    write: (block) => block.method,
  }),
  auth_method: member({
    ...input(
      z.string().max(50).nullish().meta({
        description:
          'How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (the secret is in `params` or `headers`), for some requests `bearer_access_token`. Beyond Arcade: `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic unchanged (RFC 7617) and do not decode them as RFC 6749 section 2.3.1 says; and `private_key_jwt`, `client_secret_jwt`, `signed_client_secret`, `tls_client_auth`, for which `client_secret` is a key that is not sent (`client_assertion`).',
      }),
    ),
    answer: z.string(),
    read: (sent, context) => ({ authMethod: readAuthMethod(sent, context) }),
    write: (block) => block.authMethod,
  }),
  params: member({
    ...input(templates.nullish()),
    answer: strings,
    read: (_, context) => ({ params: readParams(context) }),
    write: (block) => ({ ...block.params }),
  }),
  parameter_names: member({
    ...input(
      z
        .partialRecord(
          z.enum(RENAMED_PARAMETERS),
          z.string().regex(/^[\w.-]{1,100}$/, 'letters, digits, _ . -'),
        )
        .nullish()
        .meta({
          description:
            "Beyond Arcade: the server's own names of standard parameters. Each is sent under that name in place of its own.",
          example: { client_id: 'client_key' },
        }),
    ),
    answer: strings.optional(),
    read: (sent, { path }) => ({ parameterNames: readParameterNames(`${path}.parameter_names`, sent) }),
    write: ({ parameterNames }) => parameterNames && { ...parameterNames },
  }),
  headers: member({
    ...input(
      headersInput.meta({
        description:
          'Beyond Arcade: headers of the request, with the placeholders of `params`: `{"Client-Id": "{{client_id}}"}`. `Authorization` only where `auth_method` does not set it.',
      }),
    ),
    answer: headersAnswer,
    read: (sent, context) => ({ headers: readBlockHeaders(sent, context) }),
    write: ({ headers }) => headers && { ...headers },
  }),
  auth_header_value_format: member({
    ...input(z.string().max(200).nullish()),
    answer: z.string().optional(),
    read: (sent, { path }) => ({
      authHeaderValueFormat: readHeaderFormat(`${path}.auth_header_value_format`, sent),
    }),
    write: (block) => block.authHeaderValueFormat,
  }),
  request_content_type: member({
    ...input(z.enum(CONTENT_TYPES).nullish()),
    answer: z.string(),
    read: (sent, { rules: { contentType = FORM } }) => ({ requestContentType: sent ?? contentType }),
    write: (block) => block.requestContentType,
  }),
  response_content_type: member({
    ...input(z.enum(CONTENT_TYPES).nullish()),
    answer: z.string(),
    read: (sent) => ({ responseContentType: sent ?? JSON_TYPE }),
    write: (block) => block.responseContentType,
  }),
  response_map: member({
    ...input(templates.nullish()),
    answer: strings.optional(),
    read(sent, { path, rules: { defaults } }) {
      const fault = sent && checkResponseMap(sent)
      if (fault != null) refuse(`${path}.response_map`, `has a fault: ${fault}`)
      return { responseMap: sent ?? defaults?.responseMap }
    },
    write: ({ responseMap }) => responseMap && { ...responseMap },
  }),
  error_response: member({
    ...input(errorResponseInput),
    answer: errorResponseAnswer,
    read: (sent, { path }) => ({ errorResponse: readErrorResponse(`${path}.error_response`, sent) }),
    write: ({ errorResponse }) => errorResponse && writeErrorResponse(errorResponse),
  }),
  expiration_format: member({
    ...input(
      z.enum(EXPIRATION_FORMATS).nullish().meta({
        description:
          'What `expires_in` holds. Beyond Arcade: `relative_milliseconds`, `iso_8601`, and `access_token_jwt` for the `exp` of an access token that is a JWT.',
      }),
    ),
    answer: z.string().optional(),
    read: (sent, { rules: { defaults } }) => ({ expirationFormat: sent ?? defaults?.expirationFormat }),
    write: (block) => block.expirationFormat,
  }),
}

function readAuthMethod(
  sent: string | null | undefined,
  { path, rules: { authMethods, mayBeUnauthenticated = false }, params, headers }: RequestContext,
): RequestBlock['authMethod'] {
  if (mayBeUnauthenticated && sent === 'none') return 'none'
  const named = sent === 'none' ? 'by_params' : sent || authMethods[0]
  const authMethod = authMethods.find((known) => known === named)
  if (authMethod === undefined) {
    const known = authMethods.map((candidate) => (candidate === 'by_params' ? 'none' : candidate))
    return refuse(`${path}.auth_method`, `has to be one of ${known.join(', ')}`, { sent, known })
  }
  if (authMethod !== 'by_params') return authMethod
  return [...Object.values(params), ...Object.values(headers)].some(holdsSecret)
    ? 'none'
    : 'client_secret_post'
}

/** Removes the client secret from the parameters of a request that sends it in another place. */
function readParams({ path, rules, params, read }: RequestContext) {
  const { placeholders, mayHaveTokenInUrl = false } = rules
  for (const [name, template] of Object.entries(params)) {
    const fault = checkTemplate(template, placeholders)
    if (fault !== undefined) refuse(`${path}.params.${name}`, fault)
    if (hasPlaceholder(template, 'scope_members') && !isScopeMembers(template))
      refuse(`${path}.params.${name}`, 'has {{scope_members}} joined to other text')
    if (name === 'redirect_uri' && template.trim() === '')
      refuse(`${path}.params.${name}`, 'must not be empty: the redirect URI is always sent. Leave it out')
  }
  const holdsToken = Object.values(params).some((template) => hasPlaceholder(template, 'access_token'))
  if (read.method === 'GET' && holdsToken && !mayHaveTokenInUrl)
    refuse(`${path}.params`, 'must not hold {{access_token}}: with GET it would be part of the URL')
  if (read.authMethod?.startsWith('client_secret_') !== true) return params
  return Object.fromEntries(Object.entries(params).filter(([, template]) => !holdsSecret(template)))
}

function readParameterNames(
  path: string,
  sent: RequestBlock['parameterNames'] | null | undefined,
): RequestBlock['parameterNames'] {
  const names = Object.values(sent ?? {})
  if (names.length === 0) return undefined
  if (new Set(names).size < names.length || names.includes('state'))
    refuse(path, 'has to give each parameter a name of its own')
  return sent ?? undefined
}

/** A client authenticates in exactly one way (RFC 6749 section 2.3). */
function readBlockHeaders(
  sent: RequestContext['headers'] | null | undefined,
  { path, rules: { placeholders }, read: { authMethod = 'none' } }: RequestContext,
) {
  const headers = readHeaders(`${path}.headers`, sent, placeholders)
  const isInBody = authMethod === 'none' || authMethod === 'client_secret_post'
  if (headers?.authorization !== undefined && !isInBody)
    refuse(`${path}.headers.authorization`, `is set by the auth_method ${authMethod}`)
  if (authMethod !== 'none' && Object.values(headers ?? {}).some(holdsSecret))
    refuse(`${path}.headers`, `must not hold {{client_secret}} besides the auth_method ${authMethod}`)
  return headers
}

function holdsSecret(template: string): boolean {
  return hasPlaceholder(template, 'client_secret')
}

/** Reads the template of an `Authorization` value; an empty one counts as none. Throws `invalid_request`. */
export function readHeaderFormat(path: string, format: string | null | undefined): string | undefined {
  if (format == null || format === '') return undefined
  const fault = checkTemplate(format, ['access_token'])
  if (fault !== undefined) refuse(path, fault)
  if (!hasPlaceholder(format, 'access_token') || !/^[\x20-\x7e]+$/.test(format))
    refuse(
      path,
      'has to hold {{access_token}} and nothing but visible ASCII, such as "Bearer {{access_token}}"',
    )
  return format
}
