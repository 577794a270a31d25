import { z } from '@hono/zod-openapi'
import { plainText } from './limits.ts'
import { traitsSchema, traitsWire } from './provider-traits.ts'

/** Arcade's provider bodies (reference/arcade.md section 1.5), with what Gatepass takes besides. */

const CONTENT_TYPES = ['application/x-www-form-urlencoded', 'application/json'] as const

const templates = z
  .record(z.string().min(1).max(200), z.string().max(2000))
  .refine((params) => Object.keys(params).length <= 50, 'at most 50 members')

const shown = {
  method: z.enum(['GET', 'POST']).nullish(),
  params: templates.nullish(),
  auth_method: z.string().max(50).nullish().openapi({
    description:
      'How the client authenticates: `client_secret_basic`, `client_secret_post`, `none` (by `params`), for some requests `bearer_access_token`. Beyond Arcade: `client_secret_basic_unencoded`, for servers that take the id and the secret of Basic as they stand (RFC 7617) and do not decode them as RFC 6749 section 2.3.1 says.',
  }),
  auth_header_value_format: z.string().max(200).nullish(),
  request_content_type: z.enum(CONTENT_TYPES).nullish(),
  response_content_type: z.enum(CONTENT_TYPES).nullish(),
  response_map: templates.nullish(),
  expiration_format: z.enum(['absolute_unix_timestamp', 'relative_seconds']).nullish(),
}

const triggers = z.object({
  on_token_grant: z.boolean().optional(),
  on_token_refresh: z.boolean().optional(),
})

const endpoint = z.string().min(1).max(1000)
const block = z.object({ endpoint, ...shown })
/** Its endpoint may be the issuer's. */
const openBlock = z.object({ endpoint: endpoint.optional(), ...shown })
const triggered = z.object({ endpoint, ...shown, triggers })
const introspection = z.object({ endpoint, ...shown, triggers, enabled: z.boolean().optional() })
const blockPatch = z.object({
  endpoint: endpoint.optional(),
  ...shown,
  triggers: triggers.optional(),
  enabled: z.boolean().optional(),
})

/** What an answer has besides, so that it can be sent back as it is. It changes nothing. */
function answeredOnly<Name extends string>(...names: readonly Name[]) {
  const member = z.unknown().openapi({ description: 'Answered; what is sent here changes nothing' })
  return Object.fromEntries(names.map((name) => [name, member.optional()])) as Record<
    Name,
    z.ZodOptional<z.ZodUnknown>
  >
}

const settings = {
  redirect_uri: z.string().max(2000).nullish().openapi({
    description:
      'Taken so that what is shown can be sent again; it is made by Gatepass and is not changed by this.',
  }),
  client_secret: z.string().max(1000).nullish(),
  scope_delimiter: z.enum([' ', ',']).nullish(),
  pkce: z
    .object({ enabled: z.boolean().optional(), code_challenge_method: z.string().max(20).nullish() })
    .nullish(),
  issuer: z.string().max(1000).nullish().openapi({
    description:
      'Beyond Arcade: the issuer (RFC 8414, OpenID Connect Discovery), exactly as it calls itself. Its metadata fills what is left out: endpoints, PKCE, client authentication, `iss`, user info, introspection, revocation, end of session. With it `authorize_request` and `token_request` are not required. Authorization responses must carry it as `iss` (RFC 9207).',
  }),
  authorization_response_iss_parameter_supported: z.boolean().nullish().openapi({
    description:
      'Beyond Arcade: the server announces that all its authorization responses carry `iss` (RFC 9207 section 3), so that one without is refused. Needs `issuer`.',
  }),
  token_types: z.array(z.string().max(50)).max(10).nullish().openapi({
    description:
      'Beyond Arcade: `token_type` values taken besides Bearer. An answer without one is always read as bearer; an empty value is taken and means nothing more.',
  }),
  ...traitsSchema,
  end_session_endpoint: z.string().max(1000).nullish().openapi({
    description: 'Beyond Arcade: where a session at the provider ends, for callers that want to end it.',
  }),
  environment_client: z.boolean().optional().openapi({
    description:
      'Beyond Arcade: confirms that the client of `GATEPASS_PROVIDER_<NAME>_…` may be sent to the endpoints of this entry, which are not those of the catalogue; `false` takes it back. It holds for these endpoints, and is recorded.',
  }),
  strict_rotation: z.boolean().nullish().openapi({
    description:
      'Beyond Arcade: a used refresh token that comes again ends the whole grant, access tokens too. When the outcome of a refresh is not known, the access token is then used to its end before the refresh token is tried once more.',
  }),
}

const api = z
  .object({
    base_url: z.string().max(1000).nullish(),
    hosts: z.array(z.string().max(300)).max(50).optional(),
    auth_header_value_format: z.string().max(200).nullish(),
  })
  .nullish()
  .openapi({
    description:
      "Beyond Arcade: where the broker itself may send users' tokens (the proxy, tools that are HTTP requests): `host`, `host:port` or `*.example.com`. The host of `base_url` is among them without being named.",
  })

