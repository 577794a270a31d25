import type { EpochSeconds } from '../domain/clock.ts'
import type { Outgoing, OutgoingRequest } from '../egress/outgoing.ts'
import { credentialsFor } from './client-authentication.ts'
import { mergedExtra } from './extra-members.ts'
import { type Grant, readGrant, type TokenResponse } from './grant.ts'
import type { Provider } from './provider.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { requestOf } from './provider-request.ts'
import { wordsOf } from './provider-words.ts'
import type { TokenRequestBlock } from './request-block.ts'
import type { TemplateValues } from './template.ts'
import { type RepairedTokenResponse, repairTokenResponse, type TokenResponseRules } from './token-response.ts'

// Token requests without a code or a refresh token: an access token is exchanged for one that lives longer, or renewed
// (Instagram, Facebook, Threads). No RFC describes them, so openid-client has no part in them.

/** How the token responses of a block are read. */
export function responseRules(
  provider: Provider,
  block: TokenRequestBlock,
  now: EpochSeconds,
): TokenResponseRules {
  const { responseContentType, responseMap, errorResponse, expirationFormat } = block
  return {
    responseContentType,
    responseMap,
    errorResponse,
    expirationFormat,
    tokenTypes: provider.tokenTypes,
    keepIdToken: provider.issuer !== undefined,
    now,
  }
}

export interface TokenExchange {
  readonly registered: RegisteredClient
  readonly block: TokenRequestBlock
  readonly values: TemplateValues
  readonly purpose: 'exchange' | 'refresh'
  readonly guard?: Pick<OutgoingRequest, 'isStillWanted' | 'signal'> | undefined
}

/** Sends the block's request with the access token in `values`, and reads the new one. Throws `ProviderRefusal`. */
export async function exchangeToken(
  outgoing: Outgoing,
  { registered, block, values, purpose, guard }: TokenExchange,
  now: EpochSeconds,
): Promise<Grant> {
  const { provider, client } = registered
  const credentials = await credentialsFor(block, registered, now)
  const secrets = [values.access_token, client.clientSecret, ...Object.values(credentials.params)]
  const seen: Seen = {}
  const refuse = (said: { readonly code?: string; readonly words?: string | undefined }, cause?: unknown) =>
    refusalOf(provider.displayName, said, { ...seen, cause })
  let answer: RepairedTokenResponse
  try {
    const request = requestOf(block, values, { client: credentials })
    const response = await outgoing.send({ ...request, purpose, ...guard })
    seen.retryAfter = retryAfterSeconds(response.headers['retry-after'], now)
    seen.status = response.status
    const rules = { ...responseRules(provider, block, now), ignoreIdToken: true }
    answer = repairTokenResponse(response.status, response.headers['content-type'], response.body, rules)
  } catch (error) {
    seen.fault = error
    throw refuse({}, error)
  }
  const { status, body, extra, refreshExpiresIn } = answer
  if (status !== 200) {
    const { error, error_description: description } = body
    throw refuse({
      code: String(error),
      words: wordsOf(typeof description === 'string' ? description : undefined, secrets),
    })
  }
  const tokens = body as unknown as TokenResponse['tokens'] // as `readTokens` makes it
  return readGrant(registered, { tokens, claims: undefined, refreshExpiresIn, extra })
}

/** The first grant with the tokens of the exchange. The lifetime of the first token says nothing of the second. */
export function withExchanged(first: Grant, exchanged: Grant): Grant {
  return {
    ...first,
    accessToken: exchanged.accessToken,
    tokenType: exchanged.tokenType,
    expiresIn: exchanged.expiresIn,
    refreshToken: exchanged.refreshToken ?? first.refreshToken,
    refreshExpiresIn: exchanged.refreshExpiresIn ?? first.refreshExpiresIn,
    scopes: exchanged.scopes ?? first.scopes,
    extra: mergedExtra(first.extra, exchanged.extra),
  }
}
