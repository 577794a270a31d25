import type { EpochSeconds } from '../domain/clock.ts'
import { missingScopes, splitScope } from '../domain/scopes.ts'
import type { Outgoing, OutgoingRequest, OutgoingResponse } from '../egress/outgoing.ts'
import { type Grant, readGrant, type TokenResponse } from './grant.ts'
import { grantAssertion } from './grant-assertion.ts'
import { factsOf } from './known-facts.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { isScopeMember, requestOf, templateValues } from './provider-request.ts'
import { wordsOf } from './provider-words.ts'
import type { InstallationsRequestBlock, StandardErrorCode, TokenRequestBlock } from './request-block.ts'
import { readJsonItems, readJsonMembers } from './response-body.ts'
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

/** Pages of the list that are read; the rest is not offered. */
const MOST_PAGES = 10
/** Installations that are offered at most. */
const MOST_OFFERED = 500

/**
 * The installations that the user of the token may use, as the provider itself lists them. Follows `Link: …; rel="next"`
 * (RFC 8288) at the same endpoint. Throws `ProviderRefusal`.
 */
export async function listInstallations(
  outgoing: Outgoing,
  registered: RegisteredClient,
  accessToken: string,
  now: EpochSeconds,
): Promise<readonly Installation[]> {
  const { provider } = registered
  const block = provider.installationsRequest
  if (block === undefined) throw new Error(`${provider.displayName} has no installations request`)
  const values = { ...templateValues(registered), access_token: accessToken }
  const first = requestOf(block, values)
  const found = new Map<string, Installation>()
  let next: string | URL | undefined = first.url
  for (let page = 0; next !== undefined && page < MOST_PAGES && found.size < MOST_OFFERED; page++) {
    const seen: Seen = { asked: 'installations' }
    const response: OutgoingResponse = await outgoing
      .send({ ...first, url: next, purpose: 'resource' })
      .catch((fault: unknown) => {
        throw refusalOf(provider.displayName, {}, { ...seen, fault, cause: fault })
      })
    const items = itemsOf(response, block)
    if (items === undefined) {
      const { status } = response
      const retryAfter = retryAfterSeconds(response.headers['retry-after'], now)
      const message = `no list of installations, HTTP ${status}`
      throw refusalOf(provider.displayName, { message }, { ...seen, status, retryAfter, cause: undefined })
    }
    for (const item of items) {
      const installation = readInstallation(item, block)
      if (installation !== undefined) found.set(installation.id, installation)
    }
    next = nextPage(response.headers.link, first.url)
  }
  return [...found.values()].slice(0, MOST_OFFERED)
}

function itemsOf(
  { status, body }: OutgoingResponse,
  { at }: InstallationsRequestBlock,
): readonly unknown[] | undefined {
  if (status < 200 || status > 299) return undefined
  const items = evaluateText(at, readJsonMembers(body) ?? readJsonItems(body))
  return Array.isArray(items) ? items : undefined
}

/** `undefined` for an item without a usable id. */
function readInstallation(item: unknown, block: InstallationsRequestBlock): Installation | undefined {
  const id = evaluateText(block.id, item)
  if (typeof id !== 'number' && typeof id !== 'string') return undefined
  if (!/^[\w-]{1,100}$/.test(String(id))) return undefined // it becomes part of a URL
  const name = evaluateText(block.name, item)
  const told = block.scopes === undefined ? undefined : readScope(evaluateText(block.scopes, item))
  return {
    id: String(id),
    name: typeof name === 'string' && name.trim() !== '' ? shownName(name) : String(id),
    ...(block.scopes !== undefined && { scopes: told === undefined ? [] : splitScope(told) }),
  }
}

function shownName(name: string): string {
  return name
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, 200)
    .toWellFormed()
}

/** The next page, only at the endpoint that the entry names: the user's token goes nowhere else. */
function nextPage(link: string | undefined, endpoint: string | URL): URL | undefined {
  const found = /<([^>]+)>\s*;[^,]*\brel="?next"?/i.exec(link ?? '')?.[1]
  if (found === undefined || !URL.canParse(found, endpoint)) return undefined
  const [next, own] = [new URL(found, endpoint), new URL(endpoint)]
  return next.origin === own.origin && next.pathname === own.pathname ? next : undefined
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
