import type { Broker } from '../broker.ts'
import type { Authorization } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { OutgoingError, type OutgoingStreamResponse } from '../egress/outgoing.ts'
import { isHostOfConnection, proofOfUse } from '../providers/api-host.ts'
import { type ApiTarget, apiTarget, readPath } from '../providers/api-target.ts'
import { dpopErrorIn } from '../providers/dpop-proofs.ts'
import { keptValuesOf } from '../providers/kept-values.ts'
import { pathWithCredential, placeCredential } from '../providers/place-credential.ts'
import { typeOf } from '../providers/provider.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { baseUrlOf, hasOwnBaseUrls } from '../providers/variables.ts'
import type { Release } from '../services/release.ts'
import { permit } from '../services/request-context.ts'
import { isGateRefusal } from '../services/use-gate.ts'
import { usedProvider } from '../services/used-provider.ts'
import { acquireTokens, type TokenAcquisition } from './acquire-tokens.ts'
import { findKeptValues } from './get-access-token.ts'
import { getActiveProvider } from './get-provider.ts'
import { noteTaken, secretsOf } from './hand-out.ts'
import { isSafelyRepeated, shownRequest } from './held-request.ts'
import { withOwners } from './owner-of-use.ts'
import { refreshConnection } from './refresh/refresh-connection.ts'
import type { HeldUse } from './release-tokens.ts'
import { signatureHeaders } from './signed-request.ts'

/** How long the response's head may take after the last piece of the request's body. */
const DEADLINE_MS = 60_000
/** How long the response's body may pause. */
const IDLE_MS = 120_000

/** A caller's request to a provider's API on behalf of a user. */
export interface ForwardedRequest {
  readonly projectId: string
  readonly userId: string
  /** A provider entry's id, or a well-known one. */
  readonly provider: string
  readonly account?: string
  /** The scopes that the request needs; empty: a connection with any scopes is sufficient. */
  readonly scopes: readonly string[]
  /** Replaces the entry's base URL. */
  readonly baseUrl?: string
  readonly method: string
  /** Path and query behind the base URL, byte for byte. */
  readonly path: string
  /** The caller's headers, without the token and the hop-by-hop fields (RFC 9110 section 7.6.1). */
  readonly headers: Readonly<Record<string, string>>
  /** A body in memory can be sent a second time; a stream cannot. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
}

export type ForwardOutcome =
  | { readonly outcome: 'authorization_required'; readonly authorization: Authorization }
  | {
      readonly outcome: 'answered'
      readonly answer: OutgoingStreamResponse
      readonly target: ApiTarget
      readonly entry: ProviderEntry
      /** All tokens and keys that were sent: the response may repeat any of them. */
      readonly tokens: readonly string[]
      /** The API refused the token or its proof, but there is a new one, or a nonce, now: the same request may succeed. */
      readonly isWorthRepeating: boolean
    }

/**
 * Sends the request with the user's token to a host that the entry names, and returns the response as a stream. A
 * refused token (401, RFC 6750 section 3.1) is replaced once, and the request sent again if its body is in memory. So is
 * one that lacked a nonce in its proof (RFC 9449 section 9).
 * Where people must approve first: throws `authorization_required` with the question, and sends an approved request
 * once. Throws `host_not_allowed`, `invalid_request`, `provider_unavailable` when there is no response, and the errors
 * of the gate, of the token's look-up and of the request's own body.
 */
export async function forwardRequest(broker: Broker, request: ForwardedRequest): Promise<ForwardOutcome> {
  const { projectId, userId, provider, scopes } = request
  const entry = await getActiveProvider(broker, projectId, { id: provider, providerId: provider })
  const base = await baseUrlFor(broker, request, entry)
  const target = base === NO_CONNECTION ? undefined : targetOf(broker, entry, request, base)
  const named = {
    projectId,
    userId,
    use: 'proxy',
    providers: [usedProvider(entry, scopes)],
    request: { method: request.method.toUpperCase(), ...readPath(target?.path ?? request.path) },
    hosts: target === undefined ? (entry.provider.api?.hosts ?? []) : [target.url.host],
  } as const
  const use = await withOwners(broker, named, [{ entry }], request)
  await broker.gate.check(use)
  return permit(use, async () => {
    if (target !== undefined) return forward(broker, request, entry, target)
    const acquired = await authorize(broker, request, entry)
    if (acquired.outcome === 'ready') throw changedMeanwhile()
    return acquired
  })
}

