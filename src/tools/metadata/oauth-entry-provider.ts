import type { ScopeMeaning } from '../../domain/scopes.ts'
import { SCOPES_TEMPLATE, USUAL_ACCOUNT } from '../../providers/catalogue/built-in-provider.ts'
import { type BuiltInProvider, findBuiltInByEndpoints } from '../../providers/catalogue/registry.ts'
import type { ClientAuthMethod } from '../../providers/client-auth-method.ts'
import type { Provider } from '../../providers/provider.ts'
import { tokenRequestIn } from '../../providers/provider-endpoints.ts'
import type { RequestBlock, TokenRequestBlock } from '../../providers/request-block.ts'

/** The statements of an `oauth` entry about its provider; `undefined` for members that it omits. */
export interface EntryMembers {
  readonly name: string
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly scopes: readonly string[]
  /** From the file; if absent, the catalogue's apply. */
  readonly scopeImplies?: Provider['scopeImplies']
  readonly scopeAliases?: Provider['scopeAliases']
  readonly pkce: 'S256' | 'plain' | undefined
  readonly authMethod: ClientAuthMethod | undefined
  readonly contentType: RequestBlock['requestContentType'] | undefined
  /** Whether to request a refresh token. */
  readonly offlineAccess: boolean | undefined
  /** `token_type` values accepted besides bearer. */
  readonly tokenTypes: readonly string[] | undefined
  /** The entry has a client id and no secret. */
  readonly isPublic: boolean
}

export interface DescribedProvider {
  readonly provider: Provider
  /** Settings that the file omits and the catalogue sets differently from the default, in words. */
  readonly filled: readonly string[]
}

/**
 * Builds the entry's provider. The file's own statements win. What it omits or cannot express comes from the
 * catalogue if both endpoints belong to one of its providers, and otherwise from the RFCs and common practice.
 */
export function providerOf(facts: EntryMembers): DescribedProvider {
  const match = findBuiltInByEndpoints(facts.authorizationUrl, facts.tokenUrl)
  const known = match && { ...match.builtIn, provider: match.provider }
  const pkce = pkceOf(facts, known)
  const settings: Omit<TokenRequestBlock, 'params' | 'endpoint'> = {
    method: 'POST',
    authMethod: facts.authMethod ?? known?.provider.tokenRequest?.authMethod ?? 'client_secret_post',
    requestContentType:
      facts.contentType ??
      known?.provider.tokenRequest?.requestContentType ??
      'application/x-www-form-urlencoded',
    responseContentType: 'application/json',
  }
  const token = { ...settings, endpoint: facts.tokenUrl, params: {} }
  const authorization = facts.authorizationUrl
  if (known === undefined)
    return {
      provider: {
        displayName: facts.name,
        pkce,
        scopeSeparator: ' ',
        ...scopeMeaning(facts),
        defaultScopes: facts.scopes,
        authorizationRequest: { endpoint: authorization, params: {} },
        tokenRequest: token,
        // always set, because a refresh token that was not requested is used too
        refreshRequest: token,
        tokenTypes: facts.tokenTypes ?? [],
        account: USUAL_ACCOUNT,
      },
      filled: [],
    }
  // not stored, so that later versions of the catalogue apply: `factsOf` looks them up
  const { scopeAliases: _, scopeImplies: __, callbackTellsScopes: ___, ...unasked } = known.provider
  const { callbackMembers: ____, ...provider } = unasked
  const { refreshRequest } = provider
  const tokenRequest = tokenRequestIn(provider)
  const refreshesElsewhere = refreshRequest && refreshRequest.endpoint !== tokenRequest.endpoint
  return {
    provider: {
      ...provider,
      ...scopeMeaning(facts),
      displayName: facts.name,
      pkce,
      defaultScopes: facts.scopes,
      authorizationRequest: { endpoint: authorization, params: authorizationParams(facts, known) },
      tokenRequest: { ...tokenRequest, ...settings, endpoint: facts.tokenUrl },
      refreshRequest: refreshRequest
        ? {
            ...refreshRequest,
            ...settings,
            endpoint: refreshesElsewhere ? refreshRequest.endpoint : facts.tokenUrl,
          }
        : token,
      tokenTypes: facts.tokenTypes ?? provider.tokenTypes,
    },
    filled: describeFilled(facts, known, pkce),
  }
}

function scopeMeaning({ scopeImplies, scopeAliases }: EntryMembers): ScopeMeaning {
  return {
    ...(scopeImplies !== undefined && { scopeImplies }),
    ...(scopeAliases !== undefined && { scopeAliases }),
  }
}

/**
 * A public client at a provider known to support S256 uses it even if the file says otherwise, because nothing else
 * protects its code.
 */
function pkceOf(facts: EntryMembers, known: BuiltInProvider | undefined): Provider['pkce'] {
  const usual = known?.provider.pkce ?? 'S256'
  return facts.pkce === 'plain' && facts.isPublic && usual === 'S256' && known !== undefined
    ? 'S256'
    : (facts.pkce ?? usual)
}

/** The catalogue's parameters for the provider, except those already in the file's URL. */
function authorizationParams(facts: EntryMembers, known: BuiltInProvider): Record<string, string> {
  const own = new URL(facts.authorizationUrl).searchParams
  const offline = (facts.offlineAccess ?? true) ? known.offlineAccess : undefined
  const params = { ...known.provider.authorizationRequest?.params, ...offline?.params }
  // requested without being required: some providers never list them as granted
  const scopes = (offline?.scopes ?? []).filter((scope) => !facts.scopes.includes(scope))
  const asked = Object.entries(params).flatMap(([name, template]) => {
    if (own.has(name) || RFC_PARAMETERS.includes(name)) return []
    if (template !== SCOPES_TEMPLATE) return [[name, template]]
    return name === 'scope' && scopes.length === 0 ? [] : [[name, [template, ...scopes].join(' ')]]
  })
  return Object.fromEntries(asked)
}

/** Parameters that every authorization request has anyway (RFC 6749 section 4.1.1). */
const RFC_PARAMETERS = ['response_type', 'client_id', 'redirect_uri']

const METHOD_WORDS: Readonly<Partial<Record<ClientAuthMethod, string>>> = {
  client_secret_basic: 'the secret by HTTP Basic',
  client_secret_basic_unencoded: 'the secret by HTTP Basic, not encoded',
}

function describeFilled(facts: EntryMembers, known: BuiltInProvider, pkce: Provider['pkce']): string[] {
  const tokenRequest = tokenRequestIn(known.provider)
  const filled: string[] = []
  if (facts.authMethod === undefined && tokenRequest.authMethod !== 'client_secret_post')
    filled.push(METHOD_WORDS[tokenRequest.authMethod] ?? 'no secret')
  if (facts.pkce === undefined && pkce !== 'S256')
    filled.push(pkce === 'none' ? 'no PKCE' : `PKCE with ${pkce}`)
  if (facts.pkce !== undefined && facts.pkce !== pkce)
    filled.push(`PKCE with ${pkce} in place of ${facts.pkce}`)
  if (facts.contentType === undefined && tokenRequest.requestContentType === 'application/json')
    filled.push('a JSON token request')
  const { params = {}, scopes = [] } = known.offlineAccess ?? {}
  if (facts.offlineAccess === undefined && known.offlineAccess !== undefined)
    filled.push(
      `a refresh token asked for (${[...Object.entries(params).map(([name, value]) => `${name}=${value}`), ...scopes].join(', ')})`,
    )
  if (facts.isPublic && known.provider.publicClients) filled.push('a public client, without a secret')
  return filled
}
