import { z } from 'zod'
import { endpointFault } from '../../egress/endpoint.ts'
import type { Provider } from '../provider.ts'
import { ACCOUNT_SETTINGS } from './account-settings.ts'
import { readApi, writeApi } from './api-hosts.ts'
import {
  clientAssertionAnswer,
  clientAssertionInput,
  readClientAssertion,
  readRequestObject,
  requestObjectAnswer,
  requestObjectInput,
  writeClientAssertion,
} from './client-assertion.ts'
import { DEVICE_SETTINGS } from './device-settings.ts'
import { DPOP_MEMBERS } from './dpop-settings.ts'
import { ASSERTION_SETTINGS } from './grant-assertion.ts'
import { GRANT_SETTINGS } from './grant-settings.ts'
import { headersAnswer, headersInput } from './header-templates.ts'
import { INSTALLATION_SETTINGS } from './installation.ts'
import { INSTALLATION_GRANT } from './installation-grant.ts'
import { keptValuesAnswer, keptValuesInput, readKeptValues, writeKeptValues } from './kept-values.ts'
import { knownServer, sameServer } from './known-server.ts'
import { changed, type Found, memberOf, type ShapeOf } from './member.ts'
import { refuse } from './refuse.ts'
import { type OAuth2Context, REQUESTS } from './requests.ts'
import { SCOPE_SETTINGS } from './scope-settings.ts'
import { TOKEN_SETTINGS } from './token-settings.ts'
import { variablesAnswer, variablesInput, writeVariables } from './url-variables.ts'

const member = memberOf<Provider, OAuth2Context>()
const input = <Schema extends z.ZodType>(schema: Schema) => ({ create: schema, change: schema })

/**
 * The members of `oauth2` in the admin API, and how each is read into a `Provider` and written from one. Answers have
 * them in this order. They are read in this order too: members after `REQUESTS` use the endpoints that these have set.
 */
