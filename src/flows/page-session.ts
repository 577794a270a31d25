import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { randomToken, sha256 } from '../domain/ids.ts'
import type { PageSession, PageSessionKind } from '../domain/page-session.ts'
import { withoutUndefined } from '../sdk/without-undefined.ts'
import { csrfToken } from '../services/csrf-token.ts'
import type { AuditEntries } from '../store/audit-entries.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { openCarried } from './carried-seal.ts'

// Sessions of the pages `/me` and `/dashboard`, and of users who have logged in (user-session.ts). The browser's cookie holds a random token. The row is found by the token's
// hash, and its sealed payload says what the session may do. Each login makes a new token, so a token that an attacker
// planted in the browser before the login is worthless afterwards (session fixation).

/** A session that is not used for this long has ended. */
export const IDLE_SECONDS = 30 * 60
/** How long a login counts as recent, for actions that need a recent one (keys, secrets, export, deletion). */
export const RECENT_SECONDS = 5 * 60
/** The last use of a session is written at most once in this time. */
const SEEN_SECONDS = 60
/** The `PageRights.authority` of a session of `/me` that a caller's one-time link began. */
export const BY_TICKET = 'ticket'
/** The longest life of each kind of session. */
export const LONGEST_SECONDS = { me: 8 * 3600, console: 12 * 3600, user: 8 * 3600 } as const satisfies Record<
  PageSessionKind,
  number
>

/** What a session holds besides its row. */
export interface PageRights {
  /** What the session may do, in words of its kind: rights of `/me`, roles of the console. */
  readonly may: readonly string[]
  /** Who identified the subject. The session is invalid once the settings name another. */
  readonly authority: string
  /** The name that the pages show. */
  readonly display?: string | undefined
  /** When the subject logged in; absent if the issuer did not say and may have had a session before. */
  readonly authTime?: EpochSeconds | undefined
  /** The console: the project that the pages show. */
  readonly shownProjectId?: string
  /** The console: the ids that this person may have as a user, so that they do not decide about their own calls. */
  readonly userIds?: readonly string[] | undefined
  /** `/me`: where the page's link back to the application leads. */
  readonly returnUrl?: string | undefined
  /** `/me`: the language that the caller chose. */
  readonly lang?: string | undefined
  /** `user`: the origin of the login; absent: the public URL. */
  readonly origin?: string
}

/** A session that a request has opened by its cookie. */
export interface OpenedPageSession extends PageRights {
  readonly kind: PageSessionKind
  readonly projectId: string
  readonly subject: string
  /**
   * The token that every form of the session's pages must send (cross-site request forgery). It is bound to
   * `shownProjectId`, so that a form changes no other project than its page showed.
   */
  readonly csrf: string
  readonly row: PageSession
}

/** Starts a session; returns the token for the browser's cookie. `replaces`: the token that the cookie had until now. */
export async function beginPageSession(
  broker: Broker,
  {
    kind,
    projectId,
    subject,
    replaces,
    audit,
    ...rights
  }: PageRights & {
    readonly kind: PageSessionKind
    readonly projectId: string
    readonly subject: string
    readonly replaces?: string | undefined
    readonly audit?: AuditEntries
  },
): Promise<{ readonly token: string; readonly seconds: number }> {
  const token = randomToken()
  const id = sha256(token)
  const now = broker.now()
  const seconds = LONGEST_SECONDS[kind]
  await broker.store.pageSessions.add(
    {
      id,
      kind,
      projectId,
      subject,
      payload: sealRights(broker, { id, kind, projectId, subject, expiresAt: now + seconds }, rights),
      createdAt: now,
      lastSeenAt: now,
      expiresAt: now + seconds,
    },
    replaces === undefined ? undefined : sha256(replaces),
    audit,
  )
  return { token, seconds }
}

/**
 * The session of the cookie's token; `undefined` when it has ended, was idle for too long, or was altered. A session of
 * the kind `user` may be idle for its whole life.
 *
 * @param options.isUse `false` for requests that a script sends at intervals: they do not prolong the session.
 */
export async function openPageSession(
  broker: Broker,
  kind: PageSessionKind,
  token: string | undefined,
  { isUse = true }: { readonly isUse?: boolean } = {},
): Promise<OpenedPageSession | undefined> {
  if (token === undefined || !/^[\w-]{43}$/.test(token)) return undefined
  const now = broker.now()
  const id = sha256(token)
  const idle = kind === 'user' ? LONGEST_SECONDS.user : IDLE_SECONDS
  const row = await broker.store.pageSessions.find(kind, id, { now, seenSince: now - idle })
  if (row === undefined) return undefined
  const kept = openCarried<KeptRights>(
    broker.sealer,
    row.payload,
    sealingContext('pageSessions', 'payload', { id, projectId: row.projectId }),
  )
  if (kept === undefined || kept.of !== boundTo(row)) return undefined
  const { of: _, ...rights } = kept
  const { shownProjectId } = rights
  if (isUse && now - row.lastSeenAt >= SEEN_SECONDS)
    await broker.store.pageSessions.seen(id, now).catch((error: unknown) => {
      // pages can be read while the database cannot be written; the session then ends by its idle time
      broker.log.warn({ error }, 'the use of a page session could not be stored')
    })
  const { projectId, subject } = row
  return {
    ...rights,
    kind,
    projectId,
    subject,
    csrf: csrfOf(broker, { id, shownProjectId }),
    row,
  }
}

/**
 * Replaces the session's payload; `false` if the session has ended, or another request has changed it, since it was
 * read.
 */
export async function changePageSession(
  broker: Broker,
  { row }: OpenedPageSession,
  rights: PageRights,
): Promise<boolean> {
  return broker.store.pageSessions.change(row, sealRights(broker, row, rights))
}

/** Ends the session of the cookie's token. */
export async function endPageSession(
  broker: Broker,
  token: string | undefined,
  audit?: AuditEntries,
): Promise<void> {
  if (token !== undefined) await broker.store.pageSessions.end(sha256(token), audit)
}

/** Whether the subject has logged in recently enough for actions that need a recent login. */
export function isRecentLogin({ now }: Pick<Broker, 'now'>, { authTime }: PageRights): boolean {
  return authTime !== undefined && now() - authTime <= RECENT_SECONDS
}

interface KeptRights extends PageRights {
  readonly of: string
}

type BoundRow = Pick<PageSession, 'kind' | 'subject' | 'expiresAt'>

/** The members of the row to which the payload is bound, so that a changed row in the database is no session of another person. */
function boundTo({ kind, subject, expiresAt }: BoundRow): string {
  return JSON.stringify([kind, subject, expiresAt])
}

function sealRights(
  broker: Broker,
  row: BoundRow & Pick<PageSession, 'id' | 'projectId'>,
  rights: PageRights,
) {
  const { may, authority, display, authTime, shownProjectId, userIds, returnUrl, lang, origin } = rights
  const of = boundTo(row)
  const kept: KeptRights = withoutUndefined({
    of,
    may,
    authority,
    display,
    authTime,
    shownProjectId,
    userIds,
    returnUrl,
    lang,
    origin,
  })
  return broker.sealer.seal(JSON.stringify(kept), sealingContext('pageSessions', 'payload', row))
}

/** The CSRF token of the forms of a page of the session that shows this project. */
export function csrfOf(
  broker: Pick<Broker, 'confirmations'>,
  { id, shownProjectId }: { readonly id: string; readonly shownProjectId?: string | undefined },
): string {
  return csrfToken(broker, 'page session', id, ...(shownProjectId === undefined ? [] : [shownProjectId]))
}
