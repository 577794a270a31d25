import type { Broker } from '../broker.ts'
import type { Authorization, BroughtToken, Step } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newOwnedId, sha256 } from '../domain/ids.ts'
import { unionOfScopes } from '../domain/scopes.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { isUserless } from '../providers/provider-grant.ts'
import type { Release } from '../services/release.ts'
import { releasedProvider, usedProvider } from '../services/used-provider.ts'
import { isNextOrigin } from './ending-uri.ts'
import type { SubjectNeed } from './exchanged-token.ts'
import { getAccessToken } from './get-access-token.ts'
import { registeredClient } from './get-provider.ts'
import { type HeldUse, releaseTokens } from './release-tokens.ts'
import { type TokenOutcome, unavailableError } from './token-need.ts'

/** The most live authorizations of one user at one provider. Each is for other scopes or another account, so a user has few. */
const MAX_PENDING_PER_USER = 50

/** The user and the providers for which tokens are needed. */
export interface TokensNeed<Need extends ProviderNeed = ProviderNeed> {
  readonly projectId: string
  readonly userId: string
  readonly providers: readonly Need[]
  /** A connection's id, an account's id or name, or `new` for one more account. Absent: the user's default account. */
  readonly account?: string | undefined
  /** The tool or application that needs the tokens, for the connect page. */
  readonly requester?: string
  /** Where the user's browser goes after the consent. */
  readonly nextUri?: string | undefined
  /** The connect session that needs the tokens. Its authorizations are not shared with other callers. */
  readonly connectSessionId?: string
  /** The user's name on the pages, and their language; the caller sets both. */
  readonly userDisplay?: string | undefined
  readonly lang?: string | undefined
}

/** The scopes and account that are needed at one provider. */
export interface ProviderNeed {
  readonly entry: ProviderEntry
  /** The needed scopes. Empty: any grant will do. */
  readonly scopes: readonly string[]
  /** Further scopes to ask for if the user must be asked anyway. */
  readonly alsoAsk?: readonly string[]
  /** Replaces `TokensNeed.account` for this provider. */
  readonly account?: string | undefined
  /** Values for variables of the provider, so that the user need not type them. */
  readonly given?: Readonly<Record<string, string>> | undefined
  /** Asks the user for consent even if a connection covers the need. */
  readonly isAskedAnyway?: boolean
}

/** A token, and the need that it meets. */
export interface AcquiredToken<Need extends ProviderNeed = ProviderNeed> {
  readonly need: Need
  readonly release: Release
}

/** The outcome of `acquireTokens`. */
export type TokenAcquisition<Need extends ProviderNeed = ProviderNeed> =
  /** One token for each provider, in the order of the need. */
  | { readonly outcome: 'ready'; readonly tokens: readonly AcquiredToken<Need>[] }
  | { readonly outcome: 'authorization_required'; readonly authorization: Authorization }

/**
 * Returns the user's tokens when connections cover the need. Otherwise begins an authorization for the providers whose
 * consent is missing; the same user, providers and scopes share one live authorization. If the user has granted some
 * scopes before, the authorization asks for the union.
 *
 * Throws `scopes_not_granted` when the provider has withheld a scope in earlier consents, `provider_incomplete`,
 * `provider_unavailable`, `too_many_pending`, `denied_by_policy`, and `invalid_request` for a `nextUri` that is not
 * allowed.
 */
export async function acquireTokens<Need extends ProviderNeed>(
  broker: Broker,
  need: TokensNeed<Need>,
  held?: HeldUse,
): Promise<TokenAcquisition<Need>> {
  const allowed = withAllowedNextUri(broker, need)
  return releaseTokens(broker, () => findTokensOrBegin(broker, allowed), releasesIn, held)
}

/** Like `acquireTokens`, but the tokens are not recorded as released: they must not leave this process. */
export async function findTokens<Need extends ProviderNeed>(
  broker: Broker,
  need: TokensNeed<Need>,
): Promise<TokenAcquisition<Need>> {
  return findTokensOrBegin(broker, withAllowedNextUri(broker, need))
}

/** Like `acquireTokens`, but returns only the connections that cover the need, without releasing tokens. */
export async function acquireConnections(
  broker: Broker,
  need: TokensNeed,
): Promise<
  | { readonly outcome: 'connected'; readonly connections: readonly Connection[] }
  | Extract<TokenAcquisition, { outcome: 'authorization_required' }>
> {
  const found = await findTokens(broker, need)
  if (found.outcome === 'authorization_required') return found
  return { outcome: 'connected', connections: found.tokens.map(({ release }) => release.connection) }
}