export const OAUTH2_MEMBERS = {
  variables: member({
    ...input(variablesInput),
    answer: variablesAnswer,
    read: (_, { variables }) => ({ variables }), // `readProvider` has read them already, to fill them into the base
    write: ({ variables }) => variables && writeVariables(variables),
  }),
  kept_values: member({
    ...input(keptValuesInput),
    answer: keptValuesAnswer,
    read: (sent, { base }) => ({ keptValues: readKeptValues(sent, base?.keptValues) }),
    write: ({ keptValues }) => keptValues && writeKeptValues(keptValues),
  }),
  scope_delimiter: member({
    ...input(z.enum([' ', ',']).nullish()),
    answer: z.string(),
    read: (sent, { base }) => ({ scopeSeparator: sent ?? base?.scopeSeparator ?? ' ' }),
    write: (provider) => provider.scopeSeparator,
  }),
  pkce: member({
    ...input(
      z
        .object({
          enabled: z.boolean().optional(),
          code_challenge_method: z.string().max(20).nullish(),
          required: z.boolean().nullish(),
          code_challenge_encoding: z.enum(['base64url', 'hex']).nullish(),
        })
        .nullish()
        .meta({
          description:
            'RFC 7636. Beyond Arcade: `required`, for a server that refuses requests without PKCE, so that PKCE cannot be switched off; `code_challenge_encoding: "hex"` (TikTok\'s desktop clients).',
        }),
    ),
    answer: z.object({
      enabled: z.boolean(),
      code_challenge_method: z.string(),
      required: z.literal(true).optional(),
      code_challenge_encoding: z.literal('hex').optional(),
    }),
    read: (sent, { base }) => readPkceSettings(sent, base),
    write: ({ pkce, pkceRequired, hexCodeChallenge }) => ({
      enabled: pkce !== 'none',
      code_challenge_method: pkce === 'plain' ? 'plain' : 'S256',
      ...(pkceRequired === true && { required: true as const }),
      ...(hexCodeChallenge === true && { code_challenge_encoding: 'hex' as const }),
    }),
  }),
  ...GRANT_SETTINGS,
  ...INSTALLATION_SETTINGS,
  ...REQUESTS,
  ...DEVICE_SETTINGS,
  client_assertion: member({
    ...input(clientAssertionInput),
    answer: clientAssertionAnswer,
    read: (sent, context) => ({
      clientAssertion: readClientAssertion(
        sent,
        sameServer(context) ? context.base?.clientAssertion : undefined,
      ),
    }),
    write: ({ clientAssertion }) => clientAssertion && writeClientAssertion(clientAssertion),
  }),
  ...INSTALLATION_GRANT,
  ...ASSERTION_SETTINGS,
  request_object: member({
    ...input(requestObjectInput),
    answer: requestObjectAnswer,
    read: (sent, context) => ({
      requestObject: readRequestObject(sent, sameServer(context) ? context.base?.requestObject : undefined),
    }),
    write: ({ requestObject }) =>
      requestObject && {
        ...(requestObject.algorithm && { algorithm: requestObject.algorithm }),
        ...(requestObject.keyId && { key_id: requestObject.keyId }),
      },
  }),
  ...DPOP_MEMBERS,
  issuer: member({
    ...input(
      z.string().max(1000).nullish().meta({
        description:
          'Beyond Arcade: the issuer (RFC 8414, OpenID Connect Discovery), exactly as the server names itself. Its metadata fills what is left out: endpoints, PKCE, client authentication, `iss`, user info, introspection, revocation, end of session. With it `authorize_request` and `token_request` are not required. Authorization responses must carry it as `iss` (RFC 9207).',
      }),
    ),
    answer: z.string().optional(),
    read(sent, context) {
      const issuer = changed(sent, knownServer(context)?.issuer)
      checkUrl('oauth2.issuer', issuer, context)
      return { issuer }
    },
    write: (provider) => provider.issuer,
  }),
  authorization_response_iss_parameter_supported: member({
    ...input(
      z.boolean().nullish().meta({
        description:
          'Beyond Arcade: the server announces that all its authorization responses carry `iss` (RFC 9207 section 3), so that a response without it is refused. Needs `issuer`.',
      }),
    ),
    answer: z.boolean().optional(),
    buildsOn: ['issuer'],
    read(sent, context) {
      const { issuer } = context.read
      const announcesIss = changed(
        sent,
        issuer === undefined ? undefined : knownServer(context)?.announcesIss,
      )
      if (announcesIss === true && issuer === undefined)
        refuse(
          'oauth2.authorization_response_iss_parameter_supported',
          'needs oauth2.issuer to compare `iss` with',
        )
      return { announcesIss }
    },
    write: ({ announcesIss }) => announcesIss === true || undefined,
  }),
  token_types: member({
    ...input(
      z.array(z.string().max(50)).max(10).nullish().meta({
        description:
          'Beyond Arcade: `token_type` values accepted besides Bearer. An answer without `token_type`, or with an empty one, is always read as bearer; an empty value in this list has no effect.',
      }),
    ),
    answer: z.array(z.string()).optional(),
    read: (sent, { base }) => ({
      tokenTypes: (changed<readonly string[]>(sent, base?.tokenTypes) ?? []).map((type) =>
        type.toLowerCase(),
      ),
    }),
    write: ({ tokenTypes }) => (tokenTypes.length > 0 ? [...tokenTypes] : undefined),
  }),
  end_session_endpoint: member({
    ...input(
      z.string().max(1000).nullish().meta({
        description:
          "Beyond Arcade: the URL at which a user's session at the provider ends, for callers that want to end it.",
      }),
    ),
    answer: z.string().optional(),
    read(sent, context) {
      const before = sameServer(context) ? context.base?.endSessionEndpoint : undefined
      const endSessionEndpoint = changed(sent, before)
      checkUrl('oauth2.end_session_endpoint', endSessionEndpoint, context)
      return { endSessionEndpoint }
    },
    write: (provider) => provider.endSessionEndpoint,
  }),
  ...TOKEN_SETTINGS,
  default_expires_in: member({
    ...input(
      z.number().int().min(60).max(31_536_000).nullish().meta({
        description:
          'Beyond Arcade: the lifetime, in seconds, of access tokens for which the provider states none (Salesforce). Without this setting such a token is used until the API refuses it.',
      }),
    ),
    answer: z.number().optional(),
    read(sent, context) {
      const before = sameServer(context) ? context.base?.defaultExpiresIn : undefined
      return { defaultExpiresIn: changed(sent, before) }
    },
    write: ({ defaultExpiresIn }) => defaultExpiresIn,
  }),
  environment_client: member({
    ...input(
      z.boolean().optional().meta({
        description:
          'Beyond Arcade: confirms that the client of `GATEPASS_PROVIDER_<NAME>_…` may be sent to the endpoints of this entry, which are not those of the catalogue; `false` withdraws the confirmation. It is valid for the present endpoints only, and is recorded in the audit trail.',
      }),
    ),
    answer: z.literal(true).optional(),
    // provider-wire.ts reads this member last, because the confirmation is for the endpoints, and shows it only for these
    write: ({ environmentClientFor }) => environmentClientFor !== undefined || undefined,
  }),
  api: member({
    ...input(
      z
        .object({
          base_url: z.string().max(1000).nullish(),
          hosts: z.array(z.string().max(300)).max(50).optional(),
          auth_header_value_format: z.string().max(200).nullish(),
          headers: headersInput,
        })
        .nullish()
        .meta({
          description:
            "Beyond Arcade: where the broker itself may send users' tokens (the proxy, tools that are HTTP requests): `host`, `host:port` or `*.example.com`. The host of `base_url` is always allowed. `headers` go with every request, in place of the caller's, and may name `{{client_id}}`, `{{access_token}}` and kept values; one with the token takes the place of `Authorization`.",
        }),
    ),
    answer: z
      .object({
        base_url: z.string().optional(),
        hosts: z.array(z.string()),
        auth_header_value_format: z.string().optional(),
        headers: headersAnswer,
      })
      .optional(),
    buildsOn: ['kept_values'],
    read: (sent, context) => ({ api: readApi(sent, knownServer(context)?.api, context) }),
    write: ({ api }) => api && writeApi(api),
  }),
  ...SCOPE_SETTINGS,
  ...ACCOUNT_SETTINGS,
}

