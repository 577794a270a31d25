import type { EpochSeconds } from '../../domain/clock.ts'

/** What a user may do on their own page, `/me`. */
export const PORTAL_RIGHTS = ['view', 'disconnect', 'connect', 'approve', 'export', 'erase'] as const
export type PortalRight = (typeof PORTAL_RIGHTS)[number]

/** A one-time link to `/me` that a caller asked for. */
export interface PortalTicket {
  /** SHA-256 of the ticket. */
  readonly hash: string
  readonly projectId: string
  readonly userId: string
  /** The user's name as the page shows it; the caller sets it. */
  readonly userDisplay?: string
  readonly may: readonly PortalRight[]
  /** Where the page's link back to the application leads. */
  readonly returnUrl?: string
  readonly lang?: string
  readonly createdAt: EpochSeconds
  readonly expiresAt: EpochSeconds
}
