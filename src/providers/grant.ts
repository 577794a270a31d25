import type { ProofKey } from '../domain/connection.ts'
import { splitScope, unionOfScopes } from '../domain/scopes.ts'
import { OutgoingError } from '../egress/outgoing.ts'
import { credentialsFor } from './client-authentication.ts'
import { type ProvenOutgoing, proofOfToken, sendProven } from './dpop-proofs.ts'
import { mergedExtra, withoutSecrets } from './extra-members.ts'
import { factsOf } from './known-facts.ts'
import type { Provider } from './provider.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { requestOf } from './provider-request.ts'
import type { ResourceRequestBlock } from './request-block.ts'
import { evaluateText } from './response-map.ts'
import type { TemplateValues } from './template.ts'
import { LONGEST_LIFE_SECONDS } from './token-lifetime.ts'
import { readUserInfo, TokenResponseFault } from './token-response.ts'

/** The grant of a token response, after repairs. */
export interface Grant {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  readonly tokenType: string
  /** Seconds; absent when the provider did not say. */
  readonly expiresIn?: number | undefined
  /** Seconds until the refresh token expires; absent when the provider did not say. */
  readonly refreshExpiresIn?: number | undefined
  /** Absent when the provider did not say: then what was asked for is granted (RFC 6749 section 5.1). */
  readonly scopes?: readonly string[] | undefined
  /** The user info; absent when it was not requested. */
  readonly userInfo?: Readonly<Record<string, unknown>> | undefined
  readonly account: { readonly id: string; readonly name: string }
  /** Further members of the token response, for tools; absent when there are none. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
  /** `sub` of the ID token, when one came. */
  readonly subject?: string | undefined
  /** The key that the tokens are bound to; absent for bearer tokens. */
  readonly dpopKey?: ProofKey | undefined
  /** What signs requests with the token (RFC 5849); absent for tokens of OAuth 2. */
  readonly tokenSecret?: string | undefined
  /** Values that the connection keeps, besides those that the entry names (`kept-values.ts`). */
  readonly kept?: Readonly<Record<string, string>> | undefined
}

/** A token response, after repairs. */
export interface TokenResponse {
  readonly tokens: {
    readonly access_token: string
    readonly refresh_token?: string
    readonly token_type: string
    readonly expires_in?: number
    readonly scope?: string
  }
  /** The claims of the ID token, when there was one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined
  readonly refreshExpiresIn?: number | undefined
  /** Further members of the token response, such as the workspace. */
  readonly extra: Readonly<Record<string, unknown>>
}

/** Short, since these requests follow a token request within the same claim or lease. */
const RESOURCE_DEADLINE_MS = 4_000
/** Claims of an ID token that say nothing of the account. */
const PROTOCOL_CLAIMS = [
  'iss',
  'aud',
  'exp',
  'iat',
  'nbf',
  'nonce',
  'at_hash',
  'c_hash',
  'auth_time',
  'azp',
  'sid',
  'jti',
]

/**
 * The grant of a token response, with what the response itself tells about the account. What repeats a token or the
 * client's secret is dropped: it would become the account's id or name, or a value that tools and pages get.
 */
export function readGrant(
  registered: Pick<RegisteredClient, 'provider' | 'client'>,
  { tokens, claims, refreshExpiresIn, extra }: TokenResponse,
): Grant {
  const { provider } = registered
  const secrets = secretsOf(registered, {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
  })
  const more = mergedExtra(withoutSecrets(extra, secrets))
  const userInfo = accountClaims(withoutSecrets(claims, secrets)) ?? more
  return {
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    tokenType: tokens.token_type,
    expiresIn: tokens.expires_in,
    refreshExpiresIn,
    scopes: tokens.scope === undefined ? undefined : grantedScopes(provider, tokens.scope),
    userInfo,
    account: accountOf(provider, userInfo),
    extra: more,
    subject: typeof claims?.sub === 'string' ? claims.sub : undefined,
  }
}

export type GrantEvent = 'onTokenGrant' | 'onTokenRefresh'

/** Whether the entry has user info or introspection requests after this event. */
export function asksAfter({ userInfoRequest, introspectionRequest }: Provider, event: GrantEvent): boolean {
  return [userInfoRequest, introspectionRequest].some((block) => block?.triggers[event] === true)
}

/** What answers with a grant must not repeat. */
export function secretsOf(
  { client: { clientSecret, privateKey } }: Pick<RegisteredClient, 'client'>,
  { accessToken, refreshToken }: Pick<Grant, 'accessToken' | 'refreshToken'>,
): string[] {
  return [accessToken, refreshToken, clientSecret, privateKey].flatMap((secret) => (secret ? [secret] : []))
}

