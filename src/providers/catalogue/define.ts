import type {
  ClientAuthMethod,
  Provider,
  RequestBlock,
  ResourceRequestBlock,
  RevocationRequestBlock,
  TokenRequestBlock,
} from '../provider.ts'
import { type EndpointPatterns, endpointPatterns } from './endpoint-patterns.ts'

/** A provider that the broker knows by itself, under the id that callers and tools use for it. */
export interface BuiltInProvider {
  readonly id: string
  /** What holds in every use: nothing in it asks for a refresh token. */
  readonly provider: Provider
  /** What must be asked for besides so that a refresh token comes. Absent: it comes unasked, or never. */
  readonly offlineAccess?: OfflineAccess
  /**
   * Its endpoints by their role, other spellings and former ones included. `{name}` is a variable. An endpoint is never
   * removed: entries that have it would become another provider's.
   */
  readonly endpoints: EndpointPatterns
}

export interface OfflineAccess {
  readonly params?: Readonly<Record<string, string>>
  readonly scopes?: readonly string[]
}

/** The facts of one provider. What is left out is as the RFCs and most servers have it. */
export interface Facts {
  readonly id: string
  readonly displayName: string
  readonly issuer?: string
  readonly authorize: string
  readonly token: string
  /** Where refresh tokens go; the token endpoint when absent, nowhere when `false`. */
  readonly refresh?: string | false
  readonly pkce: Provider['pkce']
  /** In the body unless it says otherwise. */
  readonly clientAuthentication?: Exclude<ClientAuthMethod, 'none' | 'bearer_access_token'>
  readonly contentType?: RequestBlock['requestContentType']
  readonly scopeSeparator?: Provider['scopeSeparator']
  /** The authorization request's parameter for scopes; `scope` when absent, none at all when `''`. */
  readonly scopeParam?: string
  readonly scopeAliases?: Provider['scopeAliases']
  readonly scopeImplies?: Provider['scopeImplies']
  readonly callbackTellsScopes?: true
  readonly callbackMembers?: Provider['callbackMembers']
  readonly defaultScopes?: readonly string[]
  readonly authorizeParams?: Readonly<Record<string, string>>
  readonly responseMap?: Readonly<Record<string, string>>
  readonly refreshResponseMap?: Readonly<Record<string, string>>
  readonly tokenTypes?: readonly string[]
  /** Where the account is described, read by GET with the token as Bearer unless more is said. */
  readonly userInfo?: string | (Partial<ResourceRequestBlock> & { readonly endpoint: string })
  readonly accountId?: readonly string[]
  readonly accountName?: readonly string[]
  /** RFC 7009, with the client shown as at the token endpoint unless more is said. */
  readonly revoke?: string | (Partial<RevocationRequestBlock> & { readonly endpoint: string })
  readonly introspect?: string
  readonly offlineAccess?: OfflineAccess
  /** Where its API's paths begin, as its documentation has it. */
  readonly api?: string
  /** Further hosts of its API (`*.example.com` for all below it). */
  readonly apiHosts?: readonly string[]
  /** Other addresses of the same endpoints: of another host's name, another version or a tenant (`{tenant}`). */
  readonly otherEndpoints?: EndpointPatterns
  /** Whether it takes clients without a secret (RFC 6749 section 2.1). Left out: not known. */
  readonly publicClients?: boolean
}

export const FORM = 'application/x-www-form-urlencoded'
export const JSON_TYPE = 'application/json'

/** The parameter that carries the scopes asked for together with those already granted. */
export const SCOPES_TEMPLATE = '{{scopes}} {{existing_scopes}}'

/** Where most servers keep the account's id and name, OpenID Connect's claims first. */
export const USUAL_ACCOUNT: Provider['account'] = {
  id: ['$.sub', '$.id', '$.user_id'],
  name: ['$.email', '$.preferred_username', '$.login', '$.username', '$.name'],
}

