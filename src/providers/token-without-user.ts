import { type Configuration, genericGrantRequest } from 'openid-client'
import { missingScopes } from '../domain/scopes.ts'
import { newProofKey } from './dpop.ts'
import type { Grant } from './grant.ts'
import { type AssertedNeed, claimTemplates, grantAssertion } from './grant-assertion.ts'
import { factsOf } from './known-facts.ts'
import type { GrantType } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { templateValues } from './provider-request.ts'
import { exchangeParams, refusalOfSubject } from './subject-exchange.ts'
import { placesScopes } from './template.ts'
import { type RequestGuard, requestGrant, type TokenSender } from './token-request.ts'
import { fixedValues } from './variables.ts'

/** `subjectToken`: what is exchanged, with the grant `token_exchange`. */
export type NeededToken = AssertedNeed & { readonly subjectToken?: string | undefined }

/**
 * Asks for a token by the entry's grant without a user's part (RFC 6749 section 4.4, RFC 7523 section 2.1, RFC 8693). A refresh
 * token that comes along is dropped. Throws `ProviderRefusal`, also for a token with fewer scopes.
 */
export async function requestToken(
  sender: TokenSender,
  registered: RegisteredClient,
  need: NeededToken,
  guard: RequestGuard | undefined,
): Promise<Grant> {
  const { provider } = registered
  const { scopes } = need
  const { type = 'client_credentials' } = provider.grant ?? {}
  const block = tokenRequestIn(provider)
  const isPlaced = [...Object.values(block.params), ...claimTemplates(provider)].some(placesScopes)
  const params = {
    ...(!isPlaced && scopes.length > 0 && { scope: scopes.join(provider.scopeSeparator) }),
    ...(type === 'jwt_bearer' && { assertion: await grantAssertion(registered, need, sender.now()) }),
    ...exchangeParams(provider, need.subjectToken),
  }
  const kept = fixedValues(provider)
  const values = { ...templateValues(registered), scopes, kept }
  const ask = (config: Configuration) => genericGrantRequest(config, grantTypeOf(type), params)
  // each token has a key of its own, since no refresh token needs the former one
  const dpopKey = provider.dpop && newProofKey(provider.dpop.algorithm)
  const granted = await requestGrant(sender, registered, block, values, ask, { guard, dpopKey }).catch(
    (error) => {
      throw refusalOfSubject(error, provider)
    },
  )
  const missing = missingScopes(scopes, granted.scopes ?? scopes, factsOf(provider))
  if (missing.length > 0)
    throw new ProviderRefusal(
      'invalid_scope',
      `${provider.displayName} granted a token without the scope ${missing.join(', ')}.`,
    )
  const { refreshToken: _, subject: __, ...token } = granted
  const expiresIn = granted.expiresIn ?? provider.defaultExpiresIn
  return { ...token, expiresIn, scopes: undefined, userInfo: undefined }
}

/** `grant_type` on the wire. */
function grantTypeOf(type: GrantType): string {
  return type === 'jwt_bearer' || type === 'token_exchange'
    ? `urn:ietf:params:oauth:grant-type:${type.replace('_', '-')}`
    : type
}
