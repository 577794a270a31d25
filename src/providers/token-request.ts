import {
  type Configuration,
  type CustomFetchOptions,
  customFetch,
  type genericGrantRequest,
} from 'openid-client'
import type { Clock } from '../domain/clock.ts'
import type { ProofKey } from '../domain/connection.ts'
import type { OutgoingRequest } from '../egress/outgoing.ts'
import { type ClientCredentials, credentialsFor } from './client-authentication.ts'
import { fitsDpop } from './dpop.ts'
import { type ProvenOutgoing, sendProven } from './dpop-proofs.ts'
import { type Grant, readGrant, type TokenResponse } from './grant.ts'
import { configure, explanationOf, secretsIn } from './openid.ts'
import type { Provider } from './provider.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { requestOf } from './provider-request.ts'
import type { TokenRequestBlock } from './request-block.ts'
import { issuedTokenType } from './subject-exchange.ts'
import type { TemplateValues } from './template.ts'
import { responseRules } from './token-exchange.ts'
import { repairTokenResponse } from './token-response.ts'

// The token request (RFC 6749 section 3.2), of every grant.

/** The claim on a connection or authorization that must still hold while a token request is sent. */
export type RequestGuard = Pick<OutgoingRequest, 'isStillWanted' | 'signal'>

/** What sends token requests. */
export interface TokenSender extends ProvenOutgoing {
  readonly now: Clock
  /** Called for a response without `token_type`, which is read as bearer. */
  readonly warnOfType: (provider: Provider) => void
}

export interface GrantOptions {
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

/**
 * Asks the token endpoint by `ask`, a request of openid-client, which is sent in the form that the entry describes; faults of
 * the response are repaired. Throws `ProviderRefusal`.
 */
export async function requestGrant(
  sender: TokenSender,
  registered: RegisteredClient,
  block: TokenRequestBlock,
  values: TemplateValues,
  ask: (config: Configuration) => ReturnType<typeof genericGrantRequest>,
  { guard, nonce, dpopKey }: GrantOptions,
): Promise<Grant> {
  const { provider } = registered
  if (!fitsDpop(provider, { dpopKey })) throw new ProviderRefusal('provider_changed', DPOP_CHANGED)
  const seen: Seen = { isIdTokenAsked: nonce !== undefined }
  const client = await credentialsFor(block, registered, sender.now())
  const config = configure(registered, block, client)
  config[customFetch] = (_url, request) =>
    tokenFetch(sender, registered, block, { values, client, dpopKey }, request, seen, guard)
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
  { outgoing, proofs, now, warnOfType }: TokenSender,
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
      ...(dpopKey && { dpop: provider.dpop?.optional ? 'optional' : 'required' }),
      issuedTokenType: issuedTokenType(provider, values),
      ignoreIdToken: provider.ignoresIdToken === true && seen.isIdTokenAsked !== true,
    })
    seen.idTokenClaims = repaired.idTokenClaims
    if (repaired.tokenTypeMissing) warnOfType(provider)
    seen.extra = repaired.extra
    seen.refreshExpiresIn = repaired.refreshExpiresIn
    return Response.json(repaired.body, { status: repaired.status })
  } catch (error) {
    seen.fault = error
    throw error
  }
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
