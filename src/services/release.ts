import type { EpochSeconds } from '../domain/clock.ts'
import type { AccessSecrets, Connection } from '../domain/connection.ts'
import type { SharedConnection } from '../domain/shared-connection.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'

/** A token for a caller or a tool. It may be handed out only after `releaseTokens` has recorded it. */
export interface Release extends AccessSecrets {
  readonly connection: Connection
  readonly entry: ProviderEntry
  readonly fingerprint: string
  /** The broker's client at the provider, for headers of API requests. */
  readonly clientId?: string | undefined
  /** The user for whom a connection of the project is used. Absent: the connection's own user. */
  readonly actingFor?: string | undefined
  /** That connection of the project: the release is recorded only while it is shared so. */
  readonly shared?: SharedConnection | undefined
  /** The connection that users know, where `connection` is only one of its scope sets (`isScopeSet`). */
  readonly shownAs?: string | undefined
  /** Texts that every use of this release needs, made once while the connection is cached. */
  readonly texts: ReleaseTexts
  /** When its uses were noted last. */
  readonly noted: NotedUses
}

/** The user for whom the token is used. */
export function userOf({ actingFor, connection }: Pick<Release, 'actingFor' | 'connection'>): string {
  return actingFor ?? connection.userId
}

/** The id of the connection for callers, users and the audit trail. */
export function shownConnection({ shownAs, connection }: Pick<Release, 'shownAs' | 'connection'>): string {
  return shownAs ?? connection.id
}

/**
 * When uses of a cached connection were queued to be written (`UseLog`). Most uses come within the interval in which a row
 * is written once, and cost a comparison here in place of three look-ups by long keys.
 */
export interface NotedUses {
  connection?: EpochSeconds
  /** As in `ActivityLog.seen`. */
  user?: EpochSeconds
  /** The tool that got the token last, by its id, and when. */
  tool?: { readonly id: string; readonly at: EpochSeconds }
}

export interface ReleaseTexts {
  /** The answer with the token, as JSON. */
  answer?: string
  /** The part of the audit line that names user, provider and connection, as JSON. */
  audited?: string
}

/** A cached connection; its tokens are decrypted once, not per request. */
export interface CachedConnection {
  readonly connection: Connection
  ready?: { readonly outcome: 'ready' } & Release
}

/** The objects of a cached connection without its texts. */
const OBJECTS_BYTES = 2_000

/** Estimates the memory, in bytes, of an owner's cached connections with their decrypted tokens. */
export function bytesOfConnections(held: readonly CachedConnection[]): number {
  return held.reduce(
    (sum, { connection: { access, refresh = '' } }) =>
      // the envelope, the texts in it, and the answer that is made of them
      sum + OBJECTS_BYTES + 3 * access.length + refresh.length,
    200,
  )
}
