import type { Broker } from '../../broker.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'

/**
 * The URL of the broker's client metadata document for this entry (draft-ietf-oauth-client-id-metadata-document). The
 * URL is also the broker's client id at the authorization server. Each entry has its own document, because each has
 * its own redirect URI.
 */
export function clientMetadataUrl(
  { settings }: Pick<Broker, 'settings'>,
  { uid }: Pick<ProviderEntry, 'uid'>,
): string {
  return new URL(`/oauth/client/${uid}`, settings.publicUrl).href
}
