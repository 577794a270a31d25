import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  Configuration,
  calculatePKCECodeChallenge,
  customFetch,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  randomNonce,
  randomPKCECodeVerifier,
} from 'openid-client'
import { systemClock } from '../domain/clock.ts'
import { type Outgoing, OutgoingError } from '../egress/outgoing.ts'
import { clientCredentials } from './client-authentication.ts'
import { type ServerMetadata, secretAuthMethod } from './discovery.ts'
import { clientAuthentication, explanationOf, ID_TOKEN_ALGORITHMS } from './openid.ts'
import type { Client } from './provider-entry.ts'
import { ProviderRefusal, refusalOf, type Seen } from './provider-refusal.ts'
import { type Members, membersOf } from './response-body.ts'

/** The broker as a relying party of an OpenID issuer: it asks who the user is, and keeps no token. */
export interface LoginClient {
  newSecrets(): LoginSecrets
  /** The authentication request (OpenID Connect Core section 3.1.2.1, with PKCE). */
  authorizationUrl(
    login: LoginRegistration,
    request: {
      readonly state: string
      readonly secrets: LoginSecrets
      readonly scopes: readonly string[]
      /** The issuer asks for the user again, even if it has a session of its own. */
      readonly prompt?: 'login'
      /** Seconds: the issuer asks again for a user who logged in longer ago, and says when that was (`auth_time`). */
      readonly maxAge?: number | undefined
    },
  ): Promise<URL>
  /**
   * Redeems the code, checks the ID token (section 3.1.3.7: signature, issuer, audience, expiry, nonce) and returns its
   * claims, with those of the user info endpoint when the ID token lacks one of `needed`. Throws `ProviderRefusal`.
   */
  identify(
    login: LoginRegistration,
    response: URLSearchParams,
    secrets: LoginSecrets,
    needed: readonly string[],
  ): Promise<Members>
}

/** The broker's registration at the issuer of logins. */
export interface LoginRegistration {
  readonly server: ServerMetadata
  readonly client: Client
  readonly redirectUri: string
}

/** What an authentication request keeps for its token request. */
export interface LoginSecrets {
  readonly codeVerifier: string
  readonly nonce: string
}

/** How far the clocks of an issuer and of this machine may differ. */
const CLOCK_SKEW_SECONDS = 60

export function createLoginClient(outgoing: Outgoing): LoginClient {
  /**
   * Keyed by the metadata object, so that openid-client caches an issuer's keys as long as the metadata is cached, and
   * by the client: users and operators may log in at one issuer with two clients.
   */
  const configurations = new WeakMap<ServerMetadata, Map<string, Configuration>>()

  function configure({ server, client }: LoginRegistration): Configuration {
    const ofServer = configurations.get(server) ?? new Map<string, Configuration>()
    configurations.set(server, ofServer)
    const known = ofServer.get(client.clientId)
    if (known !== undefined) return known
    const {
      token_endpoint_auth_methods_supported: methods,
      id_token_signing_alg_values_supported: algorithms,
      code_challenge_methods_supported: _,
      scopes_supported: __,
      dpop_signing_alg_values_supported: ___,
      ...rest
    } = server
    const config = new Configuration(
      {
        ...rest,
        token_endpoint_auth_methods_supported: [...(methods ?? [])],
        id_token_signing_alg_values_supported: (algorithms ?? ID_TOKEN_ALGORITHMS).filter((algorithm) =>
          ID_TOKEN_ALGORITHMS.includes(algorithm),
        ),
      },
      client.clientId,
      {},
      clientAuthentication(clientCredentials(secretAuthMethod(server), client)),
    )
    allowInsecureRequests(config) // the guarded client decides whether plain http is allowed
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
    ofServer.set(client.clientId, config)
    return config
  }

  return {
    newSecrets: () => ({ codeVerifier: randomPKCECodeVerifier(), nonce: randomNonce() }),

    async authorizationUrl(login, { state, secrets, scopes, prompt, maxAge }) {
      return buildAuthorizationUrl(configure(login), {
        response_type: 'code',
        redirect_uri: login.redirectUri,
        scope: scopes.join(' '),
        state,
        nonce: secrets.nonce,
        code_challenge: await calculatePKCECodeChallenge(secrets.codeVerifier),
        code_challenge_method: 'S256',
        ...(prompt && { prompt }),
        ...(maxAge !== undefined && { max_age: String(maxAge) }),
      })
    },

    async identify(login, response, secrets, needed) {
      const { server, redirectUri } = login
      const config = configure(login)
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
        const info = membersOf(await fetchUserInfo(config, tokens.access_token, String(claims.sub))) ?? {}
        return joined(claims, info)
      } catch (error) {
        if (error instanceof ProviderRefusal) throw error
        const { codeVerifier, nonce } = secrets
        const sent = [response.get('code'), login.client.clientSecret, codeVerifier, nonce]
        throw refusalOf(server.issuer, explanationOf(error, sent), { ...seenIn(error), cause: error })
      }
    },
  }
}

/**
 * The claims of user info, and what the ID token has besides. An email address counts with the verification of its own
 * source: user info, or else the ID token. `auth_time` counts from the ID token alone, which is signed.
 */
function joined(claims: Members, info: Members): Members {
  const { email, email_verified } = info.email === undefined ? claims : info
  return { ...claims, ...info, email, email_verified, auth_time: claims.auth_time }
}

/** The checks that openid-client leaves to its callers (OpenID Connect Core section 3.1.3.7, steps 5 and 10). */
function checkLoginClaims({ server, client }: LoginRegistration, { azp, iat }: Members): void {
  const now = systemClock() // openid-client checks `exp` by the system's clock too
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

/** The response or network error underneath openid-client's error. */
function seenIn(error: unknown): Seen {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof OutgoingError) return { fault: cause }
  if (error instanceof ResponseBodyError) return { status: error.status }
  return cause instanceof Response ? { status: cause.status } : {}
}