/** There is no connection yet, so the base URL, which is the connection's own, is unknown. */
const NO_CONNECTION = Symbol()

/** The base URL of the caller, else the connection's own if the entry has such; `undefined`: the entry's. */
async function baseUrlFor(
  broker: Broker,
  { projectId, userId, account, scopes, baseUrl }: ForwardedRequest,
  entry: ProviderEntry,
): Promise<string | undefined | typeof NO_CONNECTION> {
  const { provider } = entry
  if (baseUrl !== undefined || !hasOwnBaseUrls(provider)) return baseUrl
  const need = { projectId, userId, entry, scopes, ...(account !== undefined && { account }) }
  const kept = await findKeptValues(broker, need)
  if (kept === undefined) return NO_CONNECTION
  const own = baseUrlOf(provider, kept)
  if (own !== undefined) return own
  throw new BrokerError(
    'host_not_allowed',
    `The base URL of "${entry.id}" (${provider.api?.baseUrlTemplate}) names values that ${provider.displayName} did not tell of this connection, or that do not match their patterns in ${typeOf(provider)}.kept_values. What is kept is read at the user's consent: a new one may tell it.`,
  )
}

function changedMeanwhile(): BrokerError {
  return new BrokerError('provider_unavailable', 'The connection changed meanwhile. Nothing was sent.', {
    retryAfter: 1,
  })
}

async function forward(
  broker: Broker,
  request: ForwardedRequest,
  entry: ProviderEntry,
  target: ApiTarget,
): Promise<ForwardOutcome> {
  const held: HeldUse = { describe: ([release]) => shownRequest(request, target, release.entry) }
  const acquired = await authorize(broker, request, entry, held)
  if (acquired.outcome === 'authorization_required') return acquired
  const [token] = acquired.tokens
  if (token === undefined) throw new Error('a need that is met has a token')
  const { release } = token
  const tokens = secretsOf(broker, release)
  const { answer, isNonceAsked } = await send(broker, request, target, release)
  const answered = { outcome: 'answered', target, entry: release.entry, tokens } as const
  if (answer.status < 400) await noteTaken(broker, release)
  if (isNonceAsked) return { ...answered, answer, isWorthRepeating: true }
  if (answer.status !== 401 || request.signal?.aborted || isProofRefused(release, answer))
    return { ...answered, answer, isWorthRepeating: false }

  const replaced = await replaceToken(broker, request, release, held).catch(async (error: unknown) => {
    await discard(answer)
    throw error
  })
  if (replaced === undefined) return { ...answered, answer, isWorthRepeating: false }
  if (!('release' in replaced)) {
    await discard(answer)
    return replaced
  }
  // an approval is for one run, and the API may have acted on the first request
  const isSpent = held.spent !== undefined && !isSafelyRepeated(request.method)
  if (isStreamed(request) || isSpent) return { ...answered, answer, isWorthRepeating: true }
  await discard(answer)
  tokens.push(...secretsOf(broker, replaced.release))
  const second = await send(broker, request, target, replaced.release)
  const isWorthRepeating = second.isNonceAsked
  return { ...answered, entry: replaced.release.entry, answer: second.answer, isWorthRepeating }
}

function isStreamed({ body }: ForwardedRequest): boolean {
  return body !== undefined && !(body instanceof Uint8Array)
}

/** Whether the API refused the proof beside the token: another token would be refused too. */
function isProofRefused({ dpopKey }: Release, { headers }: OutgoingStreamResponse): boolean {
  const error = dpopKey && dpopErrorIn(headers)
  return error === 'use_dpop_nonce' || error === 'invalid_dpop_proof'
}

function targetOf(
  broker: Broker,
  entry: ProviderEntry,
  { path }: ForwardedRequest,
  baseUrl: string | undefined,
): ApiTarget {
  const found = apiTarget(entry.provider, path, { baseUrl, allowsHttp: (url) => broker.outgoing.allows(url) })
  if ('target' in found) return found.target
  if (found.kind === 'request') throw new BrokerError('invalid_request', `The request ${found.fault}.`)
  throw new BrokerError(
    'host_not_allowed',
    `The request ${found.fault}. An administrator names the hosts that the tokens of "${entry.id}" may go to in ${typeOf(entry.provider)}.api of PATCH /v1/admin/auth_providers/${entry.id}.`,
  )
}

function authorize(
  broker: Broker,
  { projectId, userId, scopes, account }: ForwardedRequest,
  entry: ProviderEntry,
  held?: HeldUse,
): Promise<TokenAcquisition> {
  return acquireTokens(broker, { projectId, userId, providers: [{ entry, scopes }], account }, held)
}

