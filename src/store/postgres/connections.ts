import { and, count, desc, eq, gt, inArray, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Connection } from '../../domain/connection.ts'
import type { ConnectionOwner, Connections, KeptConnections } from '../grants.ts'
import { type ConnectionRow, ownerOf, toConnection } from '../rows.ts'
import type { AuditEntries } from '../store.ts'
import { databaseNow, type PostgresContext, type Transaction } from './database.ts'
import { connections } from './schema.ts'
import { latest } from './uses.ts'

export function postgresConnections({ db, write }: PostgresContext): Connections {
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
    .prepare('connections_by_owner')

  /** Writes one row, and announces it if there was one to write. */
  const writeRow = async (
    audit: AuditEntries | undefined,
    body: (tx: Transaction) => Promise<readonly ConnectionRow[]>,
  ): Promise<Connection | undefined> => {
    const row = await write(audit, async (tx, announce) => {
      const [written] = await body(tx)
      if (written !== undefined) announce({ noun: 'connection', id: written.id, owner: ownerOf(written) })
      return written
    })
    return row && toConnection(row)
  }
  const ofGeneration = (id: string, generation: number): SQL | undefined =>
    and(eq(connections.id, id), eq(connections.generation, generation))
  const isFree = or(isNull(connections.leaseUntil), lte(connections.leaseUntil, databaseNow))

  return {
    async find(id) {
      const [row] = await db.select().from(connections).where(eq(connections.id, id))
      return row && toConnection(row)
    },
    async ofOwner({ projectId, providerUid, userId }) {
      return (await byOwner.execute({ projectId, providerUid, userId })).map(toConnection)
    },
    async list(projectId, { userId, providerUid }, { offset, limit }) {
      const where = and(
        eq(connections.projectId, projectId),
        userId === undefined ? undefined : eq(connections.userId, userId),
        providerUid === undefined ? undefined : eq(connections.providerUid, providerUid),
      )
      const rows = await db
        .select()
        .from(connections)
        .where(where)
        .orderBy(connections.id)
        .limit(limit)
        .offset(offset)
      const [all] = await db.select({ total: count() }).from(connections).where(where)
      return { items: rows.map(toConnection), total: all?.total ?? 0 }
    },

    async claimRefresh(id, generation, { owner, seconds }) {
      const row = await write(undefined, async (tx) => {
        const [claimed] = await tx
          .update(connections)
          .set({
            leaseOwner: owner,
            leaseUntil: sql`${databaseNow} + ${seconds}`,
            unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1`,
          })
          .where(and(ofGeneration(id, generation), eq(connections.status, 'active'), isFree))
          .returning()
        return claimed
      })
      return row && toConnection(row)
    },
    async leaseLeft(id, generation, owner) {
      const [row] = await db
        .select({ left: sql<string>`${connections.leaseUntil} - ${databaseNow}` })
        .from(connections)
        .where(
          and(
            ofGeneration(id, generation),
            eq(connections.status, 'active'),
            eq(connections.leaseOwner, owner),
          ),
        )
      return row && Number(row.left)
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
          .returning(),
      )
    },
    async releaseRefresh(id, owner, outcome) {
      await write(undefined, (tx) =>
        tx
          .update(connections)
          .set({
            leaseOwner: null,
            leaseUntil: null,
            ...(outcome === 'answered' && {
              unansweredRefreshes: sql`${connections.unansweredRefreshes} - 1`,
            }),
          })
          .where(and(eq(connections.id, id), eq(connections.leaseOwner, owner))),
      )
    },
    async needsAuthorization(id, generation, reason, audit, leaseOwner) {
      const written = await writeRow(audit, (tx) =>
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
          .returning(),
      )
      return written !== undefined
    },
    async dueForRefresh(before, leastLife, now, limit) {
      const rows = await db
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
            isFree,
          ),
        )
        .orderBy(connections.expiresAt)
        .limit(limit)
      return rows.map(toConnection)
    },

    async makeDefault(id, audit) {
      await writeRow(audit, async (tx) => {
        const [chosen] = await tx.select().from(connections).where(eq(connections.id, id))
        if (chosen === undefined) return []
        if (!(await lockOwners(tx, chosen)).includes(id)) return [] // deleted meanwhile
        await dropDefault(tx, chosen)
        return tx.update(connections).set({ isDefault: true }).where(eq(connections.id, id)).returning()
      })
    },
    async reidentify(entry, kept, audit) {
      const rekeyed = await write(audit, async (tx, announce) => {
        const changed = await reidentify(tx, entry, kept)
        if (changed > 0) announce({ noun: 'provider' })
        return changed > 0 ? changed : undefined
      })
      return rekeyed ?? 0
    },
    async used(uses) {
      await write(undefined, (tx) => tx.execute(latest('connections', 'last_used_at', uses)))
    },
    async delete(id, audit) {
      return writeRow(audit, async (tx) => {
        const [known] = await tx.select().from(connections).where(eq(connections.id, id))
        if (known === undefined) return []
        const left = (await lockOwners(tx, known)).filter((one) => one !== id)
        const [gone] = await tx.delete(connections).where(eq(connections.id, id)).returning()
        const [heir] = left
        if (gone?.isDefault && heir !== undefined)
          await tx.update(connections).set({ isDefault: true }).where(eq(connections.id, heir))
        return gone === undefined ? [] : [gone]
      })
    },
  }
}

/**
 * Writes the tokens of a new consent. A grant that came without a refresh token keeps the one there is: some
 * providers give it on the first consent only. Not so when the provider's identity has changed: that token is another
 * server's or client's. Nothing is written over a good consent that the user set out for later.
 */
export async function putConnection(
  tx: Transaction,
  connection: Connection,
  { makeDefault }: { readonly makeDefault: boolean },
): Promise<void> {
  const isFirst = (await lockOwners(tx, connection)).length === 0
  const newer = await tx
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
  if (newer.length > 0) return
  const isDefault = isFirst || makeDefault
  if (isDefault && !isFirst) await dropDefault(tx, connection)
  const { account, ...rest } = connection
  await tx
    .insert(connections)
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
        refresh: sql`coalesce(excluded.refresh, case when excluded.provider_identity = ${connections.providerIdentity} then ${connections.refresh} end)`,
        providerIdentity: connection.providerIdentity,
        isDefault: sql`excluded.is_default or ${connections.isDefault}`,
        generation: sql`${connections.generation} + 1`,
        leaseOwner: null,
        leaseUntil: null,
        unansweredRefreshes: 0,
        consentedAt: connection.consentedAt,
        withheldScopes: connection.withheldScopes,
      },
    })
}

/**
 * The ids of the owner's connections, oldest first, which nobody else writes until this transaction ends: so one of
 * them stays the default. Of two that both add the first, the unique index lets one wait and try again.
 */
async function lockOwners(tx: Transaction, owner: ConnectionOwner): Promise<readonly string[]> {
  const rows = await tx
    .select({ id: connections.id })
    .from(connections)
    .where(ownedBy(owner))
    .orderBy(connections.id)
    .for('update')
  return rows.map(({ id }) => id)
}

async function dropDefault(tx: Transaction, owner: ConnectionOwner): Promise<void> {
  await tx
    .update(connections)
    .set({ isDefault: false })
    .where(and(ownedBy(owner), eq(connections.isDefault, true)))
}

function ownedBy({ projectId, providerUid, userId }: ConnectionOwner): SQL | undefined {
  return and(
    eq(connections.projectId, projectId),
    eq(connections.providerUid, providerUid),
    eq(connections.userId, userId),
  )
}

/** Gives a provider entry's connections of the former identities the new one; answers how many. */
export async function reidentify(
  tx: Transaction,
  { projectId, providerUid }: Pick<ConnectionOwner, 'projectId' | 'providerUid'>,
  { from, to }: KeptConnections,
): Promise<number> {
  const kept = await tx
    .update(connections)
    .set({ providerIdentity: to })
    .where(
      and(
        eq(connections.projectId, projectId),
        eq(connections.providerUid, providerUid),
        inArray(connections.providerIdentity, [...from]),
      ),
    )
    .returning({ id: connections.id })
  return kept.length
}
