import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { needsMetadata, readsMetadata, withMetadata } from '../providers/issuer-metadata.ts'
import { endpointsOf, type Provider, type ProviderEntry } from '../providers/provider.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'

/** How long somebody waits for metadata that is stored already and only read again. */
const LONGEST_WAIT_MS = 2_000
/** An issuer that did not answer is left alone for so long. */
const PAUSE_SECONDS = 60

type Parts = Pick<Broker, 'discover' | 'log'>

/**
 * A new or changed provider with its issuer's metadata. An entry that takes its endpoints from there needs it: throws
 * `provider_unavailable` when it cannot be read now, `invalid_request` when it is not the issuer's or cannot be used.
 * Every other entry is taken as it is, and read again when a user sets out.
 */
export async function discovered({ discover, log }: Parts, provider: Provider): Promise<Provider> {
  const { issuer } = provider
  if (issuer === undefined || !readsMetadata(provider)) return provider
  try {
    return withMetadata(provider, await discover(issuer))
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

const failedAt = new WeakMap<object, Map<string, number>>()

/**
 * The entry as its issuer's metadata has it by now. The issuer's own metadata may move its endpoints; that is stored, on
 * record and in the log. While the issuer does not answer, the entry is what it was.
 */
export async function withCurrentMetadata(broker: Broker, entry: ProviderEntry): Promise<ProviderEntry> {
  const { issuer } = entry.provider
  // an MCP server's is read when that server asks for an authorization
  if (issuer === undefined || entry.source === 'server' || !readsMetadata(entry.provider)) return entry
  const failures = failuresOf(broker)
  if (broker.now() < (failures.get(issuer) ?? 0) + PAUSE_SECONDS) return entry
  const reading = read(broker, entry, issuer)
  return Promise.race([reading, sleep(LONGEST_WAIT_MS, entry, { ref: false })])
}

async function read(broker: Broker, entry: ProviderEntry, issuer: string): Promise<ProviderEntry> {
  try {
    const metadata = await broker.discover(issuer)
    failuresOf(broker).delete(issuer)
    if (unchanged(withMetadata(entry.provider, metadata), entry.provider)) return entry
    // what an administrator has changed meanwhile stays
    const stored = await broker.store.providers.findByUid(entry.uid)
    if (stored === undefined || stored.provider.issuer !== issuer) return entry
    const provider = withMetadata(stored.provider, metadata)
    if (unchanged(provider, stored.provider)) return stored
    const current = { ...stored, provider, updatedAt: broker.now() }
    const audit = broker.audit.of(entry.projectId, {
      action: 'provider.changed',
      providerId: entry.id,
      reason: 'issuer_metadata',
      subject: movedHosts(stored.provider, provider),
    })
    await broker.store.providers.put(current, audit)
    broker.log.warn(
      { provider: entry.id, issuer, endpoints: movedHosts(stored.provider, provider) },
      'the metadata of an issuer says something else than before',
    )
    return current
  } catch (error) {
    if (!(error instanceof ProviderRefusal || error instanceof BrokerError)) throw error
    const failures = failuresOf(broker)
    if (failures.size > 1_000) failures.clear()
    failures.set(issuer, broker.now())
    broker.log.warn(
      { provider: entry.id, issuer, error: error.name },
      'the metadata of an issuer cannot be read; the entry stays as it is',
    )
    return entry
  }
}

function failuresOf(broker: Broker): Map<string, number> {
  const known = failedAt.get(broker)
  if (known !== undefined) return known
  const fresh = new Map<string, number>()
  failedAt.set(broker, fresh)
  return fresh
}

function unchanged(one: Provider, other: Provider): boolean {
  const text = (provider: Provider) =>
    JSON.stringify(Object.entries(provider).sort(([a], [b]) => (a < b ? -1 : 1)))
  return text(one) === text(other)
}

/** Which endpoints have moved, and to which host. */
function movedHosts(before: Provider, after: Provider): string {
  const old: Record<string, string | undefined> = endpointsOf(before)
  const moved = Object.entries(endpointsOf(after)).filter(([role, endpoint]) => old[role] !== endpoint)
  return moved.map(([role, endpoint]) => `${role}: ${new URL(endpoint).host}`).join(', ') || 'settings'
}
