import type { Broker } from '../broker.ts'
import type { Authorization, Step } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newId, sha256 } from '../domain/ids.ts'
import { unionOfScopes } from '../domain/scopes.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import { policyProvider } from '../services/policies/policy-provider.ts'
import type { Release } from '../services/release.ts'
import { registeredClient } from './find-provider.ts'
import { getAccessToken } from './get-access-token.ts'
import { releaseTokens } from './release-tokens.ts'

/** Live authorizations of one user at one provider: each is another need, so there are few in earnest. */
const MAX_PENDING_PER_USER = 50

/** What a caller needs for a user: one or several providers. */
export interface AuthorizationNeed {
  readonly projectId: string
  readonly userId: string
  readonly providers: readonly ProviderNeed[]
  /** The account meant: a connection's id, an account's id or name, or `new` for one more. */
  readonly account?: string
  /** The tool or application that asks, for the connect page. */
  readonly requester?: string
  readonly nextUri?: string
}

export interface ProviderNeed {
  readonly entry: ProviderEntry
  /** What is needed. Empty: any grant will do. */
  readonly scopes: readonly string[]
  /** What is asked for besides, once the user must be asked at all. */
  readonly alsoAsk?: readonly string[]
  /** In place of the need's. */
  readonly account?: string
}

export type BegunAuthorization =
  | { readonly outcome: 'covered'; readonly releases: readonly Release[] }
  | { readonly outcome: 'pending'; readonly authorization: Authorization }

/**
 * Answers the tokens when connections already cover the need, else a live authorization for what is missing: the
 * same one for the same user, providers and scopes. Where a user has granted some scopes before, the union is asked
 * for. Throws `scopes_not_granted` when asking is of no use, `provider_incomplete`, `provider_unavailable`, `too_many_pending`, `denied_by_policy`, and
 * `invalid_request` for a `nextUri` that is not allowed.
 */
export async function beginAuthorization(
  broker: Broker,
  need: AuthorizationNeed,
): Promise<BegunAuthorization> {
  const nextUri = need.nextUri === undefined ? undefined : allowedNextUri(broker, need.nextUri)
  return releaseTokens(
    broker,
    () => begin(broker, { ...need, ...(nextUri !== undefined && { nextUri }) }),
    (begun) => (begun.outcome === 'covered' ? begun.releases : []),
  )
}

async function begin(broker: Broker, need: AuthorizationNeed): Promise<BegunAuthorization> {
  const steps: Step[] = []
  const releases: Release[] = []
  for (const { entry, scopes, alsoAsk = [], account: own } of need.providers) {
    const account = own ?? need.account
    const wants = { ...need, entry, scopes, ...(account !== undefined && { account }) }
    const known = account === 'new' ? NOTHING_YET : await getAccessToken(broker, wants)
    if (known.outcome === 'ready') {
      releases.push(known)
      continue
    }
    if (known.outcome === 'provider_unavailable')
      throw new BrokerError('provider_unavailable', known.message, { retryAfter: known.retryAfter })
    registeredClient(broker, entry)
    if (known.connection !== undefined) checkWorthAsking(entry, known.connection, known.missingScopes)
    const wanted = scopes.length > 0 ? scopes : entry.provider.defaultScopes
    steps.push({
      providerUid: entry.uid,
      scopes: unionOfScopes(wanted, alsoAsk, known.connection?.scopes ?? []),
      ...(own !== undefined && { account: own }),
    })
  }
  if (steps.length === 0) return { outcome: 'covered', releases }
  const { projectId, userId } = need
  const providers = need.providers.map(({ entry, scopes }) => policyProvider(entry, scopes))
  await broker.policies.checkConsent({ projectId, userId, providers })

  const now = broker.now()
  const id = newId('auth')
  // one that is live already is answered all the same
  const most = (await broker.pending.isFull(need.projectId)) ? 0 : MAX_PENDING_PER_USER
  const authorization = await broker.store.authorizations.begin(
    {
      id,
      projectId: need.projectId,
      userId: need.userId,
      status: 'pending',
      steps,
      step: 0,
      ...(need.requester !== undefined && { requester: need.requester }),
      ...(need.account !== undefined && { account: need.account }),
      ...(need.nextUri !== undefined && { nextUri: need.nextUri }),
      createdAt: now,
      expiresAt: now + broker.settings.authorizationTtlSeconds,
    },
    shareKey(need, steps),
    now,
    most,
  )
  if (authorization.id === id) broker.pending.added(need.projectId)
  return { outcome: 'pending', authorization }
}

const NOTHING_YET = { outcome: 'authorization_required', connection: undefined, missingScopes: [] } as const

/** So many consents in a row did not bring a scope; one more would not either. */
const FRUITLESS = 2

/**
 * A server may never list a scope that it was asked for, since another one includes it: then users would be asked for
 * ever. A change of the entry, or a connection that is made anew, lets the user be asked again.
 */
function checkWorthAsking(entry: ProviderEntry, connection: Connection, missing: readonly string[]): void {
  const { status, withheldScopes: counts, consentedAt } = connection
  if (status !== 'active' || entry.updatedAt > consentedAt) return
  const withheld = missing.filter(
    (scope) => Object.hasOwn(counts, scope) && (counts[scope] ?? 0) >= FRUITLESS,
  )
  if (withheld.length === 0) return
  const scopes = withheld.map((scope) => `"${scope}"`).join(', ')
  throw new BrokerError(
    'scopes_not_granted',
    `${entry.provider.displayName} did not grant ${scopes} in ${FRUITLESS} consents, so the user is not asked again. If another scope includes ${withheld.length === 1 ? 'it' : 'them'} or the server lists ${withheld.length === 1 ? 'it' : 'them'} by another name, an administrator can say so in oauth2.scope_implies or oauth2.scope_aliases of PATCH /v1/admin/auth_providers/${entry.id}. If the user left ${withheld.length === 1 ? 'it' : 'them'} out, disconnecting (DELETE /v1/connections/${connection.id}) lets the user be asked anew.`,
  )
}

/** Where the user goes to approve. */
export function connectUrl(broker: Broker, authorization: Pick<Authorization, 'id'>): string {
  return new URL(`/connect/${authorization.id}`, broker.settings.publicUrl).href
}

function shareKey({ projectId, userId, account }: AuthorizationNeed, steps: readonly Step[]): string {
  const asked = steps.map(({ providerUid, scopes, account: own }) => [
    providerUid,
    [...scopes].sort(),
    ...(own === undefined ? [] : [own]),
  ])
  return sha256(JSON.stringify([projectId, userId, asked, account ?? null]))
}

/**
 * An open redirect otherwise (RFC 9700 section 4.11): only origins that the operator allowed. Answers the address as it
 * was understood: a spelling that others may read in another way (backslashes, tabs, an empty user) is not kept.
 */
function allowedNextUri(broker: Broker, nextUri: string): string {
  const url = URL.canParse(nextUri) ? new URL(nextUri) : undefined
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    throw invalidMember(
      'next_uri',
      'invalid',
      'next_uri must be an absolute http or https URL without credentials.',
    )
  if (!broker.settings.nextOrigins.has(url.origin))
    throw invalidMember(
      'next_uri',
      'not_allowed',
      `next_uri may not lead to ${url.origin}. An operator can allow that origin in GATEPASS_NEXT_URIS.`,
    )
  return url.href
}
