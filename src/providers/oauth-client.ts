import {
  authorizationCodeGrant,
  type Configuration,
  genericGrantRequest,
  refreshTokenGrant,
} from 'openid-client'
import type { AttemptSecrets } from '../domain/authorization.ts'
import type { Clock } from '../domain/clock.ts'
import type { ProofKey } from '../domain/connection.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { type AuthorizationRequest, authorizationUrl, secretsFor } from './authorization-request.ts'
import {
  type CheckedCredentials,
  checkCredentials,
  logIn,
  type TypedCredentials,
} from './check-credentials.ts'
import { readSecrets } from './credentials.ts'
import { authorizeDevice, type DeviceCode } from './device-authorization.ts'
import { newProofKey } from './dpop.ts'
import { createDpopProofs, type DpopProofs, type ProvenOutgoing } from './dpop-proofs.ts'
import { askAboutGrant, asksAfter, type Grant } from './grant.ts'
import {
  type Installation,
  type InstallationNeed,
  listInstallations,
  requestInstallationToken,
} from './installations.ts'
import { beginOAuth1, redeemOAuth1 } from './oauth1/client.ts'
import { type ListingTokens, listTenants, type Tenant } from './offered-list.ts'
import type { Provider } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { isInstalled } from './provider-grant.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import { templateValues } from './provider-request.ts'
import { type Revocation, revokeTokens } from './revocation.ts'
import { exchangeToken, withExchanged } from './token-exchange.ts'
import { type RequestGuard, requestGrant, type TokenSender } from './token-request.ts'
import { type NeededToken, requestToken } from './token-without-user.ts'

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
  installations(client: RegisteredClient, tokens: ListingTokens): Promise<readonly Installation[]>
  /** The tenants of which the user of the token chooses one. Throws `ProviderRefusal`. */
  tenants(client: RegisteredClient, tokens: ListingTokens): Promise<readonly Tenant[]>
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

export function createOAuthClient(
  outgoing: Outgoing,
  now: Clock,
  /** Called for responses that are usable but faulty, once for each version of an entry. */
  warn: (about: { readonly provider: string }, message: string) => void = () => {},
): OAuthClient {
  const warned = new WeakSet<Provider>()
  const proofs = createDpopProofs(now)
  const proven: ProvenOutgoing = { outgoing, proofs }
  const sender: TokenSender = { ...proven, now, warnOfType }

  function warnOfType(provider: Provider): void {
    if (warned.has(provider)) return
    warned.add(provider)
    warn({ provider: provider.displayName }, 'a token response has no token_type; read as bearer')
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
    proofs,

    secretsFor,

    authorizationUrl: (registered, request) => authorizationUrl(proven, registered, request, now),

    async begin(registered, request) {
      const { state, scopes } = request
      if (registered.provider.oauth1 !== undefined) {
        const { url, temporary } = await beginOAuth1(outgoing, registered, { state, scopes, now })
        return { url, secrets: { temporary } }
      }
      const secrets = secretsFor(registered, scopes)
      return { url: await authorizationUrl(proven, registered, { ...request, secrets }, now), secrets }
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
      const first = await requestGrant(
        sender,
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
      const first = await requestGrant(sender, registered, block, values, ask, { guard, dpopKey })
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
      return withoutUserInfo(await requestGrant(sender, registered, block, values, ask, { guard, dpopKey }))
    },

    requestToken: (registered, need, guard) => requestToken(sender, registered, need, guard),

    installations: (registered, tokens) => listInstallations(proven, registered, tokens, now()),

    tenants: (registered, tokens) => listTenants(proven, registered, tokens, now()),

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
}

/** RFC 8628 section 3.4. */
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

/** User info in a refresh response must not replace what the first response told. */
function withoutUserInfo(grant: Grant): Grant {
  return { ...grant, userInfo: undefined }
}
