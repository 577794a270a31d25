import type { EpochSeconds } from '../domain/clock.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Provider } from './provider.ts'

/** A provider in one project: the data, the broker's client there, and its names. */
export interface ProviderEntry {
  /** `prov_…`, over all projects; the last part of its redirect URI. */
  readonly uid: string
  readonly projectId: string
  /** Readable, unique in its project, never changes: `github`, `github-2`. */
  readonly id: string
  /** The name that its source gives it. */
  readonly name: string
  /** Arcade's well-known `provider_id`, such as `github`: a requirement may name it instead of `id`. */
  readonly wellKnownId?: string
  readonly description?: string
  readonly externalId?: string
  readonly status: 'active' | 'inactive'
  /** `server`: created for a remote MCP server that requires OAuth; its tokens are sent to that server only. */
  readonly source: 'metadata' | 'admin' | 'server'
  readonly provider: Provider
  readonly clientId?: string
  readonly clientSecret?: Sealed
  /** The MAC of the members that grant permissions (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

/** The broker's registration at a provider (RFC 6749 section 2), with its secret decrypted. */
export interface Client {
  readonly clientId: string
  readonly clientSecret?: string
  /** The private key of the assertions, where the client has a secret too (`client-key.ts`). */
  readonly privateKey?: string
}

/** A complete entry, ready for requests. `redirectUri` is its own (RFC 9700, mix-up defence). */
export interface RegisteredClient {
  readonly provider: Provider
  readonly client: Client
  readonly redirectUri: string
}
