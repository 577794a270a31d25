import { isDeepStrictEqual } from 'node:util'
import { and, eq, like, ne } from 'drizzle-orm'
import type { Connection } from '../domain/connection.ts'
import { derivedAccountId, sharedKeyAccountId } from '../domain/derived-account.ts'
import { NO_USER, type SharedConnection } from '../domain/shared-connection.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Announce, ConnectionOwner } from './changes.ts'
import { connectionChange, ownedBy } from './connection-row.ts'
import { connectionWrites } from './connection-writes.ts'
import type { Database } from './database.ts'
import { hasIdInProject } from './row-conditions.ts'
import { type InProject, type OfProject, placeholdersOf, type Steps } from './statement.ts'

/** Connections of projects. Their tokens are connections whose user is empty, and whose account begins with the id. */
export interface SharedConnections {
  /** Adds it, or returns `undefined` when the provider has one of that name. `key`: the connection that holds its key. */
  add(shared: SharedConnection, audit?: AuditEntries, key?: Connection): Promise<SharedConnection | undefined>
  /**
   * Replaces it and deletes its tokens. A key stays, unless it is replaced too. `undefined`, with nothing written, when the
   * row is no longer `from`. Throws `already_exists` when the name is taken.
   */
  change(
    from: SharedConnection,
    to: SharedConnection,
    audit?: AuditEntries,
    key?: Connection,
  ): Promise<SharedConnection | undefined>
  find(projectId: string, id: string): Promise<SharedConnection | undefined>
  /** Oldest first. */
  list(projectId: string): Promise<readonly SharedConnection[]>
  /** Deletes its tokens, so that the next use asks for new ones. A key stays. */
  forgetTokens(of: SharedTokens): Promise<void>
  /** Deletes one such token, so that there is room for another. */
  forgetToken(of: Pick<Connection, 'projectId' | 'providerUid' | 'userId' | 'account'>): Promise<void>
  /** Deletes it with its tokens and its key. */
  delete(of: InProject, audit?: AuditEntries): Promise<boolean>
}

/** What names the tokens of a shared connection, or those of some scopes of a user's connection. */
type SharedTokens = Pick<SharedConnection, 'id' | 'projectId' | 'providerUid'> & {
  /** The owner of a connection whose tokens of some scopes are meant (`isScopeSet`), in place of the project. */
  readonly userId?: string
}

export function createSharedConnections(database: Database): SharedConnections {
  const { tables, query, statement, read, write, dialect } = database
  const { sharedConnections: shared, connections } = tables
  const { put } = connectionWrites(database)
  const byId = statement((p: InProject) => query.select().from(shared).where(hasIdInProject(shared, p)))
  const locked = statement((p: InProject) =>
    dialect.lock(query.select().from(shared).where(hasIdInProject(shared, p)), 'for update'),
  )
  const ofProject = statement((p: OfProject) =>
    query.select().from(shared).where(eq(shared.projectId, p.projectId)).orderBy(shared.id),
  )
  const insert = statement((_: SharedConnection) =>
    query.insert(shared).values(placeholdersOf(shared)).onConflictDoNothing().returning(),
  )
  const update = statement(
    (p: InProject & Pick<SharedConnection, 'name' | 'sharedWith' | 'mac' | 'updatedAt'>) =>
      query
        .update(shared)
        .set({ name: p.name, sharedWith: p.sharedWith, mac: p.mac ?? null, updatedAt: p.updatedAt })
        .where(hasIdInProject(shared, p))
        .returning(),
  )
  const remove = statement((p: InProject) =>
    query.delete(shared).where(hasIdInProject(shared, p)).returning(),
  )
  const removeTokens = statement((p: ConnectionOwner & { accounts: string; kept: string }) =>
    query
      .delete(connections)
      .where(
        and(
          ownedBy(connections, p),
          like(connections.accountId, p.accounts),
          ne(connections.accountId, p.kept),
        ),
      )
      .returning({
        id: connections.id,
        projectId: connections.projectId,
        userId: connections.userId,
        providerUid: connections.providerUid,
      }),
  )
  const CHANGE = { noun: 'shared_connection' } as const

  function* deleteTokens(
    announce: Announce,
    of: ConnectionOwner & { accounts: string; kept: string },
  ): Steps<void> {
    for (const gone of yield* removeTokens(of)) announce(connectionChange(gone))
  }

  function tokensOf(
    { projectId, id, providerUid, userId = NO_USER }: SharedTokens,
    kept = sharedKeyAccountId(id),
  ) {
    return { projectId, providerUid, userId, accounts: derivedAccountId(id, '%'), kept }
  }

  function* putKey(announce: Announce, key: Connection | undefined): Steps<void> {
    if (key === undefined) return
    yield* put(announce, key, { makeDefault: false })
    announce(connectionChange(key))
  }

  return {
    add: (row, audit, key) =>
      write(audit, function* (announce) {
        const [added] = yield* insert(row)
        if (added === undefined) return undefined
        announce(CHANGE)
        yield* putKey(announce, key)
        return added
      }),
    change: (from, to, audit, key) =>
      write(audit, function* (announce) {
        const [current] = yield* locked(from)
        if (!isDeepStrictEqual(current, from)) return undefined
        const [changed] = yield* update(to)
        if (changed === undefined) return undefined
        announce(CHANGE)
        yield* deleteTokens(announce, tokensOf(changed))
        yield* putKey(announce, key)
        return changed
      }),
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    forgetTokens: (of) => write(undefined, (announce) => deleteTokens(announce, tokensOf(of))),
    forgetToken: ({ projectId, providerUid, userId, account }) =>
      write(undefined, (announce) =>
        deleteTokens(announce, { projectId, providerUid, userId, accounts: account.id, kept: '' }),
      ),
    delete: (of, audit) =>
      write(audit, function* (announce) {
        const [gone] = yield* remove(of)
        if (gone === undefined) return false
        announce(CHANGE)
        // a token that a use adds just now is of no use without the row, which each use reads
        yield* deleteTokens(announce, tokensOf(gone, ''))
        return true
      }),
  }
}
