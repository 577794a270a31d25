import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/**
 * Which pages a session is for: a user's own (`/me`), the operator's console (`/dashboard`), or those on which a user
 * connects accounts and approves MCP clients (`user`).
 */
export type PageSessionKind = 'me' | 'console' | 'user'

/** The stored session of a browser on pages that need a login. */
export interface PageSession {
  /** The SHA-256 of the token in the browser's cookie. */
  readonly id: string
  readonly kind: PageSessionKind
  readonly projectId: string
  /** The user of `me` and `user`; of `console` the API key's id or the subject at the issuer. */
  readonly subject: string
  /** Sealed JSON: what the session may do, and when its owner logged in. */
  readonly payload: Sealed
  readonly createdAt: EpochSeconds
  readonly lastSeenAt: EpochSeconds
  /** The session ends at this time even if it is used. */
  readonly expiresAt: EpochSeconds
}
