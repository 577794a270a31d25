import type { AccessSecrets, Connection } from '../domain/connection.ts'
import type { ProviderEntry } from '../providers/provider.ts'

/** A token for a caller or a tool. It may be handed out when `releaseTokens` has recorded it. */
export interface Release extends AccessSecrets {
  readonly connection: Connection
  readonly entry: ProviderEntry
  readonly fingerprint: string
}

/** A cached connection; its tokens are decrypted once, not per request. */
export interface CachedConnection {
  readonly connection: Connection
  opened?: AccessSecrets & Pick<Release, 'fingerprint'>
}
