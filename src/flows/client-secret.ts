import type { Broker } from '../broker.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { sealingContext } from '../store/protected-tables.ts'

/** Seals the client secret of a provider entry. */
export function sealClientSecret(
  broker: Pick<Broker, 'sealer'>,
  entry: Pick<ProviderEntry, 'uid' | 'projectId'>,
  secret: string,
): Sealed {
  return broker.sealer.seal(secret, sealingContext('providers', 'client_secret', entry))
}
