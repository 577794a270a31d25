import type { EpochSeconds } from '../../domain/clock.ts'

/**
 * Lets a page of an application connect one user. The session's token can open, read, cancel and restart one
 * authorization, from pages of one origin.
 */
export interface ConnectSession {
  /** `cs_…` */
  readonly id: string
  readonly projectId: string
  readonly userId: string
  /** SHA-256 of the token. */
  readonly tokenHash: string
  /**
   * Ids, separated by spaces: that of its latest authorization, and those of the connections that were approved
   * before it began; or only those of the connections that covered the need when the session was made.
   */
  readonly authorizationId: string
  /** The only origin whose pages may use the token. */
  readonly origin: string
  /** SHA-256 of the cookie of the browser that opened the session last; absent: it was never opened. */
  readonly openerHash?: string
  readonly openedIn?: OpenedIn
  /** How many authorizations followed the first. */
  readonly restarts: number
  readonly createdAt: EpochSeconds
  readonly expiresAt: EpochSeconds
  /** Keyed MAC over the members that grant rights (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  /** Keyed MAC over `openerHash` and `openedIn`. */
  readonly openerMac?: string
}

/** A window of its own, which closes itself at the end, or the tab of the application's page. */
export type OpenedIn = 'popup' | 'tab'

/** How long a session lives. */
export const CONNECT_SESSION_SECONDS = 15 * 60
/** How long a page can still ask how the session ended. */
export const ENDED_SESSION_SECONDS = 60
/**
 * How long a session is kept at least, so that the browser that opened it may still click; longer if authorizations live
 * longer. Then it is deleted, because it names a user.
 */
export const OPENER_SECONDS = 3600
/** Limits the authorizations of one session, so that a page that restarts without end does not fill the store. */
export const MAX_RESTARTS = 10

/** Whether the token is valid at `now`; `settledAt` is when the session's authorization ended, if it has. */
export function isLive(
  { expiresAt }: Pick<ConnectSession, 'expiresAt'>,
  settledAt: EpochSeconds | undefined,
  now: EpochSeconds,
): boolean {
  return now < expiresAt && (settledAt === undefined || now < settledAt + ENDED_SESSION_SECONDS)
}
