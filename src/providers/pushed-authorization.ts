import { buildAuthorizationUrlWithPAR, customFetch } from 'openid-client'
import type { Clock } from '../domain/clock.ts'
import { FORM } from './catalogue/built-in-provider.ts'
import { credentialsFor } from './client-authentication.ts'
import { type ProofUse, type ProvenOutgoing, sendProven } from './dpop-proofs.ts'
import { configure, explanationOf, secretsIn } from './openid.ts'
import { authorizationRequestIn, tokenRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { requestOf, templateValues, withServerNames } from './provider-request.ts'
import type { RequestBlock } from './request-block.ts'
import { readJsonMembers } from './response-body.ts'
import { TokenResponseFault } from './token-response.ts'

interface PushedRequest {
  readonly authorizationEndpoint: URL
  readonly pushEndpoint: string
  readonly params: Readonly<Record<string, string>>
  /** Proves the key that the code will be bound to (RFC 9449 section 10.1). */
  readonly proof?: ProofUse | undefined
}

/**
 * Sends the parameters of an authorization request to the server (RFC 9126 section 2). Returns the URL with the reference
 * to them, which the browser carries. Throws `ProviderRefusal`.
 */
export async function pushAuthorization(
  { outgoing, proofs }: ProvenOutgoing,
  registered: RegisteredClient,
  { authorizationEndpoint, pushEndpoint, params, proof }: PushedRequest,
  now: Clock,
): Promise<URL> {
  const { provider } = registered
  const { parameterNames = {} } = authorizationRequestIn(provider)
  const block: RequestBlock = {
    ...tokenRequestIn(provider),
    ...{ endpoint: pushEndpoint, parameterNames, params: {}, requestContentType: FORM },
  }
  const { state, ...others } = params
  const seen: Seen = { asked: 'pushed authorization' }
  const client = await credentialsFor(block, registered, now())
  const config = configure(registered, block, client, authorizationEndpoint.href)
  config[customFetch] = async (_url, request) => {
    seen.secrets = secretsIn(request.body)
    try {
      const response = await sendProven(outgoing, proofs, proof, async (isRepeated) => ({
        ...requestOf(block, templateValues(registered), {
          protocol: request,
          client: isRepeated ? await credentialsFor(block, registered, now()) : client,
        }),
        purpose: 'pushed_authorization',
      }))
      const { status, headers, body } = response
      seen.retryAfter = retryAfterSeconds(headers['retry-after'], now())
      seen.status = status
      // openid-client checks all else of the answer
      if (status === 201 && Number(readJsonMembers(body)?.expires_in) <= 0)
        throw new TokenResponseFault('the reference to the request has no lifetime')
      return new Response(new TextDecoder().decode(body), {
        status,
        headers: { 'content-type': headers['content-type'] ?? '' },
      })
    } catch (error) {
      seen.fault = error
      throw error
    }
  }
  try {
    const url = await buildAuthorizationUrlWithPAR(config, {
      ...others,
      ...(state !== undefined && { [provider.stateParameter ?? 'state']: state }),
    })
    return withServerNames(url, provider)
  } catch (error) {
    // never sent as a plain request instead: the server may demand pushed ones
    if (seen.status === 404 || seen.status === 405)
      throw new ProviderRefusal(
        'provider_unavailable',
        `${provider.displayName} takes no pushed authorization requests at the endpoint of its entry (HTTP ${seen.status}).`,
      )
    const secrets = [...(seen.secrets ?? []), registered.client.clientSecret]
    throw refusalOf(provider.displayName, explanationOf(error, secrets), {
      ...seen,
      cause: seen.fault ?? error,
    })
  }
}
