import type { EpochSeconds } from '../domain/clock.ts'
import { missingScopes, splitScope } from '../domain/scopes.ts'
import type { Outgoing, OutgoingRequest, OutgoingResponse } from '../egress/outgoing.ts'
import type { ProvenOutgoing } from './dpop-proofs.ts'
import { type Grant, readGrant, type TokenResponse } from './grant.ts'
import { grantAssertion } from './grant-assertion.ts'
import { factsOf } from './known-facts.ts'
import { type ListingTokens, readList, shownText } from './offered-list.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { isScopeMember, requestOf, templateValues } from './provider-request.ts'
import { wordsOf } from './provider-words.ts'
import type { InstallationsRequestBlock, StandardErrorCode, TokenRequestBlock } from './request-block.ts'
import { readJsonMembers } from './response-body.ts'
import { evaluateText } from './response-map.ts'
import { responseRules } from './token-exchange.ts'
import { type RepairedTokenResponse, readScope, repairTokenResponse } from './token-response.ts'

// Installations of the client at accounts of the provider (GitHub Apps): which of them are a user's, and their tokens. No
// RFC describes them, so openid-client has no part in them.

/** An installation that a user may choose. */
export interface Installation {
  readonly id: string
  /** What people call it: the name of the account at which the client is installed. */
  readonly name: string
  /** What the installation grants; absent: the provider does not tell. */
  readonly scopes?: readonly string[]
}

/** The installations that the user of the token may use, as the provider itself lists them. Throws `ProviderRefusal`. */
export function listInstallations(
  proven: ProvenOutgoing,
  registered: RegisteredClient,
  tokens: ListingTokens,
  now: EpochSeconds,
): Promise<readonly Installation[]> {
  const { installationsRequest: block, displayName } = registered.provider
  if (block === undefined) throw new Error(`${displayName} has no installations request`)
  const read = (item: unknown) => readInstallation(item, block)
  return readList(proven, registered, block, tokens, { asked: 'installations', now, read })
}

/** `undefined` for an item without a usable id. */
function readInstallation(item: unknown, block: InstallationsRequestBlock): Installation | undefined {
  const id = evaluateText(block.id, item)
  if (typeof id !== 'number' && typeof id !== 'string') return undefined
  if (!/^[\w-]{1,100}$/.test(String(id))) return undefined // it becomes part of a URL
  const told = block.scopes === undefined ? undefined : readScope(evaluateText(block.scopes, item))
  return {
    id: String(id),
    name: shownText(evaluateText(block.name, item)) ?? String(id),
    ...(block.scopes !== undefined && { scopes: told === undefined ? [] : splitScope(told) }),
  }
}

/** The installation and what its token is to be allowed. */
export interface InstallationNeed {
  readonly installationId: string
  readonly scopes: readonly string[]
  readonly userId: string
}

/**
 * Asks for a token of the installation with these scopes. Without any: with all that it has, where the entry allows that,
 * unless the provider tells what that is, since then the user was granted none of them. Throws `ProviderRefusal`:
 * `invalid_grant` when the installation was removed or suspended, `invalid_scope` when it does not have a scope,
 * `invalid_client` when the key or the clock is wrong.
 */
