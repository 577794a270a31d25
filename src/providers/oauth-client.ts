import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
  refreshTokenGrant,
  tokenRevocation,
} from 'openid-client'
import type { AttemptSecrets } from '../domain/authorization.ts'
import { type Clock, systemClock } from '../domain/clock.ts'
import { type Outgoing, OutgoingError, type OutgoingRequest } from '../egress/outgoing.ts'
import { clientCredentials } from './client-authentication.ts'
import { createDiscovery, type Discover, type ServerMetadata } from './discovery.ts'
import { askAboutGrant, asksAfter, type Grant, type GrantedTokens, readGrant } from './grant.ts'
import type {
  Client,
  ClientAuthMethod,
  Provider,
  RegisteredClient,
  RequestBlock,
  TokenRequestBlock,
} from './provider.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { authorizationRequestOf, requestOf, templateValues } from './provider-request.ts'
import { wordsOf } from './provider-words.ts'
import { type Members, membersOf } from './response-body.ts'
import type { TemplateValues } from './template.ts'
import { repairTokenResponse } from './token-response.ts'

/**
 * The client side of OAuth 2.0 and OpenID Connect at one provider. openid-client does the protocol; this file, the
 * only one that imports it, gives it each provider's requests as the entry describes them and answers that have been
 * put right.
 */
export interface OAuthClient {
  /** What one authorization request keeps for its token request. */
  secretsFor(client: RegisteredClient, scopes: readonly string[]): Omit<AttemptSecrets, 'providerIdentity'>
  /** The authorization request (RFC 6749 section 4.1.1, with PKCE by RFC 7636). */
  authorizationUrl(client: RegisteredClient, request: AuthorizationRequest): Promise<URL>
  /** Redeems the code (RFC 6749 section 4.1.3). Throws `ProviderRefusal`. `guard`: as of `refresh`. */
  redeem(
    client: RegisteredClient,
    response: URLSearchParams,
    secrets: AttemptSecrets,
    guard?: RequestGuard,
  ): Promise<Grant>
  /**
   * RFC 6749 section 6. One request, so that a rotated refresh token can be stored at once. Throws `ProviderRefusal`.
   * `guard`: whether it may still be sent, and until when its answer is waited for.
   */
  refresh(
    client: RegisteredClient,
    refreshToken: string,
    accessToken: string,
    guard?: RequestGuard,
  ): Promise<Grant>
  /** What the entry asks for after a refresh, user info or introspection; `undefined` when it asks for nothing. */
  askAgain(client: RegisteredClient, grant: Grant): Promise<Grant | undefined>
  /** RFC 7009: the refresh token, if there is one, and the access token. */
  revoke(
    client: RegisteredClient,
    tokens: Pick<Grant, 'accessToken' | 'refreshToken'>,
    guard?: RequestGuard,
  ): Promise<Revocation>
  /** What an issuer says about itself, kept for a while. Throws `ProviderRefusal`. */
  readonly discover: Discover
  loginSecrets(): LoginSecrets
  /** The authentication request of a login (OpenID Connect Core section 3.1.2.1, with PKCE). */
  loginUrl(
    login: LoginClient,
    request: { readonly state: string; readonly secrets: LoginSecrets; readonly scopes: readonly string[] },
  ): Promise<URL>
  /**
   * Who logged in: redeems the code, checks the ID token (section 3.1.3.7: signature, issuer, audience, expiry, nonce)
   * and answers its claims, or those of the user info where the ID token lacks one of `needed`. Nothing of the tokens
   * is kept. Throws `ProviderRefusal`.
   */
  identify(
    login: LoginClient,
    response: URLSearchParams,
    secrets: LoginSecrets,
    needed: readonly string[],
  ): Promise<Members>
}

/** What a token request depends on besides its content: a claim that must still hold. */
export type RequestGuard = Pick<OutgoingRequest, 'isStillWanted' | 'signal'>

/** The broker as a relying party of an OpenID issuer: it asks who somebody is, and for nothing else. */
export interface LoginClient {
  readonly server: ServerMetadata
  readonly client: Client
  readonly redirectUri: string
}

/** What an authentication request keeps for its token request. */
export interface LoginSecrets {
  readonly codeVerifier: string
  readonly nonce: string
}

export type Revocation = 'revoked' | 'unsupported' | 'failed'

export interface AuthorizationRequest {
  readonly state: string
  readonly secrets: Omit<AttemptSecrets, 'providerIdentity'>
  readonly scopes: readonly string[]
  readonly existingScopes: readonly string[]
}

