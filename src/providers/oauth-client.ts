import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  randomNonce,
  randomPKCECodeVerifier,
  refreshTokenGrant,
} from 'openid-client'
import type { AttemptSecrets } from '../domain/authorization.ts'
import type { Clock } from '../domain/clock.ts'
import type { Outgoing, OutgoingRequest } from '../egress/outgoing.ts'
import { type ClientCredentials, credentialsFor } from './client-authentication.ts'
import { askAboutGrant, asksAfter, type Grant, readGrant, type TokenResponse } from './grant.ts'
import { clientAuthentication, explanationOf, ID_TOKEN_ALGORITHMS } from './openid.ts'
import type { Provider } from './provider.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { authorizationRequestOf, requestOf, templateValues, withServerNames } from './provider-request.ts'
import type { RequestBlock, TokenRequestBlock } from './request-block.ts'
import { type Revocation, revokeTokens } from './revocation.ts'
import type { TemplateValues } from './template.ts'
import { exchangeToken, responseRules, withExchanged } from './token-exchange.ts'
import { repairTokenResponse } from './token-response.ts'

/**
 * The client side of OAuth 2.0 at the providers. openid-client does the protocol; this file gives it each provider's
 * requests in the form that the entry describes, and responses whose faults have been repaired.
 */
export interface OAuthClient {
  /** New secrets, which one authorization request keeps for its token request. */
  secretsFor(client: RegisteredClient, scopes: readonly string[]): Omit<AttemptSecrets, 'providerIdentity'>
  /** The authorization request (RFC 6749 section 4.1.1, with PKCE by RFC 7636). */
  authorizationUrl(client: RegisteredClient, request: AuthorizationRequest): Promise<URL>
  /** Redeems the code (RFC 6749 section 4.1.3). Throws `ProviderRefusal`. `guard`: as for `refresh`. */
  redeem(
    client: RegisteredClient,
    response: URLSearchParams,
    secrets: AttemptSecrets,
    guard?: RequestGuard,
  ): Promise<Grant>
  /**
   * Sends the refresh request (RFC 6749 section 6) or the renewal request, and no other, so that a rotated refresh
   * token can be stored at once. `guard`: whether it may be sent, and when it is aborted. Throws `ProviderRefusal`.
   */
  refresh(client: RegisteredClient, known: KnownTokens, guard?: RequestGuard): Promise<Grant>
  /** Sends the entry's requests that follow a refresh (user info, introspection); `undefined` when it has none. */
  askAgain(client: RegisteredClient, grant: Grant): Promise<Grant | undefined>
  /** Revokes the refresh token, if there is one, and the access token (RFC 7009). */
  revoke(
    client: RegisteredClient,
    tokens: Pick<Grant, 'accessToken' | 'refreshToken'>,
    guard?: RequestGuard,
  ): Promise<Revocation>
}

/** The claim on a connection or authorization that must still hold while a token request is sent. */
export type RequestGuard = Pick<OutgoingRequest, 'isStillWanted' | 'signal'>

/** What the refresh request of an entry may name. */
export interface KnownTokens {
  /** Absent: the access token itself is renewed. */
  readonly refreshToken?: string | undefined
  readonly accessToken: string
  /** The connection's kept values, by name. */
  readonly kept?: Readonly<Record<string, string>>
}

export interface AuthorizationRequest {
  readonly state: string
  readonly secrets: Omit<AttemptSecrets, 'providerIdentity'>
  readonly scopes: readonly string[]
  readonly existingScopes: readonly string[]
}

