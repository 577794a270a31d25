import { z } from 'zod'
import type { AllowsHttp } from '../../egress/endpoint.ts'
import { USUAL_ACCOUNT } from '../catalogue/built-in-provider.ts'
import { SIGNATURE_METHODS } from '../oauth1/signature.ts'
import type { Provider } from '../provider.ts'
import type { ResourceRequestBlock } from '../request-block.ts'
import { checkTemplate } from '../template.ts'
import { withVariables } from '../variables.ts'
import { ACCOUNT_SETTINGS, accountExpressions, checkAccount } from './account-settings.ts'
import { readApi, writeApi } from './api-hosts.ts'
import { headersAnswer, headersInput } from './header-templates.ts'
import { readMembers, shapeOf, withoutUndefined, writeMembers } from './member.ts'
import { refuse } from './refuse.ts'
import { REQUEST_MEMBERS } from './request-members.ts'
import {
  checkVariables,
  readVariables,
  variablesAnswer,
  variablesInput,
  writeVariables,
} from './url-variables.ts'

// `oauth1` of an entry and of a definition file: the requests of OAuth 1.0a (RFC 5849), and how they are signed.

const { endpoint, method, params, headers, response_map, error_response } = REQUEST_MEMBERS

const TOKEN = { endpoint, method, params }
const AUTHORIZATION = { endpoint, params }
const USER_INFO = { endpoint, params, headers, response_map, error_response }

const tokenBlock = z.object(shapeOf(TOKEN, 'create'))

