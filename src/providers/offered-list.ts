import type { EpochSeconds } from '../domain/clock.ts'
import type { OutgoingResponse } from '../egress/outgoing.ts'
import { type ProvenOutgoing, proofOfToken, sendProven } from './dpop-proofs.ts'
import { withoutSecrets } from './extra-members.ts'
import { type Grant, secretsOf } from './grant.ts'
import { collectValues, keptNames, keptValuesOf, type ToldValues } from './kept-values.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { requestOf, templateValues } from './provider-request.ts'
import type { ListRequestBlock } from './request-block.ts'
import { readJsonItems, readJsonMembers } from './response-body.ts'
import { evaluateText } from './response-map.ts'

// What the provider itself lists for the user who approved, of which the user chooses one: installations of the client, or
// tenants. No RFC describes such lists, so openid-client has no part in them.

/** A tenant that a user may choose: a site, an organization, an account. */
export interface Tenant {
  readonly id: string
  readonly name: string
  /** What tells tenants of the same name apart. */
  readonly detail?: string
  /** The values that a connection to it keeps. */
  readonly kept: ToldValues
}

/** The tokens of the user's code. The list is asked for with the access token, and must repeat none of them. */
export type ListingTokens = Pick<Grant, 'accessToken' | 'refreshToken' | 'dpopKey'>

/** Pages of the list that are read; the rest is not offered. */
const MOST_PAGES = 10
/** Items that are offered at most. */
const MOST_OFFERED = 500
/** Of one page: the list is asked for within the claim on the code. */
const DEADLINE_MS = 4_000

/**
 * The items of the list, each id once. Follows `Link: …; rel="next"` (RFC 8288) at the same endpoint. `read` returns
 * `undefined` for an item that cannot be chosen. Throws `ProviderRefusal`.
 */
export async function readList<Item extends { readonly id: string }>(
  { outgoing, proofs }: ProvenOutgoing,
  registered: RegisteredClient,
  block: ListRequestBlock,
  tokens: ListingTokens,
  {
    asked,
    now,
    read,
  }: {
    /** For messages. */
    readonly asked: string
    readonly now: EpochSeconds
    readonly read: (item: unknown) => Item | undefined
  },
): Promise<readonly Item[]> {
  const { displayName } = registered.provider
  const values = { ...templateValues(registered), access_token: tokens.accessToken }
  const proof = proofOfToken(block, registered, values, tokens.dpopKey)
  const secrets = secretsOf(registered, tokens)
  const { url: endpoint } = requestOf(block, values)
  const found = new Map<string, Item>()
  let next: string | URL | undefined = endpoint
  for (let page = 0; next !== undefined && page < MOST_PAGES && found.size < MOST_OFFERED; page++) {
    const url: string | URL = next
    const seen: Seen = { asked }
    const response: OutgoingResponse = await sendProven(outgoing, proofs, proof, () => ({
      ...requestOf(block, values, { isBound: proof !== undefined }),
      url,
      purpose: 'resource',
      deadlineMs: DEADLINE_MS,
    })).catch((fault: unknown) => {
      throw refusalOf(displayName, {}, { ...seen, fault, cause: fault })
    })
    const items = itemsOf(response, block)
    if (items === undefined) {
      const { status } = response
      const retryAfter = retryAfterSeconds(response.headers['retry-after'], now)
      const message = `no list of ${asked}, HTTP ${status}`
      throw refusalOf(displayName, { message }, { ...seen, status, retryAfter, cause: undefined })
    }
    for (const item of withoutSecrets(items, secrets)) {
      const offered = read(item)
      // the first one counts: Atlassian lists a site once for each of its products
      if (offered !== undefined && !found.has(offered.id)) found.set(offered.id, offered)
    }
    next = nextPage(response.headers.link, endpoint)
  }
  return [...found.values()].slice(0, MOST_OFFERED)
}

function itemsOf(
  { status, body }: OutgoingResponse,
  { at }: ListRequestBlock,
): readonly unknown[] | undefined {
  if (status < 200 || status > 299) return undefined
  const items = evaluateText(at, readJsonMembers(body) ?? readJsonItems(body))
  return Array.isArray(items) ? items : undefined
}

/** The next page, only at the endpoint that the entry names: the user's token goes nowhere else. */
function nextPage(link: string | undefined, endpoint: string | URL): URL | undefined {
  const found = /<([^>]+)>\s*;[^,]*\brel="?next"?/i.exec(link ?? '')?.[1]
  if (found === undefined || !URL.canParse(found, endpoint)) return undefined
  const [next, own] = [new URL(found, endpoint), new URL(endpoint)]
  return next.origin === own.origin && next.pathname === own.pathname ? next : undefined
}

/** The tenants that the user of the token may choose, as the provider itself lists them. Throws `ProviderRefusal`. */
export function listTenants(
  proven: ProvenOutgoing,
  registered: RegisteredClient,
  tokens: ListingTokens,
  now: EpochSeconds,
): Promise<readonly Tenant[]> {
  const { provider } = registered
  const block = provider.choicesRequest
  if (block === undefined) throw new Error(`${provider.displayName} has no choices request`)
  const wanted = keptNames(provider, 'choice')
  return readList(proven, registered, block, tokens, {
    asked: 'choices',
    now,
    read(item) {
      const id = evaluateText(block.id, item)
      if (typeof id !== 'number' && typeof id !== 'string') return undefined
      const kept = collectValues(provider, { choice: item })
      const values = keptValuesOf(provider, kept)
      // without these values the API of the tenant could not be called
      const isWhole = wanted.every((name) => values[name] !== undefined)
      if (!isWhole || !/^[^\p{Cc}]{1,200}$/u.test(String(id)) || !String(id).isWellFormed()) return undefined
      const detail = block.detail === undefined ? undefined : shownText(evaluateText(block.detail, item))
      return {
        id: String(id),
        name: shownText(evaluateText(block.name, item)) ?? String(id),
        ...(detail !== undefined && { detail }),
        kept: kept ?? {},
      }
    },
  })
}

/** A text of the list for people; `undefined` if there is none. */
export function shownText(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, 200)
    .toWellFormed()
}