/** Without discovery the ID token's algorithm is not announced; `none` is never among them (RFC 8725 section 3.1). */
const ID_TOKEN_ALGORITHMS = [
  'RS256',
  'ES256',
  'PS256',
  'EdDSA',
  'Ed25519',
  'RS384',
  'RS512',
  'ES384',
  'ES512',
  'PS384',
  'PS512',
]

/** What the clocks of an issuer and of this machine may differ by. */
const CLOCK_SKEW_SECONDS = 60

export function createOAuthClient(
  outgoing: Outgoing,
  now: Clock,
  /** Told of answers that are usable and yet not as they should be, once for each version of an entry. */
  remark: (about: { readonly provider: string }, message: string) => void = () => {},
): OAuthClient {
  const remarked = new WeakSet<Provider>()

  async function grant(
    registered: RegisteredClient,
    block: TokenRequestBlock,
    values: TemplateValues,
    ask: (config: Configuration) => ReturnType<typeof refreshTokenGrant>,
    guard?: RequestGuard,
    { isIdTokenAsked = false } = {},
  ): Promise<GrantedTokens> {
    const seen: Seen = { isIdTokenAsked }
    const config = configure(registered, block)
    config[customFetch] = (_url, request) => tokenFetch(registered, block, values, request, seen, guard)
    try {
      const tokens = await ask(config)
      return { tokens, claims: seen.idTokenClaims ?? tokens.claims(), extra: seen.extra ?? {} }
    } catch (error) {
      const { clientSecret } = registered.client
      const secrets = [...(seen.secrets ?? []), clientSecret, values.refresh_token, values.access_token]
      throw refusalOf(registered.provider.displayName, said(error, secrets), {
        ...seen,
        cause: seen.fault ?? error,
      })
    }
  }

  /** The token request as the entry describes it, and its answer put right. */
  async function tokenFetch(
    { provider }: RegisteredClient,
    block: TokenRequestBlock,
    values: TemplateValues,
    request: CustomFetchOptions,
    seen: Seen,
    guard: RequestGuard | undefined,
  ): Promise<Response> {
    const purpose = values.refresh_token === undefined ? 'exchange' : 'refresh'
    seen.secrets = secretsIn(request.body)
    try {
      const response = await outgoing.send({ ...requestOf(block, values, request), purpose, ...guard })
      seen.retryAfter = retryAfterSeconds(response.headers['retry-after'], now())
      seen.status = response.status
      const repaired = repairTokenResponse(response.status, response.headers['content-type'], response.body, {
        responseContentType: block.responseContentType,
        ...(block.responseMap !== undefined && { responseMap: block.responseMap }),
        ...(block.expirationFormat !== undefined && { expirationFormat: block.expirationFormat }),
        tokenTypes: provider.tokenTypes,
        keepIdToken: provider.issuer !== undefined,
        ignoreIdToken: provider.ignoresIdToken === true && seen.isIdTokenAsked !== true,
        now: now(),
      })
      seen.idTokenClaims = repaired.idTokenClaims
      if (repaired.tokenTypeMissing && !remarked.has(provider)) {
        remarked.add(provider)
        remark({ provider: provider.displayName }, 'a token response has no token_type; read as bearer')
      }
      seen.extra = repaired.extra
      return Response.json(repaired.body, { status: repaired.status })
    } catch (error) {
      seen.fault = error
      throw error
    }
  }

  /** By metadata, so that an issuer's keys are kept as long as its metadata is. */
  const logins = new WeakMap<ServerMetadata, Configuration>()

  function configureLogin({ server, client }: LoginClient): Configuration {
    const known = logins.get(server)
    if (known !== undefined) return known
    const {
      token_endpoint_auth_methods_supported: methods,
      id_token_signing_alg_values_supported: algorithms,
      code_challenge_methods_supported: _,
      scopes_supported: __,
      ...rest
    } = server
    const config = new Configuration(
      {
        ...rest,
        token_endpoint_auth_methods_supported: [...(methods ?? [])],
        id_token_signing_alg_values_supported: (algorithms ?? ID_TOKEN_ALGORITHMS).filter((one) =>
          ID_TOKEN_ALGORITHMS.includes(one),
        ),
      },
      client.clientId,
      {},
      loginAuthentication(server, client),
    )
    allowInsecureRequests(config) // `Outgoing` decides
    enableNonRepudiationChecks(config)
    config[customFetch] = async (url, { method, headers, body }) => {
      const sent = typeof body === 'string' || body instanceof URLSearchParams ? { body: String(body) } : {}
      const answer = await outgoing.send({
        url,
        purpose: 'login',
        method: method === 'POST' ? 'POST' : 'GET',
        headers,
        ...sent,
      })
      const type = answer.headers['content-type']
      return new Response(answer.body.length === 0 ? null : Buffer.from(answer.body), {
        status: answer.status,
        headers: type === undefined ? {} : { 'content-type': type },
      })
    }
    logins.set(server, config)
    return config
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
      return buildAuthorizationUrl(configure(registered, provider.tokenRequest, endpoint.href), params)
    },

    async redeem(registered, response, secrets, guard) {
      const { provider, redirectUri } = registered
      const state = response.get('state') ?? ''
      // the redirect URI is the registered one, never taken from the URL of the request that came in
      const url = new URL(redirectUri)
      url.search = new URLSearchParams({
        code: response.get('code') ?? '',
        state,
        ...(provider.issuer !== undefined && response.has('iss') && { iss: response.get('iss') ?? '' }),
      }).toString()
      const values = templateValues(registered)
      const granted = await grant(
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
        { isIdTokenAsked: secrets.nonce !== undefined },
      )
      if (provider.issuer === undefined) checkNonce(provider, granted, secrets.nonce)
      return askAboutGrant(outgoing, registered, readGrant(provider, granted), values, {
        event: 'onTokenGrant',
        now: now(),
      })
    },

    async refresh(registered, refreshToken, accessToken, guard) {
      const block = registered.provider.refreshRequest
      if (block === undefined)
        throw new ProviderRefusal('invalid_grant', 'The provider entry has no refresh request.')
      const values = { ...templateValues(registered), refresh_token: refreshToken, access_token: accessToken }
      const granted = await grant(
        registered,
        block,
        values,
        (config) => refreshTokenGrant(config, refreshToken),
        guard,
      )
      const { userInfo: _, ...refreshed } = readGrant(registered.provider, granted)
      return refreshed // what a refresh tells by the way is no reason to forget what the first answer told
    },

    async askAgain(registered, grant) {
      if (!asksAfter(registered.provider, 'onTokenRefresh')) return undefined
      const values = templateValues(registered)
      return askAboutGrant(outgoing, registered, grant, values, { event: 'onTokenRefresh', now: now() })
    },

    async revoke(registered, { accessToken, refreshToken }, guard) {
      const block = registered.provider.revocationRequest
      if (block === undefined) return 'unsupported'
      const values = { ...templateValues(registered), access_token: accessToken, refresh_token: refreshToken }
      const config = configure(registered, block)
      let refused = false
      config[customFetch] = async (_url, request) => {
        const { status } = await outgoing.send({
          ...requestOf(block, values, request),
          purpose: 'revocation',
          ...guard,
        })
        refused = status < 200 || status > 299
        return new Response(null, { status: 200 })
      }
      try {
        if (refreshToken !== undefined)
          await tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' })
        // many servers end both with the first; for those that do not, its answer is the one that counts
        const outcome = refreshToken === undefined ? undefined : refused
        await tokenRevocation(config, accessToken, { token_type_hint: 'access_token' })
        return (outcome ?? refused) ? 'failed' : 'revoked'
      } catch {
        return 'failed'
      }
    },

    discover: createDiscovery(outgoing, now),

    loginSecrets: () => ({ codeVerifier: randomPKCECodeVerifier(), nonce: randomNonce() }),

    async loginUrl(login, { state, secrets, scopes }) {
      return buildAuthorizationUrl(configureLogin(login), {
        response_type: 'code',
        redirect_uri: login.redirectUri,
        scope: scopes.join(' '),
        state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: 'S256',
      })
    },

    async identify(login, response, secrets, needed) {
      const { server, redirectUri } = login
      const config = configureLogin(login)
      const url = new URL(redirectUri)
      url.search = response.toString()
      try {
        const tokens = await authorizationCodeGrant(config, url, {
          expectedState: response.get('state') ?? '',
          expectedNonce: secrets.nonce,
          pkceCodeVerifier: secrets.codeVerifier,
          idTokenExpected: true,
        })
        const claims = membersOf(tokens.claims()) ?? {}
        checkLoginClaims(login, claims)
        if (needed.every((name) => name in claims) || server.userinfo_endpoint === undefined) return claims
        return membersOf(await fetchUserInfo(config, tokens.access_token, String(claims.sub))) ?? {}
      } catch (error) {
        if (error instanceof ProviderRefusal) throw error
        const { codeVerifier, nonce } = secrets
        const sent = [response.get('code'), login.client.clientSecret, codeVerifier, nonce]
        throw refusalOf(server.issuer, said(error, sent), { ...seenIn(error), cause: error })
      }
    },
  }
}

