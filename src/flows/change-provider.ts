import type { Broker } from '../broker.ts'
import type { AuditEvent } from '../domain/audit.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { providerIdentity } from './get-provider.ts'

/**
 * Stores a change of an entry, and returns it; `undefined`, with nothing stored, when the entry is no longer `before`. If
 * the change alters the entry's identity, its connections need a new consent, unless they are kept (`keepConnections`). The
 * audit trail records that decision, and the confirmation of an environment's client, as entries of their own.
 */
export async function changeProvider(
  broker: Broker,
  before: ProviderEntry,
  entry: ProviderEntry,
  { keepConnections, confirmed }: { readonly keepConnections: boolean; readonly confirmed: boolean },
): Promise<ProviderEntry | undefined> {
  const from = providerIdentity(broker, before)
  const to = providerIdentity(broker, entry)
  const identity = keepConnections && from !== to ? { from: [from], to } : undefined
  const actions: AuditEvent['action'][] = [
    'provider.changed',
    ...(identity === undefined ? [] : (['provider.connections_kept'] as const)),
    ...(confirmed ? (['provider.environment_client_confirmed'] as const) : []),
  ]
  const entries = actions.map((action) => broker.audit.of(entry.projectId, { action, providerId: entry.id }))
  const [first] = entries
  const audit = first && { ...first, lines: entries.flatMap(({ lines }) => lines) }
  return broker.store.providers.change(before, entry, audit, identity)
}
