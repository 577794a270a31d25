import type { Broker } from '../../broker.ts'
import type { ProviderEntry } from '../../providers/provider.ts'

/**
 * Where the broker's metadata as a client of that entry stands, which is its client id there
 * (draft-ietf-oauth-client-id-metadata-document): one for each entry, as each has a redirect URI of its own.
 */
export function clientMetadataUrl(
  { settings }: Pick<Broker, 'settings'>,
  { uid }: Pick<ProviderEntry, 'uid'>,
): string {
  return new URL(`/oauth/client/${uid}`, settings.publicUrl).href
}
