import { and, count, eq, gt, isNotNull, isNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { ConnectionOwner } from './changes.ts'
import type { Database } from './database.ts'
import { laterUse, type Uses, usedRows } from './last-use.ts'
import type { Lease } from './lease.ts'
import type { Page, PageRequest } from './page.ts'
import type { Tables } from './schema.ts'
import { type Present, placeholdersOf, type Steps, type Transaction, variantsOf } from './statement.ts'

export interface RefreshedTokens {
  readonly access: Sealed
  /** Absent: the response had no refresh token, and the one that was used stays (RFC 6749 section 6). */
  readonly refresh?: Sealed
  readonly tokenType: string
  readonly scopes: readonly string[]
  readonly receivedAt: EpochSeconds
  readonly expiresAt?: EpochSeconds
}

/** Connections whose provider identity is one of `from` get the identity `to`, so that their tokens stay usable. */
export interface KeptConnections {
  readonly from: readonly string[]
  readonly to: string
}

export interface Connections {
  find(id: string): Promise<Connection | undefined>
  /** All connections of one user at one provider, the default first. */
  ofOwner(owner: ConnectionOwner): Promise<readonly Connection[]>
  list(
    projectId: string,
    filter: { readonly userId?: string; readonly providerUid?: string },
    page: PageRequest,
  ): Promise<Page<Connection>>
  /**
   * Takes the lease on refreshing this generation, and counts the request in `unansweredRefreshes` in the same statement
   * until its outcome is known. A lease has one holder; one that has run out may be taken over. `undefined`: another
   * process holds the lease, or the tokens have changed. Goes by the clock of leases (`Dialect.leaseNow`).
   */
  claimRefresh(
    id: string,
    generation: number,
    lease: Lease,
    now: EpochSeconds,
  ): Promise<Connection | undefined>
  /**
   * How many seconds are left of the lease on refreshing this generation, by the clock of `claimRefresh`; `undefined`
   * when `owner` does not hold it, or the tokens have changed.
   */
  leaseLeft(id: string, generation: number, owner: string, now: EpochSeconds): Promise<number | undefined>
  /**
   * Stores refreshed tokens if the tokens that were used are still the stored ones, even when the lease has passed to
   * another process: the provider's only valid response is not discarded because it came late.
   */
  settleRefresh(
    id: string,
    generation: number,
    tokens: RefreshedTokens,
    audit?: AuditEntries,
  ): Promise<Connection | undefined>
  /**
   * Gives the lease back with the tokens unchanged. `answered`: the refresh token was certainly not used up, so the
   * request is no longer counted; `unknown`: it may have been, so the count stays.
   */
  releaseRefresh(id: string, owner: string, outcome: 'answered' | 'unknown'): Promise<void>
  /**
   * Marks the grant as unusable, if its tokens are still those of `generation` and, where `leaseOwner` is given, that
   * owner still holds the lease on refreshing them.
   */
  needsAuthorization(
    id: string,
    generation: number,
    reason: NeedsAuthorizationReason,
    audit?: AuditEntries,
    leaseOwner?: string,
  ): Promise<boolean>
  /**
   * Active connections with a refresh token whose access token expires between now and `before`, lives at least
   * `leastLife` seconds, and was used since it was received; not those that are being refreshed. In the order in which
   * they expire.
   */
  dueForRefresh(
    before: EpochSeconds,
    leastLife: number,
    now: EpochSeconds,
    limit: number,
  ): Promise<readonly Connection[]>
  makeDefault(id: string, audit?: AuditEntries): Promise<void>
  /** Does what `KeptConnections` says for all connections of a provider entry; returns how many it changed. */
  reidentify(
    entry: Pick<ConnectionOwner, 'projectId' | 'providerUid'>,
    kept: KeptConnections,
    audit?: AuditEntries,
  ): Promise<number>
  /** Writes when each connection was last used, by id. A later time that is already stored stays. */
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  /** Deletes the connection and returns it, so that it can be revoked at the provider. */
  delete(id: string, audit?: AuditEntries): Promise<Connection | undefined>
}

type ConnectionRow = Present<Tables['connections']['$inferSelect']>

export function createConnections(database: Database): Connections {
  const { tables, query, statement, read, write, dialect } = database
  const { connections } = tables
  const { heirs, markDefault, unmarkDefault, reidentify } = connectionWrites(database)

  const ofGeneration = ({ id, generation }: { id: string; generation: number }): SQL | undefined =>
    and(eq(connections.id, id), eq(connections.generation, generation), eq(connections.status, 'active'))
  const isUnleased = (now: EpochSeconds) =>
    or(isNull(connections.leaseUntil), lte(connections.leaseUntil, dialect.leaseNow(now)))
  const noLease = { leaseOwner: null, leaseUntil: null }

  const byId = statement((p: { id: string }) =>
    query.select().from(connections).where(eq(connections.id, p.id)),
  )
  const byOwner = statement((p: ConnectionOwner) =>
    query.select().from(connections).where(ownedBy(connections, p)),
  )
  const listed = variantsOf((filter: string) => {
    const matching = (p: ConnectionOwner) =>
      and(
        eq(connections.projectId, p.projectId),
        filter.includes('user') ? eq(connections.userId, p.userId) : undefined,
        filter.includes('provider') ? eq(connections.providerUid, p.providerUid) : undefined,
      )
    return {
      page: statement((p: ConnectionOwner & PageRequest) =>
        query
          .select()
          .from(connections)
          .where(matching(p))
          .orderBy(connections.id)
          .limit(p.limit)
          .offset(p.offset),
      ),
      total: statement((p: ConnectionOwner) =>
        query.select({ total: count() }).from(connections).where(matching(p)),
      ),
    }
  })
  const claim = statement((p: Lease & { id: string; generation: number; now: EpochSeconds }) =>
    query
      .update(connections)
      .set({
        leaseOwner: p.owner,
        leaseUntil: sql`${dialect.leaseNow(p.now)} + ${p.seconds}`,
        unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1`,
      })
      .where(and(ofGeneration(p), isUnleased(p.now)))
      .returning(),
  )
  const left = statement((p: { id: string; generation: number; owner: string; now: EpochSeconds }) =>
    query
      .select({ left: sql`${connections.leaseUntil} - ${dialect.leaseNow(p.now)}`.mapWith(Number) })
      .from(connections)
      .where(and(ofGeneration(p), eq(connections.leaseOwner, p.owner))),
  )
  const settle = statement(
    (p: {
      id: string
      generation: number
      access: Sealed
      refresh: Sealed | undefined
      tokenType: string
      scopes: readonly string[]
      receivedAt: EpochSeconds
      expiresAt: EpochSeconds | undefined
    }) =>
      query
        .update(connections)
        .set({
          access: p.access,
          refresh: sql`coalesce(${p.refresh}, ${connections.refresh})`,
          tokenType: p.tokenType,
          scopes: p.scopes,
          receivedAt: p.receivedAt,
          expiresAt: p.expiresAt,
          status: 'active',
          statusReason: null,
          generation: sql`${connections.generation} + 1`,
          ...noLease,
          unansweredRefreshes: 0,
        })
        .where(and(eq(connections.id, p.id), eq(connections.generation, p.generation)))
        .returning(),
  )
  const release = variantsOf((outcome: 'answered' | 'unknown') =>
    statement((p: { id: string; owner: string }) =>
      query
        .update(connections)
        .set({
          ...noLease,
          ...(outcome === 'answered' && {
            unansweredRefreshes: sql`${connections.unansweredRefreshes} - 1`,
          }),
        })
        .where(and(eq(connections.id, p.id), eq(connections.leaseOwner, p.owner)))
        .returning({ id: connections.id }),
    ),
  )
  const disable = variantsOf((held: 'held' | 'by anyone') =>
    statement((p: { id: string; generation: number; reason: NeedsAuthorizationReason; leaseOwner: string }) =>
      query
        .update(connections)
        .set({
          status: 'needs_authorization',
          statusReason: p.reason,
          ...noLease,
          unansweredRefreshes: 0,
        })
        .where(and(ofGeneration(p), held === 'held' ? eq(connections.leaseOwner, p.leaseOwner) : undefined))
        .returning(),
    ),
  )
  const due = statement((p: { before: EpochSeconds; leastLife: number; now: EpochSeconds; limit: number }) =>
    query
      .select()
      .from(connections)
      .where(
        and(
          eq(connections.status, 'active'),
          isNotNull(connections.refresh),
          lt(connections.expiresAt, p.before),
          gt(connections.expiresAt, p.now),
          sql`${connections.expiresAt} - ${connections.receivedAt} >= ${p.leastLife}`,
          gt(connections.lastUsedAt, connections.receivedAt),
          isUnleased(p.now),
        ),
      )
      .orderBy(connections.expiresAt)
      .limit(p.limit),
  )
  const remove = statement((p: { id: string }) =>
    query.delete(connections).where(eq(connections.id, p.id)).returning(),
  )
  const use = statement((p: { uses: Uses }) =>
    query
      .update(connections)
      .set({ lastUsedAt: laterUse(connections.lastUsedAt) })
      .from(usedRows(dialect, p.uses))
      .where(sql`${connections.id} = used.key`)
      .returning({ id: connections.id }),
  )

  /** Writes one row, and announces it if there was one to write. */
  async function writeRow(
    audit: AuditEntries | undefined,
    body: () => Transaction<readonly ConnectionRow[]>,
  ): Promise<Connection | undefined> {
    const row = await write(audit, function* (announce) {
      const [written] = yield* body()
      if (written !== undefined) announce({ noun: 'connection', id: written.id, owner: ownerOf(written) })
      return written
    })
    return row && toConnection(row)
  }

  return {
    async find(id) {
      const [row] = await read(byId({ id }))
      return row && toConnection(row)
    },
    async ofOwner(owner) {
      return (await read(byOwner(owner))).map(toConnection).sort(byDefaultThenAge)
    },
    async list(projectId, { userId = '', providerUid = '' }, { offset, limit }) {
      const { page, total } = listed(`${userId && 'user'} ${providerUid && 'provider'}`)
      const owner = { projectId, userId, providerUid }
      const rows = await read(page({ ...owner, offset, limit }))
      const [all] = await read(total(owner))
      return { items: rows.map(toConnection), total: all?.total ?? 0 }
    },

    async claimRefresh(id, generation, lease, now) {
      const [row] = await write(undefined, () => claim({ id, generation, ...lease, now }))
      return row && toConnection(row)
    },
    async leaseLeft(id, generation, owner, now) {
      const [row] = await read(left({ id, generation, owner, now }))
      return row && (row.left ?? 0)
    },
    async settleRefresh(id, generation, { refresh, expiresAt, ...tokens }, audit) {
      return writeRow(audit, () => settle({ id, generation, ...tokens, refresh, expiresAt }))
    },
    async releaseRefresh(id, owner, outcome) {
      await write(undefined, () => release(outcome)({ id, owner }))
    },
    async needsAuthorization(id, generation, reason, audit, leaseOwner) {
      const variant = disable(leaseOwner === undefined ? 'by anyone' : 'held')
      const written = await writeRow(audit, () =>
        variant({ id, generation, reason, leaseOwner: leaseOwner ?? '' }),
      )
      return written !== undefined
    },
    async dueForRefresh(before, leastLife, now, limit) {
      return (await read(due({ before, leastLife, now, limit }))).map(toConnection)
    },

    async makeDefault(id, audit) {
      await writeRow(audit, function* () {
        const [chosen] = yield* byId({ id })
        if (chosen === undefined) return []
        const all = yield* heirs(ownerOf(chosen))
        if (!all.some((one) => one.id === id)) return [] // deleted meanwhile
        yield* unmarkDefault(ownerOf(chosen))
        return yield* markDefault({ id })
      })
    },
    async reidentify(entry, kept, audit) {
      const changed = await write(audit, function* (announce) {
        const rows = yield* reidentify({ ...entry, ...kept })
        if (rows.length === 0) return undefined
        announce({ noun: 'provider' })
        return rows.length
      })
      return changed ?? 0
    },
    async used(uses) {
      await write(undefined, () => use({ uses: Object.fromEntries(uses) }))
    },
    async delete(id, audit) {
      return writeRow(audit, function* () {
        const [known] = yield* byId({ id })
        if (known === undefined) return []
        const left = (yield* heirs(ownerOf(known))).filter((one) => one.id !== id)
        const [gone] = yield* remove({ id })
        const [heir] = left
        if (gone?.isDefault && heir !== undefined) yield* markDefault(heir)
        return gone === undefined ? [] : [gone]
      })
    },
  }
}

export type ConnectionWrites = ReturnType<typeof connectionWrites>

/** The writes of connections that are part of other nouns' transactions. */
export function connectionWrites({ tables, query, statement, dialect }: Database) {
  const { connections } = tables

  /**
   * The ids of the owner's connections, oldest first, locked until the transaction ends: so one of them stays the
   * default. Of two transactions that both add the first, the unique index makes one wait and try again.
   */
  const heirs = statement((p: ConnectionOwner) =>
    dialect.lock(
      query
        .select({ id: connections.id })
        .from(connections)
        .where(ownedBy(connections, p))
        .orderBy(connections.id),
      'for update',
    ),
  )
  const markDefault = statement((p: { id: string }) =>
    query.update(connections).set({ isDefault: true }).where(eq(connections.id, p.id)).returning(),
  )
  const unmarkDefault = statement((p: ConnectionOwner) =>
    query
      .update(connections)
      .set({ isDefault: false })
      .where(and(ownedBy(connections, p), eq(connections.isDefault, true)))
      .returning({ id: connections.id }),
  )
  /** Gives the connections of a provider entry that have one of the former identities the new one. */
  const reidentify = statement((p: Pick<ConnectionOwner, 'projectId' | 'providerUid'> & KeptConnections) =>
    query
      .update(connections)
      .set({ providerIdentity: p.to })
      .where(
        and(
          eq(connections.projectId, p.projectId),
          eq(connections.providerUid, p.providerUid),
          sql`${connections.providerIdentity} in (select value from ${dialect.elementsOf(p.from)})`,
        ),
      )
      .returning({ id: connections.id }),
  )
  const newerConsent = statement((p: Pick<Connection, 'id' | 'providerIdentity' | 'consentedAt'>) =>
    query
      .select({ id: connections.id })
      .from(connections)
      .where(
        and(
          eq(connections.id, p.id),
          eq(connections.status, 'active'),
          eq(connections.providerIdentity, p.providerIdentity),
          gt(connections.consentedAt, p.consentedAt),
        ),
      ),
  )
  const upsert = statement((_: Tables['connections']['$inferInsert']) => {
    const row = placeholdersOf(connections)
    return query
      .insert(connections)
      .values(row)
      .onConflictDoUpdate({
        target: connections.id,
        set: {
          accountId: row.accountId,
          accountName: row.accountName,
          scopes: row.scopes,
          status: 'active',
          statusReason: null,
          tokenType: row.tokenType,
          receivedAt: row.receivedAt,
          expiresAt: row.expiresAt,
          access: row.access,
          refresh: sql`coalesce(excluded.refresh, case when excluded.provider_identity = ${connections.providerIdentity} then ${connections.refresh} end)`,
          providerIdentity: row.providerIdentity,
          isDefault: sql`excluded.is_default or ${connections.isDefault}`,
          generation: sql`${connections.generation} + 1`,
          leaseOwner: null,
          leaseUntil: null,
          unansweredRefreshes: 0,
          consentedAt: row.consentedAt,
          withheldScopes: row.withheldScopes,
        },
      })
      .returning({ id: connections.id })
  })

  /**
   * Writes the tokens of a new consent. A grant without a refresh token keeps the stored one, since some providers give
   * it on the first consent only; not when the provider's identity has changed, since that token is another server's or
   * client's. A consent that the user began later is not overwritten.
   */
  function* put(connection: Connection, { makeDefault }: { readonly makeDefault: boolean }): Steps<void> {
    const isFirst = (yield* heirs(ownerOf(connection))).length === 0
    if ((yield* newerConsent(connection)).length > 0) return
    const isDefault = isFirst || makeDefault
    if (isDefault && !isFirst) yield* unmarkDefault(ownerOf(connection))
    const { account, ...rest } = connection
    yield* upsert({ ...rest, accountId: account.id, accountName: account.name, isDefault })
  }

  return { heirs, markDefault, unmarkDefault, reidentify, put }
}

export function ownerOf({ projectId, providerUid, userId }: ConnectionOwner): ConnectionOwner {
  return { projectId, providerUid, userId }
}

function ownedBy(connections: Tables['connections'], owner: ConnectionOwner): SQL | undefined {
  return and(
    eq(connections.projectId, owner.projectId),
    eq(connections.providerUid, owner.providerUid),
    eq(connections.userId, owner.userId),
  )
}

function toConnection({
  accountId,
  accountName,
  leaseOwner: _,
  leaseUntil: __,
  ...row
}: ConnectionRow): Connection {
  return { ...row, account: { id: accountId, name: accountName } }
}

/** Sorted here: SQLite needs four times as long for a connection when it sorts. An id begins with its time. */
function byDefaultThenAge(a: Connection, b: Connection): number {
  return Number(b.isDefault) - Number(a.isDefault) || (a.id < b.id ? -1 : 1)
}
