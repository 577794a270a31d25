import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetchOptions,
  calculatePKCECodeChallenge,
  customFetch,
  genericGrantRequest,
  randomNonce,
  randomPKCECodeVerifier,
  refreshTokenGrant,
} from 'openid-client'
import type { AttemptSecrets } from '../domain/authorization.ts'
import type { Clock } from '../domain/clock.ts'
import type { ProofKey } from '../domain/connection.ts'
import { missingScopes } from '../domain/scopes.ts'
import type { Outgoing, OutgoingRequest } from '../egress/outgoing.ts'
import {
  type CheckedCredentials,
  checkCredentials,
  logIn,
  type TypedCredentials,
} from './check-credentials.ts'
import { type ClientCredentials, credentialsFor, withKey } from './client-authentication.ts'
import { signedRequestObject } from './client-key.ts'
import { readSecrets } from './credentials.ts'
import { authorizeDevice, type DeviceCode } from './device-authorization.ts'
import { fitsDpop, newProofKey, thumbprintOf } from './dpop.ts'
import { createDpopProofs, type DpopProofs, type ProvenOutgoing, sendProven } from './dpop-proofs.ts'
import { askAboutGrant, asksAfter, type Grant, readGrant, type TokenResponse } from './grant.ts'
import { type AssertedNeed, claimTemplates, grantAssertion } from './grant-assertion.ts'
import {
  type Installation,
  type InstallationNeed,
  listInstallations,
  requestInstallationToken,
} from './installations.ts'
import { factsOf } from './known-facts.ts'
import { beginOAuth1, redeemOAuth1 } from './oauth1/client.ts'
import { configure, explanationOf, secretsIn } from './openid.ts'
import type { GrantType, Provider } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { isInstalled } from './provider-grant.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { authorizationRequestOf, requestOf, templateValues, withServerNames } from './provider-request.ts'
import { pushAuthorization } from './pushed-authorization.ts'
import type { TokenRequestBlock } from './request-block.ts'
import { type Revocation, revokeTokens } from './revocation.ts'
import { exchangeParams, issuedTokenType, refusalOfSubject } from './subject-exchange.ts'
import { placesScopes, type TemplateValues } from './template.ts'
import { exchangeToken, responseRules, withExchanged } from './token-exchange.ts'
import { repairTokenResponse } from './token-response.ts'
import { fixedValues } from './variables.ts'

/**
 * The client side of OAuth 2.0 at the providers. openid-client does the protocol; this file gives it each provider's
 * requests in the form that the entry describes, and responses whose faults have been repaired.
 */
