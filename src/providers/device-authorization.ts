import { customFetch, initiateDeviceAuthorization } from 'openid-client'
import type { EpochSeconds } from '../domain/clock.ts'
import { endpointFault } from '../egress/endpoint.ts'
import type { Outgoing } from '../egress/outgoing.ts'
import { isCoveredHost } from './api-host.ts'
import { credentialsFor } from './client-authentication.ts'
import { siteOfHost } from './fixed-domain.ts'
import { configure, explanationOf, secretsIn } from './openid.ts'
import type { Provider } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { RegisteredClient } from './provider-entry.ts'
import { type ProviderRefusal, refusalOf, retryAfterSeconds, type Seen } from './provider-refusal.ts'
import { requestOf, templateValues } from './provider-request.ts'
import type { TokenRequestBlock } from './request-block.ts'
import { readMembers } from './response-body.ts'
import { applyResponseMap } from './response-map.ts'
import { readRefusal } from './response-refusal.ts'
import { placesScopes } from './template.ts'
import { TokenResponseFault } from './token-response.ts'

/** What the provider answers a request for a code (RFC 8628 section 3.2). */
export interface DeviceCode {
  readonly deviceCode: string
  /** The code that the user enters at `verificationUri`. */
  readonly userCode: string
  readonly verificationUri: string
  /** Seconds. */
  readonly expiresIn: number
  /** Seconds between two token requests. */
  readonly interval: number
}

/** RFC 8628 section 3.2: the interval of a provider that names none. */
const USUAL_INTERVAL = 5
/** A longer interval would make users wait although they have approved; a longer life is cut by the link's end. */
const LONGEST_INTERVAL = 300
const LONGEST_LIFE = 86_400
/** The members that are read. `verification_uri_complete` is none: it would spare the user the look at the code. */
const MEMBERS = ['device_code', 'user_code', 'verification_uri', 'expires_in', 'interval']

/** Asks for a code (RFC 8628 section 3.1). Throws `ProviderRefusal`, also for a page that users must not be sent to. */
export async function authorizeDevice(
  outgoing: Outgoing,
  registered: RegisteredClient,
  scopes: readonly string[],
  now: EpochSeconds,
): Promise<DeviceCode> {
  const { provider } = registered
  const block = provider.deviceAuthorizationRequest
  if (block === undefined) throw new Error(`${provider.displayName} has no device authorization request`)
  const seen: Seen = { asked: 'device authorization' }
  const client = await credentialsFor(block, registered, now)
  const config = configure(registered, block, client)
  config[customFetch] = async (_url, request) => {
    seen.secrets = secretsIn(request.body)
    try {
      const values = { ...templateValues(registered), scopes }
      const { status, headers, body } = await outgoing.send({
        ...requestOf(block, values, { protocol: request, client }),
        purpose: 'device_authorization',
      })
      seen.retryAfter = retryAfterSeconds(headers['retry-after'], now)
      seen.status = status
      const read = readAnswer(status, headers['content-type'], body, block)
      return Response.json(read.members, { status: read.status })
    } catch (error) {
      seen.fault = error
      throw error
    }
  }
  const isPlaced = Object.values(block.params).some(placesScopes)
  const asked = !isPlaced && scopes.length > 0 && { scope: scopes.join(provider.scopeSeparator) }
  try {
    const answer = await initiateDeviceAuthorization(config, { ...asked })
    const { device_code, user_code, verification_uri, expires_in, interval = USUAL_INTERVAL } = answer
    const fault = faultOf(provider, answer, (url) => outgoing.allows(url))
    if (fault !== undefined) throw new TokenResponseFault(fault)
    return {
      deviceCode: device_code,
      userCode: user_code,
      verificationUri: verification_uri,
      expiresIn: Math.min(Math.floor(expires_in), LONGEST_LIFE),
      interval: Math.min(Math.ceil(interval), LONGEST_INTERVAL),
    }
  } catch (error) {
    const fault = error instanceof TokenResponseFault ? error : seen.fault
    const secrets = [...(seen.secrets ?? []), registered.client.clientSecret]
    throw refusalOf(provider.displayName, explanationOf(error, secrets), {
      ...seen,
      ...(fault !== undefined && { fault }),
      cause: fault ?? error,
    })
  }
}

/** The standard members of the answer, or its refusal. Throws `TokenResponseFault`. */
function readAnswer(
  status: number,
  contentType: string | undefined,
  body: Uint8Array,
  { responseContentType, responseMap, errorResponse }: TokenRequestBlock,
): { readonly status: number; readonly members: Readonly<Record<string, unknown>> } {
  const answer = readMembers(body, contentType, responseContentType)
  if (answer === undefined) throw new TokenResponseFault('not readable', status)
  const succeeded = status >= 200 && status < 300
  const refusal = readRefusal(answer, status, errorResponse)
  if (refusal !== undefined) return { status: succeeded ? 400 : status, members: refusal }
  if (!succeeded) throw new TokenResponseFault('no error code', status)
  const mapped = responseMap === undefined ? answer : applyResponseMap(responseMap, answer)
  const known = MEMBERS.flatMap((name) => {
    const value = mapped[name]
    if (value === undefined || value === null) return []
    return [[name, name === 'interval' ? Number(value) : value] as const]
  })
  return { status: 200, members: Object.fromEntries(known) }
}

/** Why the answer cannot be used; the text has nothing of it. */
function faultOf(
  provider: Provider,
  {
    device_code,
    user_code,
    verification_uri,
    expires_in,
  }: Awaited<ReturnType<typeof initiateDeviceAuthorization>>,
  allowsHttp: (url: URL) => boolean,
): string | undefined {
  if (!/^[\x20-\x7e]{1,4096}$/.test(device_code)) return 'its device_code is not text of a usual length'
  if (!/^[\x20-\x7e]{1,64}$/.test(user_code)) return 'its user_code is not text that people can enter'
  if (!(expires_in >= 1)) return 'its expires_in is not positive'
  const [address = ''] = verification_uri.split('#', 1)
  if (verification_uri.length > 2_000 || endpointFault(address, allowsHttp) !== undefined)
    return 'its verification_uri is no https URL'
  if (!isVerificationHost(provider, new URL(address)))
    return 'its verification_uri is on a host that verification_hosts does not name'
  return undefined
}

function isVerificationHost(provider: Provider, { host }: URL): boolean {
  const { verificationHosts } = provider
  if (verificationHosts !== undefined)
    return verificationHosts.some((pattern) => isCoveredHost(pattern, host))
  return siteOfHost(host) === siteOfHost(new URL(tokenRequestIn(provider).endpoint).host)
}

/** What the answer to a token request means while the user has not approved yet (RFC 8628 section 3.5). */
export type PollAnswer = 'pending' | 'slow_down' | 'unavailable' | 'refused'

export function pollAnswerOf({ code, reason }: ProviderRefusal): PollAnswer {
  if (code === 'authorization_pending') return 'pending'
  if (code === 'slow_down') return 'slow_down'
  return reason === 'provider_unavailable' ? 'unavailable' : 'refused'
}
