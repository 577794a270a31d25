import type { Outgoing, OutgoingRequest } from '../egress/outgoing.ts'
import { OutgoingError } from '../egress/outgoing.ts'
import { type SecretValues, writeSecrets } from './credentials.ts'
import { membersForTools, mergedExtra, withoutSecrets } from './extra-members.ts'
import { accountOf, type Grant, readGrant, type TokenResponse } from './grant.ts'
import { pathWithCredential, placeCredential, secretTexts } from './place-credential.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { requestOf } from './provider-request.ts'
import { readJsonItems, readJsonMembers } from './response-body.ts'
import { responseRules } from './token-exchange.ts'
import { isRefusal, repairTokenResponse, TokenResponseFault } from './token-response.ts'

// Whether a service takes what a user typed: its login, where it has one, and its test request.

/** What a user typed: the values of the secret fields, and of the others. */
export interface TypedCredentials {
  readonly secrets: SecretValues
  readonly open: Readonly<Record<string, string>>
}

export type CheckedCredentials =
  | { readonly outcome: 'accepted'; readonly grant: Grant }
  | { readonly outcome: 'refused' }
  /** The service gave no answer that says yes or no. Without a grant there is nothing that could be stored. */
  | { readonly outcome: 'unclear'; readonly grant?: Grant }

/** Statuses by which a service refuses a credential. A login also has those that say that its input is wrong. */
const REFUSED = [401, 403]
const LOGIN_REFUSED = [...REFUSED, 400, 422]
const DEADLINE_MS = 8_000

type Guard = Pick<OutgoingRequest, 'isStillWanted' | 'signal'>

/** Asks the service of the entry, whose endpoints have the user's values. */
export async function checkCredentials(
  outgoing: Outgoing,
  registered: RegisteredClient,
  typed: TypedCredentials,
  now: number,
): Promise<CheckedCredentials> {
  const { provider } = registered
  let grant: Grant
  try {
    grant =
      provider.tokenRequest === undefined
        ? typedGrant(registered, typed)
        : await logIn(outgoing, registered, typed, now)
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    return { outcome: error.reason === 'invalid_grant' ? 'refused' : 'unclear' }
  }
  if (provider.testRequest === undefined)
    return { outcome: provider.tokenRequest === undefined ? 'unclear' : 'accepted', grant }
  return test(outgoing, registered, typed, grant)
}

/**
 * Sends the login of the entry with the typed values, and reads the token. Throws `ProviderRefusal`: `invalid_grant` if
 * the service refuses them.
 */
export async function logIn(
  outgoing: Outgoing,
  registered: RegisteredClient,
  { secrets, open }: TypedCredentials,
  now: number,
  guard: Guard = {},
): Promise<Grant> {
  const { provider } = registered
  const { displayName, tokenRequest: block } = provider
  if (block === undefined) throw new Error('the entry has no login')
  const request = requestOf(block, { kept: { ...open, ...secrets } })
  try {
    const { status, headers, body } = await outgoing.send({
      ...request,
      purpose: 'exchange',
      deadlineMs: DEADLINE_MS,
      ...guard,
    })
    if (LOGIN_REFUSED.includes(status)) throw refusedBy(displayName)
    if (status === 429 || status >= 500)
      throw new ProviderRefusal(
        'provider_unavailable',
        `${displayName} cannot answer right now (HTTP ${status}). Try again shortly.`,
        { trouble: status === 429 ? 'limit' : 'outage' },
      )
    const rules = { ...responseRules(provider, block, now), ignoreIdToken: true }
    const read = repairTokenResponse(status, headers['content-type'], body, rules)
    if (read.status !== 200) throw refusedBy(displayName)
    const tokens = read.body as unknown as TokenResponse['tokens'] // as `repairTokenResponse` makes a success
    const extra = withoutSecrets(read.extra, Object.values(secrets))
    const given = readGrant(registered, { tokens, claims: undefined, extra })
    return { ...given, tokenType: 'api_key', scopes: [], refreshToken: writeSecrets(secrets) }
  } catch (error) {
    if (error instanceof OutgoingError)
      throw new ProviderRefusal('provider_unavailable', `${displayName} could not be reached.`, {
        cause: error,
        trouble: 'outage',
      })
    if (error instanceof TokenResponseFault)
      throw new ProviderRefusal(
        'provider_bad_response',
        `${displayName} gave an answer to the login that cannot be used (${error.message}).`,
      )
    throw error
  }
}

function refusedBy(name: string): ProviderRefusal {
  return new ProviderRefusal('invalid_grant', `${name} does not accept the login any more.`)
}

/** What is stored of typed values that are sent as they are. */
function typedGrant({ provider }: RegisteredClient, { secrets }: TypedCredentials): Grant {
  const { credentials } = provider
  return {
    accessToken: writeSecrets(secrets),
    tokenType: credentials !== undefined && 'basic' in credentials.place ? 'basic' : 'api_key',
    scopes: [],
    account: { id: '', name: '' },
  }
}

async function test(
  outgoing: Outgoing,
  { provider }: RegisteredClient,
  { secrets, open }: TypedCredentials,
  grant: Grant,
): Promise<CheckedCredentials> {
  const { testRequest: block } = provider
  if (block === undefined) throw new Error('the entry has no test request')
  const request = requestOf(block, { kept: open })
  const placed = placeCredential(provider, { accessToken: grant.accessToken, kept: open })
  const { pathname, search } = new URL(request.url)
  const headers = { ...request.headers, ...placed.headers }
  try {
    const answer = await outgoing.send({
      ...request,
      path: pathWithCredential(pathname + search, placed),
      headers,
      purpose: 'resource',
      deadlineMs: DEADLINE_MS,
    })
    if (REFUSED.includes(answer.status)) return { outcome: 'refused' }
    if (answer.status < 200 || answer.status > 299) return { outcome: 'unclear', grant }
    if (isRefusal(answer.headers['content-type'], answer.body, block)) return { outcome: 'refused' }
    const info = readJsonMembers(answer.body) ?? readJsonItems(answer.body)
    if (info === undefined) return { outcome: 'accepted', grant }
    // an answer may repeat the key, also as the account's id; tools and pages must not get it
    const sent = secretTexts(provider, { accessToken: grant.accessToken, kept: open })
    const shown = withoutSecrets(info, [...Object.values(secrets), ...sent])
    const userInfo = mergedExtra(membersForTools(shown, [], 0))
    return { outcome: 'accepted', grant: { ...grant, userInfo, account: accountOf(provider, shown) } }
  } catch (error) {
    if (error instanceof OutgoingError) return { outcome: 'unclear', grant }
    throw error
  }
}