const id = plainText(100).regex(/^(?!\.{1,2}$)[^\s/\\?#%]+$/, 'must have no spaces and none of / \\ ? # %')

const about = {
  description: z.string().max(1000).nullish(),
  provider_id: plainText(100).nullish(),
  status: z
    .enum(['active', 'inactive', 'missing'])
    .transform((status) => (status === 'inactive' ? status : 'active'))
    .nullish(),
  ...answeredOnly('binding', 'created_at', 'updated_at', 'missing'),
  type: z.literal('oauth2').nullish(),
}

export const providerCreateSchema = z
  .object({
    id,
    ...about,
    external_id: z.string().max(50).nullish(),
    oauth2: z
      .object({
        client_id: z.string().min(1).max(1000),
        ...settings,
        api,
        authorize_request: openBlock.nullish(),
        token_request: openBlock.nullish(),
        refresh_request: block.nullish(),
        user_info_request: triggered.nullish(),
        token_introspection_request: introspection.nullish(),
        revocation_request: block.nullish().openapi({ description: 'Beyond Arcade: RFC 7009.' }),
      })
      .nullish(),
  })
  .openapi('AuthProviderCreateRequest')

/** What is left out stays; within a block too. `null` takes an optional block or setting away. */
export const providerPatchSchema = z
  .object({
    id: id.optional(),
    ...about,
    keep_connections: z.boolean().optional().openapi({
      description:
        'Beyond Arcade: connections stay usable over a change of the endpoints, the issuer or the client id, and their tokens go to the new ones. It is recorded. Without it such a change costs users a new consent.',
    }),
    oauth2: z
      .object({
        client_id: z.string().min(1).max(1000).optional(),
        ...settings,
        api,
        authorize_request: blockPatch.nullish(),
        token_request: blockPatch.nullish(),
        refresh_request: blockPatch.nullish(),
        user_info_request: blockPatch.nullish(),
        token_introspection_request: blockPatch.nullish(),
        revocation_request: blockPatch.nullish(),
      })
      .nullish(),
  })
  .openapi('AuthProviderUpdateRequest')

export type BlockInput = z.infer<typeof blockPatch>
export type OAuth2Input = NonNullable<z.infer<typeof providerPatchSchema>['oauth2']>

const strings = z.record(z.string(), z.string())
const blockWire = {
  endpoint: z.string(),
  method: z.string(),
  params: strings,
}
const requestWire = {
  ...blockWire,
  auth_method: z.string(),
  auth_header_value_format: z.string().optional(),
  request_content_type: z.string(),
  response_content_type: z.string(),
  response_map: strings.optional(),
  expiration_format: z.string().optional(),
}
const triggersWire = { triggers: z.object({ on_token_grant: z.boolean(), on_token_refresh: z.boolean() }) }

export const providerResponseSchema = z
  .object({
    id: z.string(),
    description: z.string().optional(),
    provider_id: z.string().optional(),
    type: z.literal('oauth2'),
    status: z.enum(['active', 'inactive', 'missing']).openapi({
      description:
        '`inactive`: switched off. `missing`: it cannot be used before what `missing` names is set',
    }),
    missing: z.array(z.string()).optional().openapi({ description: '`client_id`, `client_secret`' }),
    binding: z.object({ id: z.string(), type: z.literal('project') }),
    created_at: z.string(),
    updated_at: z.string(),
    oauth2: z.object({
      client_id: z.string().optional(),
      client_secret: z.object({ binding: z.literal('project'), editable: z.boolean(), exists: z.boolean() }),
      redirect_uri: z.string(),
      scope_delimiter: z.string(),
      pkce: z.object({ enabled: z.boolean(), code_challenge_method: z.string() }),
      authorize_request: z.object(blockWire),
      token_request: z.object(requestWire),
      refresh_request: z.object(requestWire).optional(),
      user_info_request: z.object({ ...requestWire, ...triggersWire }).optional(),
      token_introspection_request: z
        .object({ ...requestWire, ...triggersWire, enabled: z.literal(true) })
        .optional(),
      revocation_request: z.object(requestWire).optional(),
      issuer: z.string().optional(),
      authorization_response_iss_parameter_supported: z.boolean().optional(),
      token_types: z.array(z.string()).optional(),
      end_session_endpoint: z.string().optional(),
      strict_rotation: z.literal(true).optional(),
      ...traitsWire,
      environment_client: z.literal(true).optional(),
      api: z
        .object({
          base_url: z.string().optional(),
          hosts: z.array(z.string()),
          auth_header_value_format: z.string().optional(),
        })
        .optional(),
    }),
  })
  .openapi('AuthProviderResponse')

export type ProviderWire = z.infer<typeof providerResponseSchema>
