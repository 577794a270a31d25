import { SCOPES_TEMPLATE, USUAL_ACCOUNT } from '../../providers/catalogue/define.ts'
import { type BuiltInProvider, builtInByHosts } from '../../providers/catalogue/registry.ts'
import type { Provider, TokenRequestBlock } from '../../providers/provider.ts'

/** What an `oauth` entry says of its provider. */
export interface EntryFacts {
  readonly name: string
  readonly authorizationUrl: string
  readonly tokenUrl: string
  readonly scopes: readonly string[]
  /** Where the file says them; else the catalogue's count. */
  readonly scopeImplies?: Provider['scopeImplies']
  readonly scopeAliases?: Provider['scopeAliases']
  /** Absent: as the provider is known to want it, else `S256`. */
  readonly pkce: 'S256' | 'plain' | undefined
  readonly authMethod: 'client_secret_basic' | 'client_secret_basic_unencoded' | 'client_secret_post'
  readonly contentType: TokenRequestBlock['requestContentType']
  /** Whether a refresh token is to be asked for. */
  readonly offlineAccess: boolean
}

/**
 * The entry's provider. What the file says stands; what it cannot say (issuer, account, revocation, API, how to ask for a
 * refresh token) is taken from the catalogue when both hosts are one of its providers'.
 */
export function providerOf(facts: EntryFacts): Provider {
  const known = builtInByHosts(facts.authorizationUrl, facts.tokenUrl)
  const { issuer, userInfoRequest, introspectionRequest, revocationRequest, api } = known?.provider ?? {}
  const request: Omit<TokenRequestBlock, 'params'> = {
    endpoint: facts.tokenUrl,
    method: 'POST',
    authMethod: facts.authMethod,
    requestContentType: facts.contentType,
    responseContentType: 'application/json',
  }
  return {
    displayName: facts.name,
    ...(issuer !== undefined && { issuer }),
    pkce: facts.pkce ?? known?.provider.pkce ?? 'S256',
    scopeSeparator: known?.provider.scopeSeparator ?? ' ',
    ...(facts.scopeAliases !== undefined && { scopeAliases: facts.scopeAliases }),
    ...(facts.scopeImplies !== undefined && { scopeImplies: facts.scopeImplies }),
    defaultScopes: facts.scopes,
    authorizationRequest: { endpoint: facts.authorizationUrl, params: authorizationParams(facts, known) },
    tokenRequest: { ...request, params: {} },
    // always there: a refresh token that comes unasked is used all the same
    refreshRequest: { ...request, params: {} },
    ...(userInfoRequest !== undefined && { userInfoRequest }),
    ...(introspectionRequest !== undefined && { introspectionRequest }),
    ...(revocationRequest !== undefined && { revocationRequest }),
    tokenTypes: known?.provider.tokenTypes ?? [],
    account: known?.provider.account ?? USUAL_ACCOUNT,
    ...(api !== undefined && { api }),
  }
}

/** Parameters beyond the RFC's that a known provider wants, but for those that the URL in the file already has. */
function authorizationParams(facts: EntryFacts, known: BuiltInProvider | undefined): Record<string, string> {
  if (known === undefined) return {}
  const own = new URL(facts.authorizationUrl).searchParams
  const offline = facts.offlineAccess ? known.offlineAccess : undefined
  const fixed = Object.entries(known.provider.authorizationRequest.params).filter(
    ([name, template]) => name !== 'response_type' && !template.includes('{{'),
  )
  const added = [...fixed, ...Object.entries(offline?.params ?? {})].filter(([name]) => !own.has(name))
  const scopes = (offline?.scopes ?? []).filter((scope) => !facts.scopes.includes(scope))
  // asked for, but not among what the tool needs: some providers never list it among what they granted
  const scope = scopes.length > 0 && { scope: [SCOPES_TEMPLATE, ...scopes].join(' ') }
  return { ...Object.fromEntries(added), ...scope }
}