export interface OAuthClient {
  /** Proofs for requests with tokens that are bound to a key, at the API too. */
  readonly proofs: DpopProofs
  /** New secrets, which one authorization request keeps for its token request. */
  secretsFor(client: RegisteredClient, scopes: readonly string[]): Omit<AttemptSecrets, 'providerIdentity'>
  /**
   * The authorization request (RFC 6749 section 4.1.1, with PKCE by RFC 7636). If the entry says so, its parameters are
   * pushed first (RFC 9126); throws `ProviderRefusal` then.
   */
  authorizationUrl(client: RegisteredClient, request: AuthorizationRequest): Promise<URL>
  /**
   * What a click begins: the URL for the browser, and the secrets that the token request needs. With OAuth 1.0a, temporary
   * credentials are obtained first (RFC 5849 section 2.1). Throws `ProviderRefusal`.
   */
  begin(
    client: RegisteredClient,
    request: Omit<AuthorizationRequest, 'secrets'>,
  ): Promise<{ readonly url: URL; readonly secrets: AuthorizationRequest['secrets'] }>
  /** Asks for the code that the user enters at the provider (RFC 8628 section 3.1). Throws `ProviderRefusal`. */
  authorizeDevice(
    client: RegisteredClient,
    scopes: readonly string[],
  ): Promise<DeviceCode & Pick<AttemptSecrets, 'dpopKey'>>
  /**
   * Asks once for the tokens of a device code (RFC 8628 section 3.4). Throws `ProviderRefusal`, also while the user has not
   * approved (`pollAnswerOf`). `guard`: as for `refresh`.
   */
  redeemDevice(
    client: RegisteredClient,
    asked: Pick<DeviceCode, 'deviceCode'> & Pick<AttemptSecrets, 'dpopKey'>,
    guard?: RequestGuard,
  ): Promise<Grant>
  /** Redeems the code (RFC 6749 section 4.1.3) or the verifier (RFC 5849 section 2.3). Throws `ProviderRefusal`. `guard`: as for `refresh`. */
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
  /**
   * Asks for a token by the entry's grant without a user's part (RFC 6749 section 4.4, RFC 7523 section 2.1, RFC 8693). A
   * refresh token that comes along is dropped. Throws `ProviderRefusal`, also for a token with fewer scopes. `guard`: as for
   * `refresh`.
   */
  requestToken(client: RegisteredClient, need: NeededToken, guard?: RequestGuard): Promise<Grant>
  /** The installations of the client that the user of the token may use. Throws `ProviderRefusal`. */
  installations(client: RegisteredClient, accessToken: string): Promise<readonly Installation[]>
  /** Asks for a token of an installation (`requestInstallationToken`). `guard`: as for `refresh`. */
  requestInstallationToken(
    client: RegisteredClient,
    need: InstallationNeed,
    guard?: RequestGuard,
  ): Promise<Grant>
  /** Sends the entry's requests that follow a refresh (user info, introspection); `undefined` when it has none. */
  askAgain(client: RegisteredClient, grant: Grant): Promise<Grant | undefined>
  /** Asks the service of an entry without OAuth whether it takes what a user typed. */
  checkCredentials(client: RegisteredClient, typed: TypedCredentials): Promise<CheckedCredentials>
  /** Revokes the refresh token, if there is one, and the access token (RFC 7009). */
  revoke(
    client: RegisteredClient,
    tokens: Pick<Grant, 'accessToken' | 'refreshToken' | 'dpopKey'>,
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
  /** The key that they are bound to. */
  readonly dpopKey?: ProofKey | undefined
}

/** `subjectToken`: what is exchanged, with the grant `token_exchange`. */
export type NeededToken = AssertedNeed & { readonly subjectToken?: string | undefined }

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
  const proofs = createDpopProofs(now)
  const proven: ProvenOutgoing = { outgoing, proofs }

  async function grant(
    registered: RegisteredClient,
    block: TokenRequestBlock,
    values: TemplateValues,
    ask: (config: Configuration) => ReturnType<typeof refreshTokenGrant>,
    { guard, nonce, dpopKey }: GrantOptions,
  ): Promise<Grant> {
    const { provider } = registered
    if (!fitsDpop(provider, { dpopKey })) throw new ProviderRefusal('provider_changed', DPOP_CHANGED)
    const seen: Seen = { isIdTokenAsked: nonce !== undefined }
    const client = await credentialsFor(block, registered, now())
    const config = configure(registered, block, client)
    config[customFetch] = (_url, request) =>
      tokenFetch(registered, block, { values, client, dpopKey }, request, seen, guard)
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
    const granted = readGrant(registered, { tokens, claims, refreshExpiresIn, extra })
    return tokens.token_type === 'dpop' ? { ...granted, dpopKey } : granted
  }