/**
 * `oauth2` of a request that creates or changes an entry. What `null` and an absent member mean depends on the member.
 */
export type OAuth2Input = z.output<z.ZodObject<ShapeOf<typeof OAUTH2_MEMBERS, 'change'>>>

function checkUrl(path: string, text: string | undefined, { allowsHttp }: OAuth2Context): void {
  if (text?.includes('{{')) refuse(path, 'takes no variables')
  const fault = text === undefined ? undefined : endpointFault(text, allowsHttp)
  if (fault !== undefined) refuse(path, fault)
}

type PkceInput =
  | {
      readonly enabled?: boolean | undefined
      readonly code_challenge_method?: string | null | undefined
      readonly required?: boolean | null | undefined
      readonly code_challenge_encoding?: 'base64url' | 'hex' | null | undefined
    }
  | null
  | undefined

function readPkceSettings(
  sent: PkceInput,
  base: Provider | undefined,
): Found<Pick<Provider, 'pkce' | 'pkceRequired' | 'hexCodeChallenge'>> {
  const pkce = readPkce(sent, base?.pkce)
  const isRequired = changed(sent?.required, base?.pkceRequired) === true
  const encoding = changed(sent?.code_challenge_encoding, base?.hexCodeChallenge === true ? 'hex' : undefined)
  if (isRequired && pkce === 'none')
    refuse('oauth2.pkce.enabled', 'has to be true: this server requires PKCE (oauth2.pkce.required)')
  if (encoding === 'hex' && pkce !== 'S256')
    refuse('oauth2.pkce.code_challenge_encoding', 'can be hex for the method S256 only')
  return {
    pkce,
    pkceRequired: isRequired || undefined,
    hexCodeChallenge: encoding === 'hex' || undefined,
  }
}

/** S256 is the default; `plain` is used only where the request names it (RFC 7636 section 4.2). */
function readPkce(sent: PkceInput, before: Provider['pkce'] = 'S256'): Provider['pkce'] {
  if (sent == null) return before
  if (!(sent.enabled ?? before !== 'none')) return 'none'
  const method = sent.code_challenge_method ?? (before === 'plain' ? 'plain' : 'S256')
  if (method !== 'S256' && method !== 'plain')
    return refuse('oauth2.pkce.code_challenge_method', 'has to be S256 or plain')
  return method
}
