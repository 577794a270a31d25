import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import type { ServerMetadata } from '../providers/discovery.ts'
import { needsMetadata, readsMetadata, withMetadata } from '../providers/issuer-metadata.ts'
import type { Provider } from '../providers/provider.ts'
import { endpointsOf } from '../providers/provider-endpoints.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { changeRow } from '../services/change-row.ts'
import { type Pause, secondsLeft } from '../services/pause.ts'

/** How long a request waits until metadata is read again; then the stored metadata is used. */
const LONGEST_WAIT_MS = 2_000
/** The pause after a failed request for an issuer's metadata. */
const PAUSE_SECONDS = 60

type Dependencies = Pick<Broker, 'discover' | 'log'>

/**
 * A new or changed provider, with its issuer's metadata. If the metadata cannot be read, a provider with endpoints of its
 * own is returned unchanged; the metadata is read again when a user begins an authorization. A provider whose endpoints come
 * from the metadata throws `provider_unavailable` then, and `invalid_request` if the metadata is invalid, does not list the
 * algorithm of `dpop`, or has no endpoint for device codes.
 */
export async function withDiscoveredMetadata(
  { discover, log }: Dependencies,
  provider: Provider,
): Promise<Provider> {
  const { issuer } = provider
  if (issuer === undefined || !readsMetadata(provider)) return provider
  try {
    const metadata = await discover(issuer)
    checkProofAlgorithm(provider, metadata)
    checkDeviceEndpoint(provider, metadata)
    return withMetadata(provider, metadata)
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    if (needsMetadata(provider))
      throw new BrokerError(
        error.reason === 'provider_unavailable' ? 'provider_unavailable' : 'invalid_request',
        error.message,
      )
    log.warn({ issuer, reason: error.reason }, 'the metadata of an issuer cannot be read')
    return provider
  }
}

/** Throws `invalid_request` if the issuer does not take proofs of the provider's algorithm. */
function checkProofAlgorithm({ dpop }: Provider, metadata: ServerMetadata): void {
  const { issuer, dpop_signing_alg_values_supported: taken } = metadata
  if (dpop === undefined || taken === undefined || taken.includes(dpop.algorithm)) return
  throw invalidMember(
    'oauth2.dpop.algorithm',
    'not_allowed',
    `oauth2.dpop.algorithm: ${issuer} does not take proofs of ${dpop.algorithm}, but ${taken.join(', ').slice(0, 200) || 'none'} (dpop_signing_alg_values_supported of its metadata).`,
  )
}

/** Throws `invalid_request` if the metadata lacks the endpoint that it has to decide. */
function checkDeviceEndpoint({ fromIssuer = [] }: Provider, metadata: ServerMetadata): void {
  const { issuer, device_authorization_endpoint: endpoint } = metadata
  if (endpoint !== undefined || !fromIssuer.includes('device_authorization')) return
  throw invalidMember(
    'oauth2.device_authorization_request',
    'missing',
    `oauth2.device_authorization_request is required: the metadata of ${issuer} has no device_authorization_endpoint.`,
  )
}

/** The pauses of each broker, by issuer. */
const pauses = new WeakMap<object, Map<string, Pause>>()

/**
 * The entry with its issuer's current metadata. If the metadata moves endpoints, the change is stored, recorded in the
 * audit trail and logged. While the issuer does not answer, or the change cannot be stored, the entry is returned
 * unchanged.
 */
export async function withCurrentMetadata(broker: Broker, entry: ProviderEntry): Promise<ProviderEntry> {
  const { issuer } = entry.provider
  // the metadata for an MCP server is read when that server asks for an authorization
  if (issuer === undefined || entry.source === 'server' || !readsMetadata(entry.provider)) return entry
  const pause = pausesOf(broker).get(issuer)
  if (pause !== undefined && secondsLeft(pause, broker.now()) > 0) return entry
  const reading = read(broker, entry, issuer)
  return Promise.race([reading, sleep(LONGEST_WAIT_MS, entry, { ref: false })])
}

async function read(broker: Broker, entry: ProviderEntry, issuer: string): Promise<ProviderEntry> {
  try {
    const metadata = await broker.discover(issuer)
    pausesOf(broker).delete(issuer)
    if (unchanged(withMetadata(entry.provider, metadata), entry.provider)) return entry
    const { providers } = broker.store
    const stored = () => providers.findByUid(entry.uid)
    return await changeRow(`The provider "${entry.id}"`, await stored(), stored, async (before) => {
      if (before === undefined || before.provider.issuer !== issuer) return entry
      const provider = withMetadata(before.provider, metadata)
      if (unchanged(provider, before.provider)) return before
      const endpoints = movedHosts(before.provider, provider)
      const audit = broker.audit.of(entry.projectId, {
        action: 'provider.changed',
        providerId: entry.id,
        reason: 'issuer_metadata',
        subject: endpoints,
      })
      const current = await providers.change(before, { ...before, provider, updatedAt: broker.now() }, audit)
      if (current !== undefined)
        broker.log.warn(
          { provider: entry.id, issuer, endpoints },
          'the metadata of an issuer has changed; the provider entry was updated',
        )
      return current
    })
  } catch (error) {
    if (error instanceof BrokerError) {
      broker.log.warn(
        { provider: entry.id, issuer, error: error.code },
        'the changed metadata of an issuer cannot be stored; the entry stays unchanged',
      )
      return entry
    }
    if (!(error instanceof ProviderRefusal)) throw error
    const paused = pausesOf(broker)
    if (paused.size > 1_000) paused.clear()
    paused.set(issuer, { from: broker.now(), until: broker.now() + PAUSE_SECONDS })
    broker.log.warn(
      { provider: entry.id, issuer, error: error.name },
      'the metadata of an issuer cannot be read; the entry stays unchanged',
    )
    return entry
  }
}

function pausesOf(broker: Broker): Map<string, Pause> {
  const known = pauses.get(broker)
  if (known !== undefined) return known
  const fresh = new Map<string, Pause>()
  pauses.set(broker, fresh)
  return fresh
}

function unchanged(one: Provider, other: Provider): boolean {
  const text = (provider: Provider) =>
    JSON.stringify(Object.entries(provider).sort(([a], [b]) => (a < b ? -1 : 1)))
  return text(one) === text(other)
}

/** The moved endpoints with their new hosts, for the audit trail. */
function movedHosts(before: Provider, after: Provider): string {
  const old: Record<string, string | undefined> = endpointsOf(before)
  const moved = Object.entries(endpointsOf(after)).filter(([role, endpoint]) => old[role] !== endpoint)
  return moved.map(([role, endpoint]) => `${role}: ${new URL(endpoint).host}`).join(', ') || 'settings'
}