/**
 * The grant, completed by the user info and introspection requests that the entry has after this event. Of the answers,
 * what repeats a token or the client's secret is dropped.
 */
export async function askAboutGrant(
  { outgoing, proofs }: ProvenOutgoing,
  registered: RegisteredClient,
  grant: Grant,
  values: TemplateValues,
  { event, now }: { readonly event: GrantEvent; readonly now: number },
): Promise<Grant> {
  const { provider } = registered
  const withToken = { ...values, access_token: grant.accessToken }
  const secrets = secretsOf(registered, grant)
  const ask = async (block: ResourceRequestBlock | undefined) => {
    if (!block?.triggers[event]) return undefined
    const { dpopKey } = grant
    const answer = await requestResource({ outgoing, proofs }, registered, block, withToken, { now, dpopKey })
    return withoutSecrets(answer, secrets)
  }
  const userInfo = await ask(provider.userInfoRequest)
  // introspection only fills what the token response omitted
  const isComplete = grant.expiresIn !== undefined && grant.scopes !== undefined
  const introspected = isComplete ? undefined : await ask(provider.introspectionRequest)
  const expiresIn =
    grant.expiresIn ??
    secondsLeft(introspected, now) ??
    (event === 'onTokenGrant' ? provider.defaultExpiresIn : undefined)
  const scope = introspected?.scope
  const scopes = grant.scopes ?? (typeof scope === 'string' ? grantedScopes(provider, scope) : undefined)
  return {
    ...grant,
    expiresIn,
    scopes,
    ...(userInfo !== undefined && { userInfo, account: accountOf(provider, userInfo) }),
  }
}

/** The single scopes, each also under the name that is used in requests to this provider. */
function grantedScopes(provider: Provider, scope: string): string[] {
  const { scopeAliases = {} } = factsOf(provider)
  const granted = splitScope(scope)
  const asked = Object.entries(scopeAliases).flatMap(([name, listedAs]) =>
    granted.includes(listedAs) ? [name] : [],
  )
  return unionOfScopes(granted, asked)
}

/** Requests a resource with the token. A failure gives `undefined`, since the grant is valid nevertheless. */
async function requestResource(
  { outgoing, proofs }: ProvenOutgoing,
  registered: RegisteredClient,
  block: ResourceRequestBlock,
  values: TemplateValues,
  { now, dpopKey }: { readonly now: number } & Pick<Grant, 'dpopKey'>,
): Promise<Record<string, unknown> | undefined> {
  try {
    const proof = proofOfToken(block, registered, values, dpopKey)
    const response = await sendProven(outgoing, proofs, proof, async () => ({
      ...requestOf(block, values, {
        client: await credentialsFor(block, registered, now),
        isBound: proof !== undefined,
      }),
      purpose: 'resource',
      deadlineMs: RESOURCE_DEADLINE_MS,
    }))
    if (response.status < 200 || response.status > 299) return undefined
    return readUserInfo(response.body, block)
  } catch (error) {
    if (error instanceof OutgoingError || error instanceof TokenResponseFault) return undefined
    if (error instanceof ProviderRefusal) return undefined // the client has no credentials for this request
    throw error
  }
}

/** The seconds left: `exp` is the time of expiry (RFC 7662 section 2.2); a response map may give a lifetime. */
function secondsLeft(introspected: Record<string, unknown> | undefined, now: number): number | undefined {
  const value = Number(introspected?.expires_in ?? introspected?.exp)
  const seconds = value > LONGEST_LIFE_SECONDS ? value - now : value
  return Number.isInteger(seconds) && seconds > 0 && seconds <= LONGEST_LIFE_SECONDS ? seconds : undefined
}

function accountClaims(
  claims: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  if (claims === undefined) return undefined
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !PROTOCOL_CLAIMS.includes(name)))
}

/** The account that the user info names. */
export function accountOf(
  { account, accountsWithin: within }: Provider,
  userInfo: unknown,
): Grant['account'] {
  const id = firstText(account.id, userInfo) ?? ''
  const name = firstText(account.name, userInfo) ?? ''
  return { id: within === undefined || id === '' ? id : `${within}:${id}`, name }
}

function firstText(expressions: readonly string[], document: unknown): string | undefined {
  for (const expression of expressions) {
    const text = evaluateText(expression, document)
    if (typeof text === 'number' || (typeof text === 'string' && text !== '')) return storable(String(text))
  }
  return undefined
}

/** At most 200 characters, without control characters and halves of surrogate pairs: PostgreSQL refuses such text. */
function storable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, 200)
    .toWellFormed()
}
