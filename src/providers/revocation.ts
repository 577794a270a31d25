import type { EpochSeconds } from '../domain/clock.ts'
import type { ProofKey } from '../domain/connection.ts'
import type { OutgoingRequest, OutgoingResponse } from '../egress/outgoing.ts'
import { credentialsFor } from './client-authentication.ts'
import { type ProvenOutgoing, proofOfToken, sendProven } from './dpop-proofs.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { requestOf, templateValues } from './provider-request.ts'
import type { RevocationRequestBlock } from './request-block.ts'
import { isRefusal } from './token-response.ts'

export type Revocation = 'revoked' | 'unsupported' | 'failed'

interface Tokens {
  readonly accessToken: string
  readonly refreshToken?: string | undefined
  /** The key that they are bound to. */
  readonly dpopKey?: ProofKey | undefined
}

type Kind = 'access_token' | 'refresh_token'

/**
 * Revokes the tokens as the entry describes (RFC 7009 unless it says otherwise). Many servers revoke both with the first
 * request, so its response decides the outcome, even if the second request cannot be sent.
 */
export async function revokeTokens(
  { outgoing, proofs }: ProvenOutgoing,
  registered: RegisteredClient,
  tokens: Tokens,
  now: EpochSeconds,
  guard: Pick<OutgoingRequest, 'isStillWanted' | 'signal'> = {},
): Promise<Revocation> {
  const block = registered.provider.revocationRequest
  if (block === undefined) return 'unsupported'
  const values = {
    ...templateValues(registered),
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
  }
  const outcomes: boolean[] = []
  try {
    for (const kind of revokedKinds(block, tokens)) {
      const params = { ...paramsFor(block, kind), ...block.params }
      const proof = proofOfToken(block, registered, values, tokens.dpopKey)
      const response = await sendProven(outgoing, proofs, proof, async () => {
        const client = await credentialsFor(block, registered, now) // a signed one is for one request
        const request = requestOf({ ...block, params }, values, { client, isBound: proof !== undefined })
        return { ...request, purpose: 'revocation', ...guard }
      })
      outcomes.push(isSuccess(block, response))
    }
  } catch {
    // the responses so far count
  }
  return outcomes[0] === true ? 'revoked' : 'failed'
}

/** The tokens that get a request each, in this order. */
function revokedKinds({ revokes, tokenParameter }: RevocationRequestBlock, { refreshToken }: Tokens): Kind[] {
  if (tokenParameter === '' || revokes === 'access_token') return ['access_token']
  const refresh: Kind[] = refreshToken === undefined ? [] : ['refresh_token']
  return revokes === 'refresh_token' ? refresh : [...refresh, 'access_token']
}

/** Templates of the parameters for the token. A client that does not authenticate names itself (RFC 7009 section 2.1). */
function paramsFor(
  { tokenParameter, authMethod }: RevocationRequestBlock,
  kind: Kind,
): Record<string, string> {
  if (tokenParameter === '') return {}
  if (tokenParameter !== undefined) return { [tokenParameter]: `{{${kind}}}` }
  const isNamed = authMethod === 'none' || authMethod === 'bearer_access_token'
  return {
    token: `{{${kind}}}`,
    token_type_hint: kind,
    ...(isNamed && { client_id: '{{client_id}}' }),
  }
}

function isSuccess(block: RevocationRequestBlock, { status, headers, body }: OutgoingResponse): boolean {
  return status >= 200 && status <= 299 && !isRefusal(headers['content-type'], body, block)
}
