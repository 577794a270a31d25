import { and, eq, gt, lte } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { PageSession, PageSessionKind } from '../domain/page-session.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { placeholdersOf, variantsOf } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** Sessions of browsers on `/me`, `/dashboard` and the pages of users. A session's id is the hash of the token in the browser's cookie. */
export interface PageSessions {
  /** Adds the session; deletes `replaces`, the browser's former session. */
  add(session: PageSession, replaces?: string, audit?: AuditEntries): Promise<void>
  /** Finds a session if `now` is before its `expiresAt` and it was last used after `seenSince`. */
  find(
    kind: PageSessionKind,
    id: string,
    at: { readonly now: EpochSeconds; readonly seenSince: EpochSeconds },
  ): Promise<PageSession | undefined>
  /** Records that the session was used. */
  seen(id: string, now: EpochSeconds): Promise<void>
  /** Replaces the payload; `false` when the session has ended or its payload has changed since it was read. */
  change(before: PageSession, payload: PageSession['payload']): Promise<boolean>
  /** Ends the session. Returns `false` if there was none. */
  end(id: string, audit?: AuditEntries): Promise<boolean>
  /** Ends all sessions of one kind that the subject has, in one project or in all; returns how many. */
  endOf(kind: PageSessionKind, subject: string, projectId: string | undefined): Promise<number>
  /** Deletes the sessions that have expired; returns how many. */
  sweep(now: EpochSeconds): Promise<number>
}

interface OfSubject {
  readonly kind: PageSessionKind
  readonly projectId: string
  readonly subject: string
}

export function createPageSessions(database: Database): PageSessions {
  const { tables, query, statement, read, write, writeRepeatable } = database
  const { pageSessions } = tables
  const id = { id: pageSessions.id }

  const insert = statement((_: PageSession) =>
    query.insert(pageSessions).values(placeholdersOf(pageSessions)).returning(id),
  )
  const live = statement(
    (p: { kind: PageSessionKind; id: string; now: EpochSeconds; seenSince: EpochSeconds }) =>
      query
        .select()
        .from(pageSessions)
        .where(
          and(
            eq(pageSessions.id, p.id),
            eq(pageSessions.kind, p.kind),
            gt(pageSessions.expiresAt, p.now),
            gt(pageSessions.lastSeenAt, p.seenSince),
          ),
        ),
  )
  const seen = statement((p: { id: string; now: EpochSeconds }) =>
    query.update(pageSessions).set({ lastSeenAt: p.now }).where(eq(pageSessions.id, p.id)).returning(id),
  )
  const change = statement(
    (p: { id: string; before: PageSession['payload']; payload: PageSession['payload'] }) =>
      query
        .update(pageSessions)
        .set({ payload: p.payload })
        .where(and(eq(pageSessions.id, p.id), eq(pageSessions.payload, p.before)))
        .returning(id),
  )
  const end = statement((p: { id: string }) =>
    query.delete(pageSessions).where(eq(pageSessions.id, p.id)).returning(id),
  )
  const endOf = variantsOf((where: 'in one project' | 'in all') =>
    statement((p: OfSubject) =>
      query
        .delete(pageSessions)
        .where(
          and(
            eq(pageSessions.subject, p.subject),
            eq(pageSessions.kind, p.kind),
            where === 'in one project' ? eq(pageSessions.projectId, p.projectId) : undefined,
          ),
        )
        .returning(id),
    ),
  )
  const sweep = deleteInSlices(database, pageSessions, id, (p: { now: EpochSeconds }) =>
    lte(pageSessions.expiresAt, p.now),
  )

  return {
    async add(session, replaces, audit) {
      await write(audit, function* () {
        if (replaces !== undefined) yield* end({ id: replaces })
        return yield* insert(session)
      })
    },
    async find(kind, id, at) {
      return (await read(live({ kind, id, ...at })))[0]
    },
    async seen(id, now) {
      await writeRepeatable(seen({ id, now }))
    },
    async change({ id, payload: before }, payload) {
      return (await write(undefined, () => change({ id, before, payload }))).length > 0
    },
    async end(id, audit) {
      return write(audit, function* () {
        return (yield* end({ id })).length > 0
      })
    },
    async endOf(kind, subject, projectId) {
      const end = endOf(projectId === undefined ? 'in all' : 'in one project')
      return (await writeRepeatable(end({ kind, subject, projectId: projectId ?? '' }))).length
    },
    async sweep(now) {
      return sweep({ now })
    },
  }
}