export function createOAuthClient(
  outgoing: Outgoing,
  now: Clock,
  /** Called for responses that are usable but faulty, once for each version of an entry. */
  warn: (about: { readonly provider: string }, message: string) => void = () => {},
): OAuthClient {
  const warned = new WeakSet<Provider>()

  async function grant(
    registered: RegisteredClient,
    block: TokenRequestBlock,
    values: TemplateValues,
    ask: (config: Configuration) => ReturnType<typeof refreshTokenGrant>,
    guard?: RequestGuard,
    nonce?: string,
  ): Promise<Grant> {
    const { provider } = registered
    const seen: Seen = { isIdTokenAsked: nonce !== undefined }
    const client = await credentialsFor(block, registered, now())
    const config = configure(registered, block, client)
    config[customFetch] = (_url, request) =>
      tokenFetch(registered, block, { values, client }, request, seen, guard)
    let tokens: Awaited<ReturnType<typeof ask>>
    try {
      tokens = await ask(config)
    } catch (error) {
      const { clientSecret } = registered.client
      const secrets = [...(seen.secrets ?? []), clientSecret, values.refresh_token, values.access_token]
      throw refusalOf(provider.displayName, explanationOf(error, secrets), {
        ...seen,
        cause: seen.fault ?? error,
      })
    }
    const { refreshExpiresIn, extra = {}, idTokenClaims: claims = tokens.claims() } = seen
    if (provider.issuer === undefined) checkNonce(provider, claims, nonce)
    return readGrant(provider, { tokens, claims, refreshExpiresIn, extra })
  }

  /** Sends the token request in the form that the entry describes, and repairs the response. */
  async function tokenFetch(
    { provider }: RegisteredClient,
    block: TokenRequestBlock,
    { values, client }: { readonly values: TemplateValues; readonly client: ClientCredentials },
    request: CustomFetchOptions,
    seen: Seen,
    guard: RequestGuard | undefined,
  ): Promise<Response> {
    const purpose = values.refresh_token === undefined ? 'exchange' : 'refresh'
    seen.secrets = secretsIn(request.body)
    try {
      const response = await outgoing.send({
        ...requestOf(block, values, { protocol: request, client }),
        purpose,
        ...guard,
      })
      seen.retryAfter = retryAfterSeconds(response.headers['retry-after'], now())
      seen.status = response.status
      const repaired = repairTokenResponse(response.status, response.headers['content-type'], response.body, {
        ...responseRules(provider, block, now()),
        ignoreIdToken: provider.ignoresIdToken === true && seen.isIdTokenAsked !== true,
      })
      seen.idTokenClaims = repaired.idTokenClaims
      if (repaired.tokenTypeMissing && !warned.has(provider)) {
        warned.add(provider)
        warn({ provider: provider.displayName }, 'a token response has no token_type; read as bearer')
      }
      seen.extra = repaired.extra
      seen.refreshExpiresIn = repaired.refreshExpiresIn
      return Response.json(repaired.body, { status: repaired.status })
    } catch (error) {
      seen.fault = error
      throw error
    }
  }

  /** The grant with the token that the entry exchanges the first one for. */
  async function exchanged(registered: RegisteredClient, first: Grant, guard?: RequestGuard): Promise<Grant> {
    const { provider } = registered
    const block = provider.exchangeRequest
    if (block === undefined) return first
    const values = { ...templateValues(registered), access_token: first.accessToken }
    const signal = guard?.signal && { signal: guard.signal }
    const exchange = { registered, block, values, purpose: 'exchange', guard: signal } as const
    return withExchanged(first, await exchangeToken(outgoing, exchange, now()))
  }

  return {
    secretsFor({ provider }, scopes) {
      return {
        ...(provider.pkce !== 'none' && { codeVerifier: randomPKCECodeVerifier() }),
        ...(scopes.includes('openid') && { nonce: randomNonce() }),
      }
    },

    async authorizationUrl(registered, { state, secrets, scopes, existingScopes }) {
      const { provider } = registered
      const { endpoint, params } = authorizationRequestOf(registered, scopes, existingScopes, {
        state,
        ...(secrets.nonce !== undefined && { nonce: secrets.nonce }),
        ...(await pkceParameters(provider, secrets)),
      })
      const config = configure(registered, provider.tokenRequest, { params: {} }, endpoint.href)
      return withServerNames(buildAuthorizationUrl(config, params), provider)
    },

    async redeem(registered, response, secrets, guard) {
      const { provider, redirectUri } = registered
      const state = response.get('state') ?? ''
      // the registered redirect URI, never one that is derived from the incoming request
      const url = new URL(redirectUri)
      url.search = new URLSearchParams({
        code: response.get('code') ?? '',
        state,
        ...(provider.issuer !== undefined && response.has('iss') && { iss: response.get('iss') ?? '' }),
      }).toString()
      const values = templateValues(registered)
      const first = await grant(
        registered,
        provider.tokenRequest,
        values,
        (config) =>
          authorizationCodeGrant(config, url, {
            expectedState: state,
            ...(secrets.codeVerifier !== undefined && { pkceCodeVerifier: secrets.codeVerifier }),
            // without an issuer openid-client does not see the ID token, whose other claims cannot be checked
            ...(secrets.nonce !== undefined &&
              provider.issuer !== undefined && { expectedNonce: secrets.nonce }),
          }),
        guard,
        secrets.nonce,
      )
      const whole = await exchanged(registered, first, guard)
      return askAboutGrant(outgoing, registered, whole, values, { event: 'onTokenGrant', now: now() })
    },

    async refresh(registered, { refreshToken, accessToken, kept }, guard) {
      const { refreshRequest: block, renewalRequest } = registered.provider
      const tokens = { refresh_token: refreshToken, access_token: accessToken }
      const values = { ...templateValues(registered), ...tokens, kept }
      if (renewalRequest !== undefined) {
        const renewal = { registered, block: renewalRequest, values, purpose: 'refresh', guard } as const
        return withoutUserInfo(await exchangeToken(outgoing, renewal, now()))
      }
      if (block === undefined || refreshToken === undefined)
        throw new ProviderRefusal('invalid_grant', 'The provider entry has no refresh request.')
      const ask = (config: Configuration) => refreshTokenGrant(config, refreshToken)
      return withoutUserInfo(await grant(registered, block, values, ask, guard))
    },

    async askAgain(registered, grant) {
      if (!asksAfter(registered.provider, 'onTokenRefresh')) return undefined
      const values = templateValues(registered)
      return askAboutGrant(outgoing, registered, grant, values, { event: 'onTokenRefresh', now: now() })
    },

    revoke: (registered, tokens, guard) => revokeTokens(outgoing, registered, tokens, now(), guard),
  }
}

