import type { Broker } from '../broker.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { SealedPlace } from '../store/seal.ts'

/** The associated data of a provider entry's sealed client secret. */
export function clientSecretPlace({ uid, projectId }: Pick<ProviderEntry, 'uid' | 'projectId'>): SealedPlace {
  return { table: 'providers', column: 'client_secret', rowId: uid, projectId, providerUid: uid }
}

/** Seals the client secret of a provider entry. */
export function sealClientSecret(
  broker: Pick<Broker, 'sealer'>,
  entry: Pick<ProviderEntry, 'uid' | 'projectId'>,
  secret: string,
): Sealed {
  return broker.sealer.seal(secret, clientSecretPlace(entry))
}