/** Of those that openid-client leaves to its callers (OpenID Connect Core section 3.1.3.7, steps 5 and 10). */
function checkLoginClaims({ server, client }: LoginClient, { azp, iat }: Members): void {
  const now = systemClock() // as openid-client takes it for "exp"
  const wrong =
    azp !== undefined && azp !== client.clientId
      ? '"azp" names another client'
      : typeof iat === 'number' && iat > now + CLOCK_SKEW_SECONDS
        ? '"iat" is in the future'
        : undefined
  if (wrong !== undefined)
    throw new ProviderRefusal(
      'provider_bad_response',
      `${server.issuer} gave an answer that cannot be used (the claim ${wrong}).`,
    )
}

function configure(
  { provider, client }: RegisteredClient,
  block: RequestBlock,
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
    clientAuthentication(block.authMethod, client),
  )
  // which hosts may be reached, and which without TLS, is decided by `Outgoing` on the address that is dialled
  allowInsecureRequests(config)
  return config
}

/** The first of the usual ways that the issuer takes (OpenID Connect Discovery: Basic where it says nothing). */
function loginAuthentication(
  { token_endpoint_auth_methods_supported: methods }: ServerMetadata,
  client: Client,
): ClientAuth {
  const posts = methods?.includes('client_secret_basic') === false && methods.includes('client_secret_post')
  return clientAuthentication(posts ? 'client_secret_post' : 'client_secret_basic', client)
}