function withAllowedNextUri<Need extends ProviderNeed>(
  broker: Broker,
  need: TokensNeed<Need>,
): TokensNeed<Need> {
  const { nextUri, projectId } = need
  return nextUri === undefined ? need : { ...need, nextUri: allowedNextUri(broker, projectId, nextUri) }
}

function releasesIn(found: TokenAcquisition): readonly Release[] {
  return found.outcome === 'ready' ? found.tokens.map(({ release }) => release) : []
}

/** Returns without a promise when only one token is needed and it is cached. */
function findTokensOrBegin<Need extends ProviderNeed>(
  broker: Broker,
  need: TokensNeed<Need>,
): TokenAcquisition<Need> | Promise<TokenAcquisition<Need>> {
  const [provider, ...others] = need.providers
  if (provider === undefined || others.length > 0) return findAllOrBegin(broker, need)
  const found = findToken(broker, need, provider)
  if (!(found instanceof Promise) && found.outcome === 'ready')
    return { outcome: 'ready', tokens: [{ need: provider, release: found }] }
  return findAllOrBegin(broker, need, found)
}

type Found = TokenOutcome | typeof NOTHING_YET

function findToken(
  broker: Broker,
  { projectId, userId, account: ofAll }: TokensNeed,
  { entry, scopes, account = ofAll, isAskedAnyway = false }: ProviderNeed,
): Found | Promise<Found> {
  if ((account === 'new' || isAskedAnyway) && !isUserless(entry.provider)) return NOTHING_YET
  const need = { projectId, userId, entry, scopes }
  return getAccessToken(broker, account === undefined ? need : { ...need, account })
}

/** `first`: the result for the first provider, if it was looked up already. */
async function findAllOrBegin<Need extends ProviderNeed>(
  broker: Broker,
  need: TokensNeed<Need>,
  first?: Found | Promise<Found>,
): Promise<TokenAcquisition<Need>> {
  const steps: Step[] = []
  const subjects: Pick<ProviderNeed, 'entry' | 'scopes'>[] = []
  const tokens: AcquiredToken<Need>[] = []
  for (const [at, provider] of need.providers.entries()) {
    const { entry, scopes, alsoAsk = [], account: own, given } = provider
    const known = await ((at === 0 ? first : undefined) ?? findToken(broker, need, provider))
    if (known.outcome === 'ready') {
      tokens.push({ need: provider, release: known })
      continue
    }
    if (known.outcome === 'provider_unavailable') throw unavailableError(known)
    registeredClient(broker, entry)
    if (known.subject !== undefined) {
      addSubjectStep(steps, known.subject, { providerUid: entry.uid, scopes }, need.account)
      registeredClient(broker, known.subject.entry)
      subjects.push({ entry: known.subject.entry, scopes: known.subject.entry.provider.defaultScopes })
      continue
    }
    if (known.connection !== undefined) checkWorthAsking(entry, known.connection, known.missingScopes)
    const wanted = scopes.length > 0 ? scopes : entry.provider.defaultScopes
    steps.push({
      providerUid: entry.uid,
      scopes:
        entry.provider.credentials === undefined
          ? unionOfScopes(wanted, alsoAsk, known.connection?.scopes ?? [])
          : [],
      account: own,
      given,
    })
  }
  if (steps.length === 0) return { outcome: 'ready', tokens }
  const { projectId, userId } = need
  const isFound = (provider: Need) => tokens.some((token) => token.need === provider)
  const asked = [...need.providers.filter((provider) => !isFound(provider)), ...subjects]
  const providers = [
    ...tokens.map(({ release }) => releasedProvider(release)),
    // a consent makes a connection of the user
    ...asked.map(({ entry, scopes }) => ({ ...usedProvider(entry, scopes), owner: 'user' as const })),
  ]
  await broker.gate.checkConsent({ projectId, userId, providers })

  await broker.sites.settled() // so that the link leads to the project's current site
  const now = broker.now()
  const id = newOwnedId('auth', projectId, userId)
  // a live authorization that fits is returned even when the project has too many pending
  const most = (await broker.pending.isFull(need.projectId)) ? 0 : MAX_PENDING_PER_USER
  const authorization = await broker.store.authorizations.begin(
    {
      id,
      projectId: need.projectId,
      userId: need.userId,
      status: 'pending',
      steps,
      step: 0,
      requester: need.requester,
      account: need.account,
      nextUri: need.nextUri,
      connectSessionId: need.connectSessionId,
      userDisplay: need.userDisplay,
      lang: need.lang,
      createdAt: now,
      expiresAt: now + broker.settings.authorizationTtlSeconds,
    },
    shareKey(need, steps),
    now,
    most,
  )
  if (authorization.id === id) broker.pending.added(need.projectId)
  return { outcome: 'authorization_required', authorization }
}

