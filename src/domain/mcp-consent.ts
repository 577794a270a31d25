import type { EpochSeconds } from './clock.ts'

/** A user's approval of an MCP client at one redirect URI. */
export interface McpConsent {
  readonly id: string
  readonly projectId: string
  readonly userId: string
  readonly clientId: string
  readonly redirectUri: string
  /** The name that the client gave itself. */
  readonly clientName: string
  readonly scopes: readonly string[]
  /** The grant that the client's tokens belong to; absent once it has ended, so that the user is asked again. */
  readonly grantId?: string
  /** Who identified the user (`verifierName`). */
  readonly verifier?: string
  readonly createdAt: EpochSeconds
  /** When the client last got an access token. */
  readonly lastUsedAt?: EpochSeconds
}