/** What a token's introspection says of its life and scope (RFC 7662 section 2.2). */
export const INTROSPECTED = {
  responseMap: { expires_in: '$.exp', scope: '$.scope' },
  expirationFormat: 'absolute_unix_timestamp',
} as const

/** Fills in what the facts leave out. */
export function define(facts: Facts): BuiltInProvider {
  const { id, displayName, issuer, authorize, token, refresh = token, pkce, offlineAccess } = facts
  const scopeParam = facts.scopeParam ?? 'scope'
  const request = {
    method: 'POST',
    authMethod: facts.clientAuthentication ?? 'client_secret_post',
    requestContentType: facts.contentType ?? FORM,
    responseContentType: JSON_TYPE,
  } as const
  const tokenRequest: TokenRequestBlock = {
    ...request,
    endpoint: token,
    params: { grant_type: 'authorization_code', redirect_uri: '{{redirect_uri}}' },
    ...(facts.responseMap !== undefined && { responseMap: facts.responseMap }),
  }
  const provider: Provider = {
    displayName,
    ...(issuer !== undefined && { issuer }),
    pkce,
    scopeSeparator: facts.scopeSeparator ?? ' ',
    ...(facts.scopeAliases !== undefined && { scopeAliases: facts.scopeAliases }),
    ...(facts.scopeImplies !== undefined && { scopeImplies: facts.scopeImplies }),
    ...(facts.callbackTellsScopes && { callbackTellsScopes: true }),
    ...(facts.callbackMembers !== undefined && { callbackMembers: facts.callbackMembers }),
    defaultScopes: facts.defaultScopes ?? [],
    authorizationRequest: {
      endpoint: authorize,
      params: {
        response_type: 'code',
        client_id: '{{client_id}}',
        redirect_uri: '{{redirect_uri}}',
        ...(scopeParam !== '' && { [scopeParam]: SCOPES_TEMPLATE }),
        ...facts.authorizeParams,
      },
    },
    tokenRequest,
    ...(refresh !== false && {
      refreshRequest: {
        ...request,
        endpoint: refresh,
        params: { grant_type: 'refresh_token', refresh_token: '{{refresh_token}}' },
        ...(facts.refreshResponseMap !== undefined && { responseMap: facts.refreshResponseMap }),
      },
    }),
    ...(facts.userInfo !== undefined && { userInfoRequest: userInfo(facts.userInfo) }),
    ...(facts.introspect !== undefined && {
      introspectionRequest: {
        ...request,
        endpoint: facts.introspect,
        params: { token: '{{access_token}}' },
        ...INTROSPECTED,
        triggers: { onTokenGrant: true, onTokenRefresh: true },
      },
    }),
    ...(facts.revoke !== undefined && {
      revocationRequest: {
        ...request,
        params: {},
        ...(typeof facts.revoke === 'string' ? { endpoint: facts.revoke } : facts.revoke),
      },
    }),
    tokenTypes: facts.tokenTypes ?? [],
    ...(facts.publicClients !== undefined && { publicClients: facts.publicClients }),
    ...apiOf(facts),
    account: { id: facts.accountId ?? USUAL_ACCOUNT.id, name: facts.accountName ?? USUAL_ACCOUNT.name },
  }
  return {
    id,
    provider,
    ...(offlineAccess !== undefined && { offlineAccess }),
    endpoints: endpointPatterns(provider, facts.otherEndpoints ?? {}),
  }
}

function apiOf({ api, apiHosts = [] }: Facts): Pick<Provider, 'api'> {
  if (api === undefined) return apiHosts.length > 0 ? { api: { hosts: apiHosts } } : {}
  return { api: { baseUrl: api, hosts: [new URL(api).host, ...apiHosts] } }
}

function userInfo(said: NonNullable<Facts['userInfo']>): ResourceRequestBlock {
  return {
    method: 'GET',
    authMethod: 'bearer_access_token',
    requestContentType: FORM,
    responseContentType: JSON_TYPE,
    params: {},
    triggers: { onTokenGrant: true, onTokenRefresh: false },
    ...(typeof said === 'string' ? { endpoint: said } : said),
  }
}
