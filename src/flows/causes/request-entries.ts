import type { Broker } from '../../broker.ts'
import type { TrailDetails, TrailEntry, TrailStep } from '../../domain/trail.ts'
import type { Provider } from '../../providers/provider.ts'
import { isDeviceGrant } from '../../providers/provider-grant.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import type { RequestBlock } from '../../providers/request-block.ts'
import type { SentRequest } from '../../providers/sent-requests.ts'

/** Smaller differences come from network and waiting times, not from a wrong clock. */
const LEAST_DIFFERENCE_SECONDS = 60

/** The steps of a trail that send a request of their own, by its purpose. */
const STEPS = {
  exchange: 'code_exchange',
  pushed_authorization: 'pushed_authorization',
  temporary: 'temporary_credentials',
  device_authorization: 'device_authorization',
} as const

/** What a click sends to the server before the user goes there, if anything. */
export function firstRequestOf(provider: Pick<Provider, 'oauth1' | 'grant'>): keyof typeof STEPS {
  const { oauth1 } = provider
  if (isDeviceGrant(provider)) return 'device_authorization'
  return oauth1 === undefined ? 'pushed_authorization' : 'temporary'
}

/**
 * The requests of a code exchange, or of a pushed authorization, as entries, in their order. The error is noted at the
 * last of them, also when the tokens were not stored because the request for user info failed.
 */
export function requestEntries(
  { now }: Pick<Broker, 'now'>,
  provider: Provider,
  all: readonly SentRequest[],
  part: number,
  error?: unknown,
  main: keyof typeof STEPS = 'exchange',
): readonly TrailEntry[] {
  const at = now()
  // the revocation of a grant that cannot be stored is no step
  const sent = all.filter(({ purpose }) => purpose !== 'revocation')
  const last = sent.findLastIndex(({ purpose }) => purpose === main)
  const entries = sent.map((request, i): TrailEntry => {
    const details = { ...requestDetails(provider, request, at), ...(i === last && refusalDetails(error)) }
    return { at, step: stepOf(provider, request), part, details }
  })
  const wasNotSent = error !== undefined && last === -1
  return wasNotSent ? [...entries, { at, step: STEPS[main], part, details: refusalDetails(error) }] : entries
}

function stepOf(provider: Provider, { purpose, endpoint }: SentRequest): TrailStep {
  if (purpose !== 'resource') return STEPS[purpose as keyof typeof STEPS] ?? 'code_exchange' // other purposes are none of its keys
  const { introspectionRequest, choicesRequest, installationsRequest } = provider
  const list = choicesRequest ?? installationsRequest
  if (list !== undefined && isOf(list, endpoint)) return 'choices'
  return introspectionRequest !== undefined && isOf(introspectionRequest, endpoint)
    ? 'introspection'
    : 'user_info'
}

/** The details of a request: its endpoint and parameters, and the response. */
export function requestDetails(provider: Provider, request: SentRequest, at: number): TrailDetails {
  const { endpoint, method, parameters, status, failure, tookMs, answeredAt, received } = request
  const difference = answeredAt === undefined ? 0 : at - answeredAt
  return {
    endpoint,
    method,
    authentication: authenticationOf(provider, request),
    parameters: parameters.map(nameOnly),
    ...(status !== undefined && { status }),
    ...(failure !== undefined && { failure }),
    took_ms: tookMs,
    ...(received !== undefined && { received }),
    ...(Math.abs(difference) >= LEAST_DIFFERENCE_SECONDS && { clock_difference_seconds: difference }),
  }
}

/** The details of a refusal: the provider's error, or why its response was not used. */
export function refusalDetails(error: unknown): TrailDetails {
  if (!(error instanceof ProviderRefusal)) return {}
  const { reason, code, words, claim } = error
  return {
    reason,
    ...(code !== undefined && { error: code }),
    ...(words !== undefined && { description: words }),
    ...(claim !== undefined && { claim }),
    ...(error.isForbiddenHost && { failure: 'host_not_allowed' }),
    message: error.message,
  }
}

/** How the request authenticated: by the entry's block for its endpoint, or for its purpose if kept values are in the URL. */
function authenticationOf(provider: Provider, { purpose, endpoint, scheme }: SentRequest): string {
  const { tokenRequest, exchangeRequest, refreshRequest, renewalRequest } = provider
  const { userInfoRequest, introspectionRequest, deviceAuthorizationRequest } = provider
  const { choicesRequest, installationsRequest } = provider
  const byPurpose = {
    pushed_authorization: [tokenRequest],
    temporary: [],
    device_authorization: [deviceAuthorizationRequest],
    exchange: [tokenRequest, exchangeRequest],
    refresh: [refreshRequest, renewalRequest],
    resource: [userInfoRequest, introspectionRequest, choicesRequest, installationsRequest],
  }
  const blocks: readonly (RequestBlock | undefined)[] = byPurpose[purpose as keyof typeof byPurpose] ?? [] // other purposes have no block
  const present = blocks.filter((candidate) => candidate !== undefined)
  const block =
    present.find((candidate) => isOf(candidate, endpoint)) ?? (present.length === 1 ? present[0] : undefined)
  return block?.authMethod ?? scheme ?? 'none'
}

function isOf(block: RequestBlock, endpoint: string): boolean {
  if (!URL.canParse(block.endpoint)) return false
  const { origin, pathname } = new URL(block.endpoint)
  return origin + pathname === endpoint
}

/** The text if it has the form of a parameter's name, else `?`: a server or browser may send anything. */
export function nameOnly(name: string): string {
  return /^[\w.:[\]-]{1,40}$/.test(name) ? name : '?'
}