/** User info in a refresh response must not replace what the first response told. */
function withoutUserInfo(grant: Grant): Grant {
  return { ...grant, userInfo: undefined }
}

function configure(
  { provider, client }: RegisteredClient,
  block: RequestBlock,
  credentials: ClientCredentials,
  authorizationEndpoint?: string,
) {
  const config = new Configuration(
    {
      issuer: provider.issuer ?? new URL(provider.authorizationRequest.endpoint).origin,
      authorization_endpoint: authorizationEndpoint ?? provider.authorizationRequest.endpoint,
      token_endpoint: block.endpoint,
      revocation_endpoint: block.endpoint,
      id_token_signing_alg_values_supported: ID_TOKEN_ALGORITHMS,
    },
    client.clientId,
    {},
    clientAuthentication(credentials),
  )
  // the guarded client decides which hosts may be reached, and which of them by plain http
  allowInsecureRequests(config)
  return config
}

/**
 * Refuses an ID token of another request (OpenID Connect Core section 3.1.3.7), at a server without a known issuer. A
 * token without a nonce is accepted: some servers leave it out, and the token is read for the account's name only.
 */
function checkNonce(
  { displayName }: Provider,
  claims: TokenResponse['claims'],
  nonce: string | undefined,
): void {
  if (nonce === undefined || claims?.nonce === undefined || claims.nonce === nonce) return
  throw new ProviderRefusal(
    'provider_bad_response',
    `${displayName} answered with an ID token of another authorization request (its nonce differs).`,
  )
}

async function pkceParameters(
  { pkce, hexCodeChallenge }: Provider,
  { codeVerifier }: Pick<AttemptSecrets, 'codeVerifier'>,
): Promise<Record<string, string>> {
  if (pkce === 'none' || codeVerifier === undefined) return {}
  const s256 = async () => {
    const digest = await calculatePKCECodeChallenge(codeVerifier)
    return hexCodeChallenge === true ? Buffer.from(digest, 'base64url').toString('hex') : digest
  }
  const challenge = pkce === 'plain' ? codeVerifier : await s256()
  return { code_challenge: challenge, code_challenge_method: pkce }
}

/** Parameters of a token request that are kept out of every message, even if the provider repeats them. */
const SENT_SECRETS = ['code', 'code_verifier', 'refresh_token', 'client_secret', 'client_assertion']

function secretsIn(body: unknown): string[] {
  const sent = new URLSearchParams(typeof body === 'string' || body instanceof URLSearchParams ? body : '')
  return SENT_SECRETS.flatMap((name) => sent.getAll(name))
}
