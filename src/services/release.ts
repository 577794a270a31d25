import type { AccessSecrets, Connection } from '../domain/connection.ts'
import type { ProviderEntry } from '../providers/provider.ts'

/** A token on its way to a caller or a tool, once `releaseTokens` has it recorded. */
export interface Release extends AccessSecrets {
  readonly connection: Connection
  readonly entry: ProviderEntry
  readonly fingerprint: string
}

/** A connection as the cache holds it: opened once, not per request. */
export interface HeldConnection {
  readonly connection: Connection
  opened?: AccessSecrets & Pick<Release, 'fingerprint'>
}
