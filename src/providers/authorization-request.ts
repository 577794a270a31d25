import {
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
} from 'openid-client'
import type { AttemptSecrets } from '../domain/authorization.ts'
import type { Clock } from '../domain/clock.ts'
import { withKey } from './client-authentication.ts'
import { signedRequestObject } from './client-key.ts'
import { newProofKey, thumbprintOf } from './dpop.ts'
import type { ProvenOutgoing } from './dpop-proofs.ts'
import { configure } from './openid.ts'
import type { Provider } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { authorizationRequestOf, withServerNames } from './provider-request.ts'
import { pushAuthorization } from './pushed-authorization.ts'

export interface AuthorizationRequest {
  readonly state: string
  readonly secrets: Omit<AttemptSecrets, 'providerIdentity'>
  readonly scopes: readonly string[]
  readonly existingScopes: readonly string[]
}

/** New secrets, which one authorization request keeps for its token request. */
export function secretsFor(
  { provider }: RegisteredClient,
  scopes: readonly string[],
): AuthorizationRequest['secrets'] {
  return {
    ...(provider.dpop && { dpopKey: newProofKey(provider.dpop.algorithm) }),
    ...(provider.pkce !== 'none' && { codeVerifier: randomPKCECodeVerifier() }),
    ...(scopes.includes('openid') && { nonce: randomNonce() }),
  }
}

/** The authorization request (RFC 6749 section 4.1.1, with PKCE by RFC 7636), pushed first if the entry says so (RFC 9126). */
export async function authorizationUrl(
  proven: ProvenOutgoing,
  registered: RegisteredClient,
  { state, secrets, scopes, existingScopes }: AuthorizationRequest,
  now: Clock,
): Promise<URL> {
  const { provider } = registered
  const { endpoint, params: plain } = authorizationRequestOf(registered, scopes, existingScopes, {
    state,
    ...(secrets.nonce !== undefined && { nonce: secrets.nonce }),
    ...(await pkceParameters(provider, secrets)),
    ...(secrets.dpopKey && { dpop_jkt: await thumbprintOf(secrets.dpopKey) }),
  })
  const params = provider.requestObject === undefined ? plain : await inRequestObject(registered, plain, now)
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
}

/** What remains outside of the signed request (RFC 9101 section 5, OpenID Connect Core section 6.1). */
async function inRequestObject(
  registered: RegisteredClient,
  params: Readonly<Record<string, string>>,
  now: Clock,
): Promise<Record<string, string>> {
  const all = { client_id: registered.client.clientId, response_type: 'code', ...params }
  const request = await withKey(registered, () => signedRequestObject(registered, all, now()))
  const { response_type, scope } = all as Readonly<Record<string, string>>
  const isOpenId = scope?.split(' ').includes('openid') === true
  return { request, ...(isOpenId && response_type && scope && { response_type, scope }) }
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