/** In place of openid-client's own ways, whose Basic percent-encodes characters that forms leave bare. */
function clientAuthentication(authMethod: ClientAuthMethod, client: Client): ClientAuth {
  const { authorization, params } = clientCredentials(authMethod, client)
  return (_server, _client, body, headers) => {
    if (authorization !== undefined) headers.set('authorization', authorization)
    for (const [name, value] of Object.entries(params)) body.set(name, value)
  }
}

/**
 * OpenID Connect Core section 3.1.3.7, for an ID token that is read for the account's name only: one made for another
 * request is refused. Some servers leave the nonce out.
 */
function checkNonce({ displayName }: Provider, { claims }: GrantedTokens, nonce: string | undefined): void {
  if (nonce === undefined || claims?.nonce === undefined || claims.nonce === nonce) return
  throw new ProviderRefusal(
    'provider_bad_response',
    `${displayName} answered with an ID token of another authorization request (its nonce differs).`,
  )
}

async function pkceParameters(
  { pkce }: Provider,
  { codeVerifier }: Pick<AttemptSecrets, 'codeVerifier'>,
): Promise<Record<string, string>> {
  if (pkce === 'none' || codeVerifier === undefined) return {}
  const challenge = pkce === 'plain' ? codeVerifier : await calculatePKCECodeChallenge(codeVerifier)
  return { code_challenge: challenge, code_challenge_method: pkce }
}

/** What the provider or openid-client said of it. */
function said(error: unknown, secrets: readonly (string | null | undefined)[]) {
  if (error instanceof ResponseBodyError)
    return { code: error.error, words: wordsOf(error.error_description, secrets) }
  if (!(error instanceof ClientError)) return {}
  const claim = claimIn(error)
  return { message: claim === undefined ? error.message : `${error.message}: the claim "${claim}"` }
}

/** Which claim of an ID token was wrong or missing: its name, and nothing of what it says. */
function claimIn(error: Error): string | undefined {
  let one: unknown = error
  for (let depth = 0; depth < 4 && typeof one === 'object' && one !== null; depth++) {
    const { claim, message, cause } = one as Record<'claim' | 'message' | 'cause', unknown> // whatever they are
    if (typeof claim === 'string' && /^[\w-]{1,40}$/.test(claim)) return claim
    const named = typeof message === 'string' ? /"([\w-]{1,40})" \(/.exec(message) : null
    if (named !== null) return named[1]
    one = cause
  }
  return undefined
}

/** What is in a token request by these names nobody is shown, whoever repeats it. */
const SENT_SECRETS = ['code', 'code_verifier', 'refresh_token', 'client_secret', 'client_assertion']

function secretsIn(body: unknown): string[] {
  const sent = new URLSearchParams(typeof body === 'string' || body instanceof URLSearchParams ? body : '')
  return SENT_SECRETS.flatMap((name) => sent.getAll(name))
}

/** What was seen underneath openid-client, as its error has it. */
function seenIn(error: unknown): Seen {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof OutgoingError) return { fault: cause }
  if (error instanceof ResponseBodyError) return { status: error.status }
  return cause instanceof Response ? { status: cause.status } : {}
}
