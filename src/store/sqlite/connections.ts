import { and, count, desc, eq, gt, inArray, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Connection } from '../../domain/connection.ts'
import type { ConnectionOwner, Connections, KeptConnections } from '../grants.ts'
import { type ConnectionRow, ownerOf, toConnection } from '../rows.ts'
import type { AuditEntries } from '../store.ts'
import type { SqliteContext, Transaction } from './database.ts'
import { connections } from './schema.ts'

export function sqliteConnections({ db, write }: SqliteContext): Connections {
  const byOwner = db
    .select()
    .from(connections)
    .where(
      and(
        eq(connections.projectId, sql.placeholder('projectId')),
        eq(connections.providerUid, sql.placeholder('providerUid')),
        eq(connections.userId, sql.placeholder('userId')),
      ),
    )
    .orderBy(desc(connections.isDefault), connections.id)
    .prepare()
  const find = (id: string) => db.select().from(connections).where(eq(connections.id, id)).get()

  /** Writes one row, and announces it if there was one to write. */
  const writeRow = (
    audit: AuditEntries | undefined,
    body: (tx: Transaction) => ConnectionRow | undefined,
  ): Connection | undefined => {
    const row = write(audit, (tx, announce) => {
      const written = body(tx)
      if (written !== undefined) announce({ noun: 'connection', id: written.id, owner: ownerOf(written) })
      return written
    })
    return row && toConnection(row)
  }
  const ofGeneration = (id: string, generation: number): SQL | undefined =>
    and(eq(connections.id, id), eq(connections.generation, generation))

  return {
    async find(id) {
      const row = find(id)
      return row && toConnection(row)
    },
    async ofOwner({ projectId, providerUid, userId }) {
      return byOwner.all({ projectId, providerUid, userId }).map(toConnection)
    },
    async list(projectId, { userId, providerUid }, { offset, limit }) {
      const where = and(
        eq(connections.projectId, projectId),
        userId === undefined ? undefined : eq(connections.userId, userId),
        providerUid === undefined ? undefined : eq(connections.providerUid, providerUid),
      )
      const rows = db
        .select()
        .from(connections)
        .where(where)
        .orderBy(connections.id)
        .limit(limit)
        .offset(offset)
        .all()
      const total = db.select({ total: count() }).from(connections).where(where).get()?.total ?? 0
      return { items: rows.map(toConnection), total }
    },

    async claimRefresh(id, generation, lease, now) {
      const row = write(undefined, (tx) =>
        tx
          .update(connections)
          .set({
            leaseOwner: lease.owner,
            leaseUntil: now + lease.seconds,
            unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1`,
          })
          .where(
            and(
              ofGeneration(id, generation),
              eq(connections.status, 'active'),
              or(isNull(connections.leaseUntil), lte(connections.leaseUntil, now)),
            ),
          )
          .returning()
          .get(),
      )
      return row && toConnection(row)
    },
    async leaseLeft(id, generation, owner, now) {
      const row = db
        .select({ until: connections.leaseUntil })
        .from(connections)
        .where(
          and(
            ofGeneration(id, generation),
            eq(connections.status, 'active'),
            eq(connections.leaseOwner, owner),
          ),
        )
        .get()
      return row && (row.until ?? now) - now
    },
    async settleRefresh(id, generation, tokens, audit) {
      return writeRow(audit, (tx) =>
        tx
          .update(connections)
          .set({
            access: tokens.access,
            ...(tokens.refresh !== undefined && { refresh: tokens.refresh }),
            tokenType: tokens.tokenType,
            scopes: tokens.scopes,
            receivedAt: tokens.receivedAt,
            expiresAt: tokens.expiresAt ?? null,
            status: 'active',
            statusReason: null,
            generation: generation + 1,
            leaseOwner: null,
            leaseUntil: null,
            unansweredRefreshes: 0,
          })
          .where(ofGeneration(id, generation))
          .returning()
          .get(),
      )
    },
    async releaseRefresh(id, owner, outcome) {
      db.update(connections)
        .set({
          leaseOwner: null,
          leaseUntil: null,
          ...(outcome === 'answered' && {
            unansweredRefreshes: sql`${connections.unansweredRefreshes} - 1`,
          }),
        })
        .where(and(eq(connections.id, id), eq(connections.leaseOwner, owner)))
        .run()
    },
    async needsAuthorization(id, generation, reason, audit, leaseOwner) {
      const written = writeRow(audit, (tx) =>
        tx
          .update(connections)
          .set({
            status: 'needs_authorization',
            statusReason: reason,
            leaseOwner: null,
            leaseUntil: null,
            unansweredRefreshes: 0,
          })
          .where(
            and(
              ofGeneration(id, generation),
              eq(connections.status, 'active'),
              leaseOwner === undefined ? undefined : eq(connections.leaseOwner, leaseOwner),
            ),
          )
          .returning()
          .get(),
      )
      return written !== undefined
    },
    async dueForRefresh(before, leastLife, now, limit) {
      return db
        .select()
        .from(connections)
        .where(
          and(
            eq(connections.status, 'active'),
            isNotNull(connections.refresh),
            lt(connections.expiresAt, before),
            gt(connections.expiresAt, now),
            sql`${connections.expiresAt} - ${connections.receivedAt} >= ${leastLife}`,
            gt(connections.lastUsedAt, connections.receivedAt),
            or(isNull(connections.leaseUntil), lte(connections.leaseUntil, now)),
          ),
        )
        .orderBy(connections.expiresAt)
        .limit(limit)
        .all()
        .map(toConnection)
    },

    async makeDefault(id, audit) {
      writeRow(audit, (tx) => {
        const chosen = tx.select().from(connections).where(eq(connections.id, id)).get()
        if (chosen === undefined) return undefined
        dropDefault(tx, chosen)
        return tx.update(connections).set({ isDefault: true }).where(eq(connections.id, id)).returning().get()
      })
    },
    async reidentify(entry, kept, audit) {
      const rekeyed = write(audit, (tx, announce) => {
        const changed = reidentify(tx, entry, kept)
        if (changed > 0) announce({ noun: 'provider' })
        return changed > 0 ? changed : undefined
      })
      return rekeyed ?? 0
    },
    async used(uses) {
      db.transaction((tx) => {
        for (const [id, at] of uses)
          tx.update(connections).set({ lastUsedAt: at }).where(eq(connections.id, id)).run()
      })
    },
    async delete(id, audit) {
      return writeRow(audit, (tx) => {
        const gone = tx.delete(connections).where(eq(connections.id, id)).returning().get()
        if (gone?.isDefault) {
          const heir = tx.select().from(connections).where(ownedBy(gone)).orderBy(connections.id).get()
          if (heir) tx.update(connections).set({ isDefault: true }).where(eq(connections.id, heir.id)).run()
        }
        return gone
      })
    },
  }
}

/**
 * Writes the tokens of a new consent. A grant that came without a refresh token keeps the one there is: some
 * providers give it on the first consent only. Not so when the provider's identity has changed: that token is another
 * server's or client's. Nothing is written over a good consent that the user set out for later.
 */
export function putConnection(
  tx: Transaction,
  connection: Connection,
  { makeDefault }: { readonly makeDefault: boolean },
): void {
  const newer = tx
    .select({ id: connections.id })
    .from(connections)
    .where(
      and(
        eq(connections.id, connection.id),
        eq(connections.status, 'active'),
        eq(connections.providerIdentity, connection.providerIdentity),
        gt(connections.consentedAt, connection.consentedAt),
      ),
    )
    .get()
  if (newer !== undefined) return
  const first =
    tx.select({ id: connections.id }).from(connections).where(ownedBy(connection)).get() === undefined
  const isDefault = first || makeDefault
  if (isDefault) dropDefault(tx, connection)
  const { account, ...rest } = connection
  tx.insert(connections)
    .values({ ...rest, accountId: account.id, accountName: account.name, isDefault })
    .onConflictDoUpdate({
      target: connections.id,
      set: {
        accountId: account.id,
        accountName: account.name,
        scopes: connection.scopes,
        status: 'active',
        statusReason: null,
        tokenType: connection.tokenType,
        receivedAt: connection.receivedAt,
        expiresAt: connection.expiresAt ?? null,
        access: connection.access,
        refresh: sql`coalesce(excluded.refresh, iif(excluded.provider_identity = ${connections.providerIdentity}, ${connections.refresh}, null))`,
        providerIdentity: connection.providerIdentity,
        isDefault: sql`max(excluded.is_default, ${connections.isDefault})`,
        generation: sql`${connections.generation} + 1`,
        leaseOwner: null,
        leaseUntil: null,
        unansweredRefreshes: 0,
        consentedAt: connection.consentedAt,
        withheldScopes: connection.withheldScopes,
      },
    })
    .run()
}

function dropDefault(tx: Transaction, owner: ConnectionOwner): void {
  tx.update(connections)
    .set({ isDefault: false })
    .where(and(ownedBy(owner), eq(connections.isDefault, true)))
    .run()
}

function ownedBy({ projectId, providerUid, userId }: ConnectionOwner): SQL | undefined {
  return and(
    eq(connections.projectId, projectId),
    eq(connections.providerUid, providerUid),
    eq(connections.userId, userId),
  )
}

/** Gives a provider entry's connections of the former identities the new one; answers how many. */
export function reidentify(
  tx: Pick<Transaction, 'update'>,
  { projectId, providerUid }: Pick<ConnectionOwner, 'projectId' | 'providerUid'>,
  { from, to }: KeptConnections,
): number {
  return tx
    .update(connections)
    .set({ providerIdentity: to })
    .where(
      and(
        eq(connections.projectId, projectId),
        eq(connections.providerUid, providerUid),
        inArray(connections.providerIdentity, [...from]),
      ),
    )
    .run().changes
}