/** Adds the step at the provider whose token is exchanged, or what it brings to the step that is there already. */
function addSubjectStep(
  steps: Step[],
  { entry, account, connection }: SubjectNeed,
  token: BroughtToken,
  ofAll: string | undefined,
): void {
  const own = account === ofAll ? undefined : account
  const at = steps.findIndex((step) => step.providerUid === entry.uid && step.account === own)
  const step = steps[at] ?? {
    providerUid: entry.uid,
    scopes: unionOfScopes(entry.provider.defaultScopes, connection?.scopes ?? []),
    account: own,
    brings: [],
  }
  const brings = [...(step.brings ?? [{ providerUid: entry.uid, scopes: [] }]), token]
  steps.splice(at < 0 ? steps.length : at, 1, { ...step, brings })
}

const NOTHING_YET = {
  outcome: 'authorization_required',
  connection: undefined,
  missingScopes: [],
  subject: undefined,
} as const

/** After this many consents without a scope, one more consent is not expected to bring it. */
const MOST_CONSENTS_WITHOUT_SCOPE = 2

/**
 * Throws `scopes_not_granted` for scopes that earlier consents did not bring. A server may never list a requested scope,
 * because another scope includes it, and its users would be asked without end. After a change of the entry, or for a new
 * connection, the user is asked again.
 */
function checkWorthAsking(entry: ProviderEntry, connection: Connection, missing: readonly string[]): void {
  const { status, withheldScopes: counts, consentedAt } = connection
  if (status !== 'active' || entry.updatedAt > consentedAt) return
  const withheld = missing.filter(
    (scope) => Object.hasOwn(counts, scope) && (counts[scope] ?? 0) >= MOST_CONSENTS_WITHOUT_SCOPE,
  )
  if (withheld.length === 0) return
  const scopes = withheld.map((scope) => `"${scope}"`).join(', ')
  throw new BrokerError(
    'scopes_not_granted',
    `${entry.provider.displayName} did not grant ${scopes} in ${MOST_CONSENTS_WITHOUT_SCOPE} consents, so the user is not asked again. If another scope includes ${withheld.length === 1 ? 'it' : 'them'} or the server lists ${withheld.length === 1 ? 'it' : 'them'} by another name, an administrator can say so in oauth2.scope_implies or oauth2.scope_aliases of PATCH /v1/admin/auth_providers/${entry.id}. If the user left ${withheld.length === 1 ? 'it' : 'them'} out, disconnecting (DELETE /v1/connections/${connection.id}) lets the user be asked again.`,
  )
}

/** The connect page, where the user approves. */
export function connectUrl(
  broker: Pick<Broker, 'usersUrl'>,
  { id, projectId }: Pick<Authorization, 'id' | 'projectId'>,
): string {
  return new URL(`/connect/${id}`, broker.usersUrl(projectId)).href
}

/** Equal for needs that may share one live authorization. */
function shareKey(
  { projectId, userId, account, connectSessionId }: TokensNeed,
  steps: readonly Step[],
): string {
  const asked = steps.map(({ providerUid, scopes, account: own, given, brings }) => [
    providerUid,
    [...scopes].sort(),
    ...(own === undefined ? [] : [own]),
    ...(given === undefined ? [] : [Object.entries(given).sort()]),
    ...(brings === undefined ? [] : [{ brings }]),
  ])
  const whose = [projectId, userId, asked, account ?? null]
  return sha256(JSON.stringify(connectSessionId === undefined ? whose : [...whose, connectSessionId]))
}

/**
 * Accepts only origins that the operator allowed; any other would be an open redirect (RFC 9700 section 4.11). Returns the
 * parsed address, because another parser may read the given spelling (backslashes, tabs, an empty user) differently.
 * Throws `invalid_request` for `member`.
 */
export function allowedNextUri(
  broker: Broker,
  projectId: string,
  nextUri: string,
  member = 'next_uri',
): string {
  const url = URL.canParse(nextUri) ? new URL(nextUri) : undefined
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  )
    throw invalidMember(
      member,
      'invalid',
      `${member} must be an absolute http or https URL without credentials.`,
    )
  if (!isNextOrigin(broker, projectId, url.origin))
    throw invalidMember(
      member,
      'not_allowed',
      `${member} may not lead to ${url.origin}. An operator can allow that origin in GATEPASS_NEXT_URIS.`,
    )
  return url.href
}
