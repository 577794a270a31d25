import { and, eq, lte } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { type ById, placeholdersOf } from '../../store/statement.ts'
import { deleteInSlices } from '../../store/sweep.ts'
import type { ConnectSession, OpenedIn } from './domain.ts'

/** Sessions in which a page of an application lets a user connect. Rows are kept for some time after they expire. */
export interface ConnectSessions {
  add(session: ConnectSession, audit?: AuditEntries): Promise<void>
  find(id: string): Promise<ConnectSession | undefined>
  findByToken(tokenHash: string): Promise<ConnectSession | undefined>
  /**
   * Binds the session to the browser that has the cookie with the hash `openerHash`, in place of an earlier browser.
   */
  open(
    id: string,
    opener: { readonly openerHash: string; readonly openedIn: OpenedIn; readonly openerMac?: string },
    audit?: AuditEntries,
  ): Promise<ConnectSession | undefined>
  /**
   * Replaces the authorization of the session. Writes nothing and returns `false` if the session's authorization is no
   * longer that of `before`, so that of two racing requests only one replaces it.
   */
  restart(
    before: ConnectSession,
    after: Pick<ConnectSession, 'authorizationId' | 'mac'>,
    audit?: AuditEntries,
  ): Promise<boolean>
  /** Deletes the sessions that had expired at `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createConnectSessions(database: Database): ConnectSessions {
  const { tables, query, statement, read, write } = database
  const { connectSessions } = tables
  const id = { id: connectSessions.id }

  const insert = statement((_: ConnectSession) =>
    query.insert(connectSessions).values(placeholdersOf(connectSessions)).returning(id),
  )
  const byId = statement((p: ById) =>
    query.select().from(connectSessions).where(eq(connectSessions.id, p.id)),
  )
  const byToken = statement((p: { tokenHash: string }) =>
    query.select().from(connectSessions).where(eq(connectSessions.tokenHash, p.tokenHash)),
  )
  const open = statement(
    (p: ById & { openerHash: string; openedIn: OpenedIn; openerMac: string | undefined }) =>
      query
        .update(connectSessions)
        .set({ openerHash: p.openerHash, openedIn: p.openedIn, openerMac: p.openerMac })
        .where(eq(connectSessions.id, p.id))
        .returning(),
  )
  const restart = statement(
    (p: ById & { before: string; authorizationId: string; restarts: number; mac: string | undefined }) =>
      query
        .update(connectSessions)
        .set({ authorizationId: p.authorizationId, restarts: p.restarts, mac: p.mac })
        .where(and(eq(connectSessions.id, p.id), eq(connectSessions.authorizationId, p.before)))
        .returning(id),
  )
  const sweep = deleteInSlices(database, connectSessions, id, (p: { before: EpochSeconds }) =>
    lte(connectSessions.expiresAt, p.before),
  )

  return {
    async add(session, audit) {
      await write(audit, () => insert(session))
    },
    async find(id) {
      return (await read(byId({ id })))[0]
    },
    async findByToken(tokenHash) {
      return (await read(byToken({ tokenHash })))[0]
    },
    async open(id, opener, audit) {
      return write(audit, function* () {
        return (yield* open({ id, openerMac: undefined, ...opener }))[0]
      })
    },
    async restart({ id, authorizationId: before, restarts }, { authorizationId, mac }, audit) {
      const change = { id, before, authorizationId, restarts: restarts + 1, mac }
      return write(audit, function* () {
        return (yield* restart(change)).length > 0
      })
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
