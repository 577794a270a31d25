import { createHash, createPrivateKey, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../domain/clock.ts'
import type { ProofKey } from '../domain/connection.ts'
import type { Outgoing, OutgoingRequest, OutgoingResponse } from '../egress/outgoing.ts'
import { publicJwkOf } from './dpop.ts'
import type { RegisteredClient } from './provider-entry.ts'
import type { RequestBlock } from './request-block.ts'
import { readJsonMembers } from './response-body.ts'
import type { TemplateValues } from './template.ts'

/** Whose proof a request carries. */
export interface ProofUse {
  readonly key: ProofKey
  /** The broker's client at the server, whose nonces are kept apart from those of other clients. */
  readonly clientId: string | undefined
  /** The token that the request carries; absent at the authorization server's own endpoints. */
  readonly accessToken?: string
}

/** What a proof says of its request. */
interface ProvenRequest {
  readonly method: string
  readonly url: URL
}

/** Makes proofs of possession (RFC 9449 section 4), and remembers the nonces that servers demand in them. */
export interface DpopProofs {
  /** The value of the header `DPoP`, for one request: its `jti` and its time are new. */
  proofFor(use: ProofUse, request: ProvenRequest): Promise<string>
  /**
   * Remembers the nonce that the answer brings, if any. Returns whether the server asks for the same request with this
   * nonce. `error`: the error code in the answer's body.
   */
  learn(
    use: ProofUse,
    url: URL,
    answer: Pick<OutgoingResponse, 'status' | 'headers'>,
    error?: unknown,
  ): boolean
}

/** The guarded client, and what makes proofs for its requests. */
export interface ProvenOutgoing {
  readonly outgoing: Outgoing
  readonly proofs: DpopProofs
}

/** The proof of a request that carries the token itself (`bearer_access_token`), if the token is bound to a key. */
export function proofOfToken(
  { authMethod }: Pick<RequestBlock, 'authMethod'>,
  { client: { clientId } }: Pick<RegisteredClient, 'client'>,
  { access_token: accessToken }: TemplateValues,
  key: ProofKey | undefined,
): ProofUse | undefined {
  const isCarried = authMethod === 'bearer_access_token' && accessToken !== undefined
  return isCarried && key !== undefined ? { key, clientId, accessToken } : undefined
}

/** How many origins' nonces are remembered; a forgotten one costs one more request. */
const KNOWN_NONCES = 1_000
/** RFC 9449 section 8.1, with a limit. */
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1000}$/

export function createDpopProofs(now: Clock): DpopProofs {
  const nonces = new LRUCache<string, string>({ max: KNOWN_NONCES })
  return {
    async proofFor(use, { method, url }) {
      const { key, accessToken } = use
      const nonce = nonces.get(placeOf(use, url))
      const proof = new SignJWT({
        htm: method,
        htu: url.origin + url.pathname,
        ...(accessToken !== undefined && {
          ath: createHash('sha256').update(accessToken).digest('base64url'),
        }),
        ...(nonce !== undefined && { nonce }),
      })
      return proof
        .setProtectedHeader({ typ: 'dpop+jwt', alg: key.alg, jwk: publicJwkOf(key) })
        .setJti(randomUUID())
        .setIssuedAt(now())
        .sign(createPrivateKey({ key: { ...key }, format: 'jwk' }))
    },

    learn(use, url, { status, headers }, error) {
      const nonce = headers['dpop-nonce'] ?? ''
      if (!NONCE.test(nonce)) return false
      nonces.set(placeOf(use, url), nonce)
      if (status !== 400 && status !== 401) return false
      return error === 'use_dpop_nonce' || dpopErrorIn(headers) === 'use_dpop_nonce'
    },
  }
}

/** An authorization server and an API give different nonces, also where they share an origin (RFC 9449 section 9). */
function placeOf({ clientId = '', accessToken }: ProofUse, { origin }: URL): string {
  return `${accessToken === undefined ? 'server' : 'api'} ${origin} ${clientId}`
}

/** The error of the challenge by which an API refuses a proof or its token (RFC 9449 section 7.1). */
export function dpopErrorIn(headers: Readonly<Record<string, string>>): string | undefined {
  const challenge = /(?:^|[\s,])dpop\s(.{0,2000})/is.exec(headers['www-authenticate'] ?? '')?.[1] ?? ''
  return /(?:^|[\s,])error\s?=\s?"?(\w{1,50})/i.exec(challenge)?.[1]
}

/**
 * Sends the request with a proof, and a second one with a new proof if the server asks for a nonce: it does so before it
 * looks at what the request carries, so a code or refresh token is still unused. Without `use` there is no proof.
 */
export async function sendProven(
  outgoing: Pick<Outgoing, 'send'>,
  proofs: DpopProofs,
  use: ProofUse | undefined,
  make: (isRepeated: boolean) => OutgoingRequest | Promise<OutgoingRequest>,
): Promise<OutgoingResponse> {
  const send = async (isRepeated: boolean) => {
    const request = await make(isRepeated)
    if (use === undefined) return { response: await outgoing.send(request), isNonceAsked: false }
    const url = new URL(request.url)
    const proof = await proofs.proofFor(use, { method: request.method ?? 'GET', url })
    const response = await outgoing.send({ ...request, headers: { ...request.headers, dpop: proof } })
    const error = response.status === 400 || response.status === 401 ? errorIn(response) : undefined
    return { response, isNonceAsked: proofs.learn(use, url, response, error) }
  }
  const first = await send(false)
  return first.isNonceAsked ? (await send(true)).response : first.response
}

function errorIn({ body }: OutgoingResponse): unknown {
  return readJsonMembers(body)?.error
}