  /** Sends the token request in the form that the entry describes, and repairs the response. */
  async function tokenFetch(
    registered: RegisteredClient,
    block: TokenRequestBlock,
    { values, client, dpopKey }: TokenRequestParts,
    request: CustomFetchOptions,
    seen: Seen,
    guard: RequestGuard | undefined,
  ): Promise<Response> {
    const { provider } = registered
    const purpose = values.refresh_token === undefined ? 'exchange' : 'refresh'
    const proof = dpopKey && { key: dpopKey, clientId: registered.client.clientId }
    seen.secrets = secretsIn(request.body)
    try {
      const response = await sendProven(outgoing, proofs, proof, async (isRepeated) => ({
        ...requestOf(block, values, {
          protocol: request,
          // a signed assertion is for one request
          client: isRepeated ? await credentialsFor(block, registered, now()) : client,
        }),
        purpose,
        ...guard,
      }))
      seen.retryAfter = retryAfterSeconds(response.headers['retry-after'], now())
      seen.status = response.status
      const repaired = repairTokenResponse(response.status, response.headers['content-type'], response.body, {
        ...responseRules(provider, block, now()),
        ...(dpopKey && {
          dpop: provider.dpop?.optional ? 'optional' : 'required',
        }),
        issuedTokenType: issuedTokenType(provider, values),
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

  /** What remains outside of the signed request (RFC 9101 section 5, OpenID Connect Core section 6.1). */
  async function inRequestObject(
    registered: RegisteredClient,
    params: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const all = { client_id: registered.client.clientId, response_type: 'code', ...params }
    const request = await withKey(registered, () => signedRequestObject(registered, all, now()))
    const { response_type, scope } = all as Readonly<Record<string, string>>
    const isOpenId = scope?.split(' ').includes('openid') === true
    return { request, ...(isOpenId && response_type && scope && { response_type, scope }) }
  }

  const client: OAuthClient = {
    proofs,

    secretsFor({ provider }, scopes) {
      return {
        ...(provider.dpop && { dpopKey: newProofKey(provider.dpop.algorithm) }),
        ...(provider.pkce !== 'none' && { codeVerifier: randomPKCECodeVerifier() }),
        ...(scopes.includes('openid') && { nonce: randomNonce() }),
      }
    },

    async authorizationUrl(registered, { state, secrets, scopes, existingScopes }) {
      const { provider } = registered
      const { endpoint, params: plain } = authorizationRequestOf(registered, scopes, existingScopes, {
        state,
        ...(secrets.nonce !== undefined && { nonce: secrets.nonce }),
        ...(await pkceParameters(provider, secrets)),
        ...(secrets.dpopKey && { dpop_jkt: await thumbprintOf(secrets.dpopKey) }),
      })
      const params = provider.requestObject === undefined ? plain : await inRequestObject(registered, plain)
      const config = configure(registered, tokenRequestIn(provider), { params: {} }, endpoint.href)
      if (provider.pushedAuthorizationRequest !== undefined)
        return pushAuthorization(
          proven,
          registered,
          {
            authorizationEndpoint: endpoint,
            pushEndpoint: provider.pushedAuthorizationRequest.endpoint,
            params,
            proof: secrets.dpopKey && { key: secrets.dpopKey, clientId: registered.client.clientId },
          },
          now,
        )
      return withServerNames(buildAuthorizationUrl(config, params), provider)
    },

    async begin(registered, request) {
      const { state, scopes } = request
      if (registered.provider.oauth1 !== undefined) {
        const { url, temporary } = await beginOAuth1(outgoing, registered, { state, scopes, now })
        return { url, secrets: { temporary } }
      }
      const secrets = client.secretsFor(registered, scopes)
      return { url: await client.authorizationUrl(registered, { ...request, secrets }), secrets }
    },

    async redeem(registered, response, secrets, guard) {
      const { provider, redirectUri } = registered
      if (provider.oauth1 !== undefined)
        return redeemOAuth1(outgoing, registered, response, { secrets, guard, now })
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
        tokenRequestIn(provider),
        values,
        (config) =>
          authorizationCodeGrant(config, url, {
            expectedState: state,
            ...(secrets.codeVerifier !== undefined && { pkceCodeVerifier: secrets.codeVerifier }),
            // without an issuer openid-client does not see the ID token, whose other claims cannot be checked
            ...(secrets.nonce !== undefined &&
              provider.issuer !== undefined && { expectedNonce: secrets.nonce }),
          }),
        { guard, nonce: secrets.nonce, dpopKey: secrets.dpopKey },
      )
      // its token lists the user's installations, and is not kept
      if (isInstalled(provider)) return first
      const whole = await exchanged(registered, first, guard)
      return askAboutGrant(proven, registered, whole, values, { event: 'onTokenGrant', now: now() })
    },

    async authorizeDevice(registered, scopes) {
      const { dpop } = registered.provider
      const code = await authorizeDevice(outgoing, registered, scopes, now())
      return { ...code, ...(dpop && { dpopKey: newProofKey(dpop.algorithm) }) }
    },

    async redeemDevice(registered, { deviceCode, dpopKey }, guard) {
      const values = templateValues(registered)
      const ask = (config: Configuration) =>
        genericGrantRequest(config, DEVICE_CODE, { device_code: deviceCode })
      const block = tokenRequestIn(registered.provider)
      const first = await grant(registered, block, values, ask, { guard, dpopKey })
      const whole = await exchanged(registered, first, guard)
      return askAboutGrant(proven, registered, whole, values, { event: 'onTokenGrant', now: now() })
    },

    async refresh(registered, { refreshToken, accessToken, kept, dpopKey }, guard) {
      if (registered.provider.credentials !== undefined && refreshToken !== undefined)
        return logIn(
          outgoing,
          registered,
          { secrets: readSecrets(refreshToken), open: kept ?? {} },
          now(),
          guard,
        )
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
      return withoutUserInfo(await grant(registered, block, values, ask, { guard, dpopKey }))
    },

    async requestToken(registered, need, guard) {
      const { provider } = registered
      const { scopes } = need
      const { type = 'client_credentials' } = provider.grant ?? {}
      const block = tokenRequestIn(provider)
      const isPlaced = [...Object.values(block.params), ...claimTemplates(provider)].some(placesScopes)
      const params = {
        ...(!isPlaced && scopes.length > 0 && { scope: scopes.join(provider.scopeSeparator) }),
        ...(type === 'jwt_bearer' && { assertion: await grantAssertion(registered, need, now()) }),
        ...exchangeParams(provider, need.subjectToken),
      }
      const kept = fixedValues(provider)
      const values = { ...templateValues(registered), scopes, kept }
      const ask = (config: Configuration) => genericGrantRequest(config, grantTypeOf(type), params)
      // each token has a key of its own, since no refresh token needs the former one
      const dpopKey = provider.dpop && newProofKey(provider.dpop.algorithm)
      const granted = await grant(registered, block, values, ask, { guard, dpopKey }).catch((error) => {
        throw refusalOfSubject(error, provider)
      })
      const missing = missingScopes(scopes, granted.scopes ?? scopes, factsOf(provider))
      if (missing.length > 0)
        throw new ProviderRefusal(
          'invalid_scope',
          `${provider.displayName} granted a token without the scope ${missing.join(', ')}.`,
        )
      const { refreshToken: _, subject: __, ...token } = granted
      const expiresIn = granted.expiresIn ?? provider.defaultExpiresIn
      return { ...token, expiresIn, scopes: undefined, userInfo: undefined }
    },

    installations: (registered, accessToken) => listInstallations(outgoing, registered, accessToken, now()),

    requestInstallationToken: (registered, need, guard) =>
      requestInstallationToken(outgoing, registered, need, now(), guard),

    async askAgain(registered, grant) {
      if (!asksAfter(registered.provider, 'onTokenRefresh')) return undefined
      const values = templateValues(registered)
      return askAboutGrant(proven, registered, grant, values, { event: 'onTokenRefresh', now: now() })
    },

    checkCredentials: (registered, typed) => checkCredentials(outgoing, registered, typed, now()),

    revoke: (registered, tokens, guard) => revokeTokens(proven, registered, tokens, now(), guard),
  }
  return client
}

interface GrantOptions {
  readonly guard?: RequestGuard | undefined
  /** Of the authorization request. */
  readonly nonce?: string | undefined
  /** The key that the tokens are to be bound to. */
  readonly dpopKey?: ProofKey | undefined
}

interface TokenRequestParts extends Pick<GrantOptions, 'dpopKey'> {
  readonly values: TemplateValues
  readonly client: ClientCredentials
}

const DPOP_CHANGED =
  'Whether tokens are bound to a key (DPoP) was changed in the entry of the provider since this approval began. Ask for a new link.'

/** RFC 8628 section 3.4. */
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

/** `grant_type` on the wire. */
function grantTypeOf(type: GrantType): string {
  return type === 'jwt_bearer' || type === 'token_exchange'
    ? `urn:ietf:params:oauth:grant-type:${type.replace('_', '-')}`
    : type
}

/** User info in a refresh response must not replace what the first response told. */
function withoutUserInfo(grant: Grant): Grant {
  return { ...grant, userInfo: undefined }
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