type ConsentNeeded = Extract<ForwardOutcome, { readonly outcome: 'authorization_required' }>

/** A new token in place of a refused one, with its release recorded; `undefined` when there is none now. */
async function replaceToken(
  broker: Broker,
  request: ForwardedRequest,
  { entry, connection, accessToken }: Release,
  held: HeldUse,
): Promise<{ readonly release: Release } | ConsentNeeded | undefined> {
  try {
    const refreshed = await refreshConnection(broker, entry, connection, { rejected: accessToken })
    if (refreshed.outcome === 'provider_unavailable') return undefined
    const acquired = await authorize(broker, request, refreshed.entry, held)
    if (acquired.outcome === 'authorization_required') return acquired
    const release = acquired.tokens
      .map((token) => token.release)
      .find((candidate) => candidate.accessToken !== accessToken)
    return release && { release }
  } catch (error) {
    // the provider refuses the client, or cannot be reached: the API's own response is returned
    if (error instanceof BrokerError && !isGateRefusal(error)) return undefined
    throw error
  }
}

/**
 * Sends the request, and once more if the API asks for a nonce in the proof, unless its body is a stream. `isNonceAsked`:
 * the API asked for one, and the request was not repeated with it.
 */
async function send(
  broker: Broker,
  request: ForwardedRequest,
  target: ApiTarget,
  release: Release,
): Promise<{ readonly answer: OutgoingStreamResponse; readonly isNonceAsked: boolean }> {
  const use = proofOfUse(release)
  if (use === undefined)
    return { answer: await sendOnce(broker, request, target, release), isNonceAsked: false }
  const { proofs } = broker.oauth
  const url = new URL(target.url.origin + target.path)
  const proven = async () => {
    const proof = await proofs.proofFor(use, { method: request.method, url })
    const answer = await sendOnce(broker, request, target, release, { dpop: proof })
    return { answer, isNonceAsked: proofs.learn(use, url, answer) }
  }
  const first = await proven()
  if (!first.isNonceAsked || isStreamed(request) || request.signal?.aborted) return first
  await discard(first.answer)
  return { answer: (await proven()).answer, isNonceAsked: false }
}

async function sendOnce(
  broker: Broker,
  request: ForwardedRequest,
  target: ApiTarget,
  release: Release,
  proof: Readonly<Record<string, string>> = {},
): Promise<OutgoingStreamResponse> {
  const { entry, accessToken, clientId, kept: told, dpopKey } = release
  const { method, headers, body, signal, baseUrl } = request
  const { url, path } = target
  const kept = keptValuesOf(entry.provider, told)
  // the token of one connection must not be sent to the host of another
  if (baseUrl === undefined && hasOwnBaseUrls(entry.provider)) {
    const own = targetOf(broker, entry, request, baseUrlOf(entry.provider, kept))
    if (own.url.host !== url.host || own.path !== path) throw changedMeanwhile()
  }
  if (!isHostOfConnection(entry.provider, url, kept))
    throw new BrokerError(
      'host_not_allowed',
      `The key of this connection is for the host that its user typed it for, and the request would go to ${url.host}. An administrator names further hosts in full in ${typeOf(entry.provider)}.api.hosts of PATCH /v1/admin/auth_providers/${entry.id}.`,
    )
  const placed = placeCredential(entry.provider, { accessToken, clientId, kept, dpopKey })
  const sent = { method, url, path: pathWithCredential(path, placed), headers, body } as const
  const signature = signatureHeaders(broker, release, sent)
  try {
    return await broker.outgoing.stream({
      url,
      path: sent.path,
      purpose: 'proxy',
      method,
      headers: { ...headers, ...placed.headers, ...proof, ...signature },
      deadlineMs: DEADLINE_MS,
      idleMs: IDLE_MS,
      redirects: 'answer',
      body,
      signal,
    })
  } catch (error) {
    if (!(error instanceof OutgoingError)) throw error
    if (error.kind === 'host_not_allowed') throw new BrokerError('host_not_allowed', error.message)
    const more = error.requestSent ? ' The request may have been carried out.' : ' Nothing was sent.'
    throw new BrokerError('provider_unavailable', `${error.message}${more}`, { cause: error, retryAfter: 1 })
  }
}

/** Cancels a body that is not read, which frees its connection. */
async function discard({ body }: OutgoingStreamResponse): Promise<void> {
  await body.cancel().catch(() => undefined)
}
