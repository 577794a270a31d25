import type { ScopeMeaning } from '../../domain/scopes.ts'
import { SCOPES_TEMPLATE, USUAL_ACCOUNT } from '../../providers/catalogue/define.ts'
import { type BuiltInProvider, builtInByEndpoints } from '../../providers/catalogue/registry.ts'
import type { ClientAuthMethod, Provider, RequestBlock, TokenRequestBlock } from '../../providers/provider.ts'

/** What an `oauth` entry says of its provider; `undefined` where it says nothing. */
export interface EntryFacts {
  readonly name: string
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly scopes: readonly string[]
  /** Where the file says them; else the catalogue's count. */
  readonly scopeImplies?: Provider['scopeImplies']
  readonly scopeAliases?: Provider['scopeAliases']
  readonly pkce: 'S256' | 'plain' | undefined
  readonly authMethod: ClientAuthMethod | undefined
  readonly contentType: RequestBlock['requestContentType'] | undefined
  /** Whether a refresh token is to be asked for. */
  readonly offlineAccess: boolean | undefined
  /** `token_type` values taken besides bearer. */
  readonly tokenTypes: readonly string[] | undefined
  /** There is a client id and no secret. */
  readonly isPublic: boolean
}

export interface DescribedProvider {
  readonly provider: Provider
  /** What the file leaves open and the catalogue knows otherwise than usual, in words. */
  readonly filled: readonly string[]
}

/**
 * The entry's provider. What the file says stands; what it leaves open or cannot say is as the catalogue has it when
 * both endpoints are one of its providers', and as the RFCs and most servers have it otherwise.
 */
export function providerOf(facts: EntryFacts): DescribedProvider {
  const known = builtInByEndpoints(facts.authorizationUrl, facts.tokenUrl)?.builtIn
  const pkce = pkceOf(facts, known)
  const settings: Omit<TokenRequestBlock, 'params' | 'endpoint'> = {
    method: 'POST',
    authMethod: facts.authMethod ?? known?.provider.tokenRequest.authMethod ?? 'client_secret_post',
    requestContentType:
      facts.contentType ??
      known?.provider.tokenRequest.requestContentType ??
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
        // always there: a refresh token that comes unasked is used all the same
        refreshRequest: token,
        tokenTypes: facts.tokenTypes ?? [],
        account: USUAL_ACCOUNT,
      },
      filled: [],
    }
  // not stored, so that a later catalogue counts: `factsOf` looks them up
  const { scopeAliases: _, scopeImplies: __, callbackTellsScopes: ___, ...unasked } = known.provider
  const { callbackMembers: ____, ...provider } = unasked
  const { tokenRequest, refreshRequest } = provider
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
    filled: filledFrom(facts, known, pkce),
  }
}

function scopeMeaning({ scopeImplies, scopeAliases }: EntryFacts): ScopeMeaning {
  return {
    ...(scopeImplies !== undefined && { scopeImplies }),
    ...(scopeAliases !== undefined && { scopeAliases }),
  }
}

/** A public client at a provider that is known to take S256 uses it, whatever the file says: nothing else protects its code. */
function pkceOf(facts: EntryFacts, known: BuiltInProvider | undefined): Provider['pkce'] {
  const usual = known?.provider.pkce ?? 'S256'
  return facts.pkce === 'plain' && facts.isPublic && usual === 'S256' && known !== undefined
    ? 'S256'
    : (facts.pkce ?? usual)
}

/** Parameters as the provider wants them, but for those that the URL in the file already has. */
function authorizationParams(facts: EntryFacts, known: BuiltInProvider): Record<string, string> {
  const own = new URL(facts.authorizationUrl).searchParams
  const offline = (facts.offlineAccess ?? true) ? known.offlineAccess : undefined
  const params = { ...known.provider.authorizationRequest.params, ...offline?.params }
  // asked for, but not among what the tool needs: some providers never list it among what they granted
  const scopes = (offline?.scopes ?? []).filter((scope) => !facts.scopes.includes(scope))
  const asked = Object.entries(params).flatMap(([name, template]) => {
    if (own.has(name) || RFC_PARAMETERS.includes(name)) return []
    if (template !== SCOPES_TEMPLATE) return [[name, template]]
    return name === 'scope' && scopes.length === 0 ? [] : [[name, [template, ...scopes].join(' ')]]
  })
  return Object.fromEntries(asked)
}

/** What every authorization request has without being told (RFC 6749 section 4.1.1). */
const RFC_PARAMETERS = ['response_type', 'client_id', 'redirect_uri']

const METHOD_WORDS: Readonly<Partial<Record<ClientAuthMethod, string>>> = {
  client_secret_basic: 'the secret by HTTP Basic',
  client_secret_basic_unencoded: 'the secret by HTTP Basic, not encoded',
}

function filledFrom(facts: EntryFacts, known: BuiltInProvider, pkce: Provider['pkce']): string[] {
  const { tokenRequest } = known.provider
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