const inputs = {
  variables: variablesInput,
  temporary_request: tokenBlock.meta({
    description:
      'The request for temporary credentials (RFC 5849 section 2.1), whose endpoint is often called “request token URL”. POST is the default. A server that does not answer `oauth_callback_confirmed=true` is refused.',
    example: { endpoint: 'https://api.example.com/oauth/request_token' },
  }),
  authorize_request: z.object(shapeOf(AUTHORIZATION, 'create')).meta({
    description: 'Where the user approves (RFC 5849 section 2.2). `oauth_token` is added to `params`.',
  }),
  token_request: tokenBlock.meta({
    description: 'The request that exchanges the verifier for the token (RFC 5849 section 2.3).',
  }),
  user_info_request: z.object(shapeOf(USER_INFO, 'create')).nullish().meta({
    description:
      'A signed GET after the consent, whose answer names the account. Left out: the answer of the token request may name it.',
  }),
  signature_method: z.enum(SIGNATURE_METHODS).nullish().meta({
    description:
      'RFC 5849 section 3.4, and `HMAC-SHA256`. Default: `HMAC-SHA1`. With `RSA-SHA1` the client secret is an RSA key in PEM.',
  }),
  realm: z
    .string()
    .regex(/^[\x20-\x7e]{1,200}$/, 'visible ASCII')
    .refine((text) => !/["\\]/.test(text), 'must not have " or \\')
    .nullish()
    .meta({ description: '`realm` of the `Authorization` header; it may name variables.' }),
  fixed_callback: z.boolean().nullish().meta({
    description:
      'The server accepts only the exact callback that was registered. The state is then in a cookie, and not in the query of the callback.',
  }),
  account: accountExpressions.nullish().meta({
    description:
      "Where the account's id and name are, as expressions of a response map, the most trusted first.",
    example: { id: ['$.user_id'], name: ['$.screen_name'] },
  }),
  api: z
    .object({
      base_url: z.string().max(1000).nullish(),
      hosts: z.array(z.string().max(300)).max(50).optional(),
      headers: headersInput,
    })
    .nullish()
    .meta({
      description:
        'The hosts to which signed requests may be sent: by the proxy, and by tools that are HTTP requests.',
    }),
}

/** `oauth1` of a definition file. */
export const oauth1Defined = z.object(inputs).meta({
  description:
    'A server of OAuth 1.0a (RFC 5849). Its tokens are of use by signed requests of Gatepass alone.',
})

/** `oauth1` of a request that creates or changes an entry. Members that are left out do not change. */
export const oauth1Input = z.object({
  ...inputs,
  temporary_request: inputs.temporary_request.optional(),
  authorize_request: inputs.authorize_request.optional(),
  token_request: inputs.token_request.optional(),
})

export const oauth1Answer = z.object({
  variables: variablesAnswer,
  temporary_request: z.object(shapeOf(TOKEN, 'answer')),
  authorize_request: z.object(shapeOf(AUTHORIZATION, 'answer')),
  token_request: z.object(shapeOf(TOKEN, 'answer')),
  user_info_request: z.object(shapeOf(USER_INFO, 'answer')).optional(),
  signature_method: z.enum(SIGNATURE_METHODS),
  realm: z.string().optional(),
  fixed_callback: z.literal(true).optional(),
  account: ACCOUNT_SETTINGS.account.answer,
  api: z
    .object({ base_url: z.string().optional(), hosts: z.array(z.string()), headers: headersAnswer })
    .optional(),
})

export type OAuth1Input = z.output<typeof oauth1Input>

interface Options {
  readonly allowsHttp?: AllowsHttp | undefined
  readonly isDefinition?: boolean
}

/** Reads an entry of the type `oauth1`; members that `sent` leaves out are those of `base`. Throws `invalid_request`. */
export function readOAuth1(
  displayName: string,
  sent: OAuth1Input,
  base: Provider | undefined,
  { allowsHttp = () => false, isDefinition = false }: Options,
): Provider {
  const within = 'oauth1'
  const before = base?.oauth1 === undefined ? undefined : base
  const variables = readVariables(sent.variables, before, {
    allowsHttp,
    isDefinition,
    path: `${within}.variables`,
  })
  const known = before && withVariables(before, variables)
  // an answer is valid input
  const merged = { ...(known && (writeOAuth1(known) as OAuth1Input)), ...withoutUndefined(sent) }
  const naming = variables === undefined ? {} : { variables }
  const read = (members: typeof TOKEN | typeof AUTHORIZATION | typeof USER_INFO, name: BlockName) => {
    const block = merged[name] ?? refuse(`${within}.${name}`, 'is required')
    const isToken = name === 'temporary_request' || name === 'token_request'
    const withMethod = isToken && { method: ('method' in block && block.method) || 'POST' }
    return {
      ...readMembers(members, { ...block, ...withMethod }, (found) => ({
        path: `${within}.${name}`,
        rules: {
          authMethods: [],
          mayBeGet: true,
          placeholders: [
            'client_id',
            'redirect_uri',
            ...(isToken || name === 'authorize_request' ? ['scopes'] : []),
          ],
        },
        allowsHttp,
        naming,
        params: (block.params ?? {}) as Record<string, string>, // checked by its schema
        headers: ('headers' in block && (block.headers as Record<string, string>)) || {},
        read: found,
      })),
      authMethod: 'none' as const, // the signature authenticates the client
    }
  }
  // a connection's own values are in its URLs, but not in the entry that signs
  const operators = Object.entries(variables ?? {}).flatMap(([name, { askUser }]) => (askUser ? [] : [name]))
  const realm = merged.realm ?? undefined
  const fault = realm && checkTemplate(realm, operators)
  if (fault) refuse(`${within}.realm`, fault)
  checkAccount(`${within}.account`, merged.account)
  const provider = {
    displayName: base?.displayName ?? displayName,
    oauth1: {
      signatureMethod: merged.signature_method ?? 'HMAC-SHA1',
      ...(realm !== undefined && { realm }),
      ...(merged.fixed_callback === true && { fixedCallback: true }),
    },
    ...(variables && { variables }),
    temporaryRequest: read(TOKEN, 'temporary_request'),
    authorizationRequest: read(AUTHORIZATION, 'authorize_request'),
    tokenRequest: read(TOKEN, 'token_request'),
    ...(merged.user_info_request != null && {
      userInfoRequest: {
        ...read(USER_INFO, 'user_info_request'),
        method: 'GET',
        triggers: { onTokenGrant: true, onTokenRefresh: false },
      },
    }),
    account: {
      id: merged.account?.id ?? USUAL_ACCOUNT.id,
      name: merged.account?.name ?? USUAL_ACCOUNT.name,
    },
    ...(merged.api != null && {
      api: readApi(merged.api, undefined, {
        allowsHttp,
        variables,
        read: {},
        within,
        placeholders: ['client_id'],
      }),
    }),
    ...(base?.owner && { owner: base.owner }),
    // what only OAuth 2 has
    pkce: 'none',
    scopeSeparator: ' ',
    tokenTypes: [],
    defaultScopes: [],
  } as const
  const whole = provider as unknown as Provider // `readMembers` has read all members of the requests
  checkVariables(whole)
  return whole
}

type BlockName = 'temporary_request' | 'authorize_request' | 'token_request' | 'user_info_request'

export function writeOAuth1(provider: Provider): z.input<typeof oauth1Answer> {
  const { oauth1, temporaryRequest, authorizationRequest, tokenRequest, userInfoRequest, variables, api } =
    provider
  if (oauth1 === undefined) throw new Error('the entry is of another type')
  const block = (request: object | undefined) => request as ResourceRequestBlock // the members read no more of it
  return withoutUndefined({
    variables: variables && writeVariables(variables),
    temporary_request: writeMembers(TOKEN, block(temporaryRequest)),
    authorize_request: writeMembers(AUTHORIZATION, block(authorizationRequest)),
    token_request: writeMembers(TOKEN, block(tokenRequest)),
    user_info_request: userInfoRequest && writeMembers(USER_INFO, block(userInfoRequest)),
    signature_method: oauth1.signatureMethod,
    realm: oauth1.realm,
    fixed_callback: oauth1.fixedCallback,
    account: ACCOUNT_SETTINGS.account.write?.(provider),
    api: api && writeApi(api),
  })
}