export async function requestInstallationToken(
  outgoing: Outgoing,
  registered: RegisteredClient,
  { installationId, scopes, userId }: InstallationNeed,
  now: EpochSeconds,
  guard: Pick<OutgoingRequest, 'isStillWanted' | 'signal'> = {},
): Promise<Grant> {
  const { provider } = registered
  const block = provider.installationTokenRequest
  if (block === undefined) throw new Error(`${provider.displayName} has no installation token request`)
  // a request without scopes would bring all of them
  const mayBeUnscoped =
    provider.unscopedTokens === true && provider.installationsRequest?.scopes === undefined
  if (scopes.length === 0 && !mayBeUnscoped)
    throw new ProviderRefusal(
      'invalid_scope',
      `${provider.displayName} granted none of the scopes that the user was asked for.`,
    )
  const wanted = strongest(registered, scopes)
  checkMembers(registered, block, wanted)
  const assertion = await grantAssertion(registered, { scopes: wanted, userId }, now)
  const values = { ...templateValues(registered), scopes: wanted, installation_id: installationId }
  const request = requestOf(block, values, {
    protocol: { headers: { authorization: `Bearer ${assertion}` } },
  })
  const seen: Seen = {}
  let answer: RepairedTokenResponse
  try {
    const response = await outgoing.send({ ...request, purpose: 'refresh', ...guard })
    seen.status = response.status
    seen.retryAfter = retryAfterSeconds(response.headers['retry-after'], now)
    const refused = refusedBy(response)
    if (refused !== undefined) {
      const words = wordsOf(messageIn(response), [assertion, ...assertion.split('.')])
      throw refusalOf(
        provider.displayName,
        { code: refused, words },
        { ...seen, ...(refused === 'slow_down' && { status: 429 }), cause: undefined },
      )
    }
    const rules = { ...responseRules(provider, block, now), ignoreIdToken: true }
    answer = repairTokenResponse(response.status, response.headers['content-type'], response.body, rules)
  } catch (error) {
    if (error instanceof ProviderRefusal) throw error
    throw refusalOf(provider.displayName, {}, { ...seen, fault: error, cause: error })
  }
  if (answer.status !== 200)
    throw refusalOf(provider.displayName, { code: String(answer.body.error) }, { ...seen, cause: undefined })
  const { body, extra } = answer
  const tokens = body as unknown as TokenResponse['tokens'] // as `readTokens` makes it
  const granted = readGrant(registered, { tokens, claims: undefined, extra })
  const missing = missingScopes(scopes, granted.scopes ?? scopes, factsOf(provider))
  if (missing.length > 0) throw notGranted(registered, missing)
  const { refreshToken: _, subject: __, ...token } = granted
  const expiresIn = granted.expiresIn ?? provider.defaultExpiresIn
  return { ...token, expiresIn, scopes: undefined, userInfo: undefined }
}

/** Without scopes that another one of them includes, as `contents:write` includes `contents:read`. */
function strongest({ provider }: RegisteredClient, scopes: readonly string[]): readonly string[] {
  const facts = factsOf(provider)
  return scopes.filter(
    (scope) =>
      !scopes.some((other) => other !== scope && missingScopes([scope], [other], facts).length === 0),
  )
}

/** A scope that is no `name:value` cannot be a member of an object. Throws `ProviderRefusal`, with nothing sent. */
function checkMembers(
  { provider }: RegisteredClient,
  { params }: TokenRequestBlock,
  scopes: readonly string[],
): void {
  const asMembers = Object.values(params).some((template) => template.includes('scope_members'))
  const odd = asMembers ? scopes.find((scope) => !isScopeMember(scope)) : undefined
  if (odd !== undefined)
    throw new ProviderRefusal(
      'invalid_scope',
      `${provider.displayName} has scopes of the form name:value, such as contents:read. "${odd.slice(0, 100)}" is none.`,
    )
}

function notGranted({ provider }: RegisteredClient, missing: readonly string[]): ProviderRefusal {
  return new ProviderRefusal(
    'invalid_scope',
    `${provider.displayName} granted a token without the scope ${missing.join(', ')}.`,
  )
}

/** What a status of the answer means, in the codes of RFC 6749; `undefined` for any other. */
function refusedBy({ status, headers }: OutgoingResponse): StandardErrorCode | undefined {
  switch (status) {
    case 401:
      return 'invalid_client'
    case 403:
      // suspended, unless it says that it limits requests
      return headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0'
        ? 'slow_down'
        : 'invalid_grant'
    case 404:
      return 'invalid_grant'
    case 422:
      return 'invalid_scope'
    default:
      return undefined
  }
}

function messageIn({ body }: OutgoingResponse): string | undefined {
  const message = readJsonMembers(body)?.message
  return typeof message === 'string' ? message : undefined
}
