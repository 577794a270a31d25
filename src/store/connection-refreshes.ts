import { and, eq, gt, inArray, isNotNull, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection, NeedsAuthorizationReason, SealedGrant } from '../domain/connection.ts'
import { overAllOwners } from './all-owners.ts'
import type { AuditEntries } from './audit-entries.ts'
import { connectionChange, connectionColumns } from './connection-row.ts'
import type { Database } from './database.ts'
import { createLeaseClock, isUnleased, type Lease, leaseEnd, NO_LEASE } from './lease.ts'
import { hasId } from './row-conditions.ts'
import { variantsOf } from './statement.ts'
import { inSlices, VISITED_AT_ONCE } from './sweep.ts'
import { withLines } from './trail-column.ts'

/** A connection that is being refreshed, with its trail. */
export type ClaimedConnection = Connection & { readonly trail?: string }

/** The values that a connection must still have. An absent member is not compared. */
export interface StillHeld {
  /** The owner of the lease on refreshing the connection. */
  readonly leaseOwner?: string | undefined
  readonly providerIdentity?: string | undefined
}

/** The part of `Connections` for refreshing. A lease ensures that one process at a time sends a refresh token. */
export interface ConnectionRefreshes {
  /**
   * Takes the lease on refreshing this generation. The same statement counts the request in `unansweredRefreshes`, until
   * its outcome is known. A lease has one holder, and another process may take it once it has expired. `undefined`:
   * another process holds the lease, or the tokens have changed. Uses the clock of leases (`Dialect.leaseNow`).
   */
  claimRefresh(
    id: string,
    generation: number,
    lease: Lease,
    now: EpochSeconds,
  ): Promise<ClaimedConnection | undefined>
  /**
   * How many seconds are left of the lease on refreshing this generation, by the clock of `claimRefresh`; `undefined`
   * when `owner` does not hold it, or the tokens have changed.
   */
  leaseLeft(id: string, generation: number, owner: string, now: EpochSeconds): Promise<number | undefined>
  /**
   * Stores refreshed tokens and clears the trail, if the stored tokens are still those of `generation` and active. It does
   * so even when another process has taken over the lease: the provider's only valid response is not lost because it came
   * late. Once the other process was refused, it is too late: a provider that receives a used refresh token may end the
   * whole grant, and these tokens with it.
   * `scopesBefore`: the scopes of the former tokens.
   */
  settleRefresh(
    id: string,
    generation: number,
    tokens: SealedGrant,
    audit?: AuditEntries,
    scopesBefore?: readonly string[],
  ): Promise<Connection | undefined>
  /**
   * Gives the lease back with the tokens unchanged. `answered`: the refresh token is certainly still valid, so the request
   * is no longer counted. `unknown`: the provider may have replaced it, so the count stays. `trail` replaces the stored
   * trail; if it is absent, the stored trail stays.
   */
  releaseRefresh(id: string, owner: string, outcome: 'answered' | 'unknown', trail?: string): Promise<void>
  /**
   * Marks the grant as unusable, if its tokens are still those of `generation` and it still has the values of `held`.
   * Adds `lines` to its trail.
   */
  needsAuthorization(
    id: string,
    generation: number,
    reason: NeedsAuthorizationReason,
    audit?: AuditEntries,
    held?: StillHeld,
    lines?: string,
  ): Promise<boolean>
  /**
   * Notes that the API refused the typed credential of this generation, and returns since when it does. `undefined`: the
   * credential was replaced, or the connection is not active.
   */
  countRefusal(id: string, generation: number, now: EpochSeconds): Promise<EpochSeconds | undefined>
  /** Notes that the API takes the typed credential again. */
  endRefusal(id: string, generation: number): Promise<void>
  /** Active connections whose `refreshAt` has come and that are not being refreshed, the longest overdue first. */
  dueByRefreshAt(now: EpochSeconds, limit: number): Promise<readonly Connection[]>
  /** Sets `refreshAt`, or removes it where `until` is absent, if the tokens are still those of `generation`. */
  postponeRefresh(id: string, generation: number, until: EpochSeconds | undefined): Promise<void>
  /**
   * Active connections with a refresh token whose access token expires between now and `before`, was issued for at least
   * `leastLife` seconds, and was used since it was received. Connections that are being refreshed are left out. The first
   * to expire comes first.
   */
  dueForRefresh(
    before: EpochSeconds,
    leastLife: number,
    now: EpochSeconds,
    limit: number,
  ): Promise<readonly Connection[]>
  /**
   * After the database has lost commits: counts a request of unknown outcome for each active connection that may have been
   * refreshed by one of them. These are the connections whose access token expires or whose refresh is due before
   * `before`, and those that this process has refreshed. Returns how many.
   */
  doubtRefreshes(before: EpochSeconds, now: EpochSeconds): Promise<number>
}

/** How many of the connections that this process has refreshed are remembered. */
const REMEMBERED = 10_000

/** A connection with its tokens of one generation: each change of tokens raises the number. */
type Generation = Pick<Connection, 'id' | 'generation'>

export function createConnectionRefreshes(database: Database): ConnectionRefreshes {
  const { tables, query, statement, read, write, followUp, dialect, isDistributed } = database
  const { connections } = tables
  const columns = connectionColumns(connections)

  const ofGeneration = (p: Generation): SQL | undefined =>
    and(hasId(connections, p), eq(connections.generation, p.generation), eq(connections.status, 'active'))

  const claim = statement((p: Lease & Generation & { now: EpochSeconds }) =>
    query
      .update(connections)
      .set({
        leaseOwner: p.owner,
        leaseUntil: leaseEnd(dialect, p),
        unansweredRefreshes: sql`${connections.unansweredRefreshes} + 1`,
        unansweredSince: sql`case when ${connections.unansweredRefreshes} = 0 then ${p.now} else ${connections.unansweredSince} end`,
      })
      .where(and(ofGeneration(p), isUnleased(dialect, connections.leaseUntil, p.now)))
      .returning({ ...columns, trail: connections.trail }),
  )
  const left = statement((p: Generation & { owner: string; now: EpochSeconds }) =>
    query
      .select({ left: sql`${connections.leaseUntil} - ${dialect.leaseNow(p.now)}`.mapWith(Number) })
      .from(connections)
      .where(and(ofGeneration(p), eq(connections.leaseOwner, p.owner))),
  )
  const until = statement((p: Generation & { owner: string }) =>
    query
      .select({ until: connections.leaseUntil })
      .from(connections)
      .where(and(ofGeneration(p), eq(connections.leaseOwner, p.owner))),
  )
  const clock = isDistributed ? createLeaseClock(database) : undefined
  const settle = statement((p: Generation & SealedGrant) =>
    query
      .update(connections)
      .set({
        access: p.access,
        refresh: sql`coalesce(${p.refresh}, ${connections.refresh})`,
        tokenType: p.tokenType,
        scopes: p.scopes,
        receivedAt: p.receivedAt,
        expiresAt: p.expiresAt,
        refreshExpiresAt: p.refreshExpiresAt,
        refreshAt: p.refreshAt,
        generation: sql`${connections.generation} + 1`,
        ...NO_LEASE,
        unansweredRefreshes: 0,
        trail: null,
      })
      .where(ofGeneration(p))
      .returning(columns),
  )
  const release = variantsOf((outcome: 'answered' | 'unknown') =>
    statement((p: { id: string; owner: string; trail: string | undefined }) =>
      query
        .update(connections)
        .set({
          ...NO_LEASE,
          trail: sql`coalesce(${p.trail}, ${connections.trail})`,
          ...(outcome === 'answered' && {
            unansweredRefreshes: sql`${connections.unansweredRefreshes} - 1`,
          }),
        })
        .where(and(hasId(connections, p), eq(connections.leaseOwner, p.owner)))
        .returning({ id: connections.id }),
    ),
  )
  const disable = variantsOf((lease: 'of owner' | 'of anyone') =>
    statement((p: Generation & StillHeld & { reason: NeedsAuthorizationReason; lines: string }) =>
      query
        .update(connections)
        .set({
          status: 'needs_authorization',
          statusReason: p.reason,
          ...NO_LEASE,
          unansweredRefreshes: 0,
          trail: withLines(connections.trail, p.lines),
        })
        .where(
          and(
            ofGeneration(p),
            lease === 'of owner' ? sql`${connections.leaseOwner} = ${p.leaseOwner}` : undefined,
            sql`${connections.providerIdentity} = coalesce(${p.providerIdentity}, ${connections.providerIdentity})`,
          ),
        )
        .returning(columns),
    ),
  )
  const refuse = statement((p: Generation & { now: EpochSeconds }) =>
    query
      .update(connections)
      .set({ refusedAt: sql`coalesce(${connections.refusedAt}, ${p.now})` })
      .where(ofGeneration(p))
      .returning(columns),
  )
  const accept = statement((p: Generation) =>
    query
      .update(connections)
      .set({ refusedAt: null })
      .where(and(ofGeneration(p), isNotNull(connections.refusedAt)))
      .returning(columns),
  )
  const expiring = overAllOwners(
    database,
    connections,
    (p: { before: EpochSeconds; leastLife: number; now: EpochSeconds; limit: number }, part) =>
      query
        .select(columns)
        .from(connections)
        .where(
          and(
            eq(connections.status, 'active'),
            isNotNull(connections.refresh),
            lt(connections.expiresAt, p.before),
            gt(connections.expiresAt, p.now),
            sql`${connections.expiresAt} - ${connections.receivedAt} >= ${p.leastLife}`,
            gt(connections.lastUsedAt, connections.receivedAt),
            isUnleased(dialect, connections.leaseUntil, p.now),
            part,
          ),
        )
        .orderBy(connections.expiresAt)
        .limit(p.limit),
  )
  const due = overAllOwners(database, connections, (p: { now: EpochSeconds; limit: number }, part) =>
    query
      .select(columns)
      .from(connections)
      .where(
        and(
          eq(connections.status, 'active'),
          isNotNull(connections.refreshAt),
          lte(connections.refreshAt, p.now),
          isUnleased(dialect, connections.leaseUntil, p.now),
          part,
        ),
      )
      .orderBy(connections.refreshAt)
      .limit(p.limit),
  )
  const postpone = statement((p: Generation & { until: EpochSeconds | undefined }) =>
    query
      .update(connections)
      .set({ refreshAt: p.until })
      .where(ofGeneration(p))
      .returning({ id: connections.id }),
  )
  const doubt = statement((p: { ids: readonly string[]; before: EpochSeconds; now: EpochSeconds }) => {
    const isDoubtful = and(
      eq(connections.status, 'active'),
      isNotNull(connections.refresh),
      eq(connections.unansweredRefreshes, 0),
      or(
        lt(connections.expiresAt, p.before),
        lt(connections.refreshAt, p.before),
        sql`${connections.id} in (select value from ${dialect.elementsOf(p.ids)})`,
      ),
    )
    const some = query
      .select({ id: connections.id })
      .from(connections)
      .where(isDoubtful)
      .limit(VISITED_AT_ONCE)
    return query
      .update(connections)
      .set({ unansweredRefreshes: 1, unansweredSince: p.now })
      .where(and(inArray(connections.id, some), isDoubtful))
      .returning({ id: connections.id })
  })
  const claimed = new LRUCache<string, true>({ max: REMEMBERED })

  return {
    async claimRefresh(id, generation, lease, now) {
      claimed.set(id, true)
      return (await write(undefined, () => claim({ id, generation, ...lease, now })))[0]
    },
    async leaseLeft(id, generation, owner, now) {
      if (clock !== undefined) {
        const [held] = await read(until({ id, generation, owner }))
        return held && (held.until ?? 0) - (await clock(now))
      }
      const [row] = await read(left({ id, generation, owner, now }))
      return row && (row.left ?? 0)
    },
    async settleRefresh(id, generation, tokens, audit, scopesBefore = tokens.scopes) {
      return write(audit, function* (announce) {
        const [settled] = yield* settle({ id, generation, ...tokens })
        if (settled === undefined) return undefined
        announce(connectionChange(settled))
        yield* followUp(announce, { kind: 'connection refreshed', connection: settled, scopesBefore })
        return settled
      })
    },
    async releaseRefresh(id, owner, outcome, trail) {
      await write(undefined, () => release(outcome)({ id, owner, trail }))
    },
    async needsAuthorization(id, generation, reason, audit, held = {}, lines = '') {
      const variant = disable(held.leaseOwner === undefined ? 'of anyone' : 'of owner')
      return write(audit, function* (announce) {
        const [marked] = yield* variant({ id, generation, reason, ...held, lines })
        if (marked === undefined) return false
        announce(connectionChange(marked))
        yield* followUp(announce, { kind: 'connection unusable', connection: marked, reason })
        return true
      })
    },
    async countRefusal(id, generation, now) {
      return write(undefined, function* (announce) {
        const [refused] = yield* refuse({ id, generation, now })
        if (refused === undefined) return undefined
        announce(connectionChange(refused))
        return refused.refusedAt ?? now
      })
    },
    async endRefusal(id, generation) {
      await write(undefined, function* (announce) {
        const [accepted] = yield* accept({ id, generation })
        if (accepted !== undefined) announce(connectionChange(accepted))
      })
    },
    async dueByRefreshAt(now, limit) {
      return due({ now, limit }, read)
    },
    async postponeRefresh(id, generation, until) {
      await write(undefined, () => postpone({ id, generation, until }))
    },
    async dueForRefresh(before, leastLife, now, limit) {
      return expiring({ before, leastLife, now, limit }, read)
    },
    doubtRefreshes(before, now) {
      const ids = [...claimed.keys()]
      return inSlices(() => write(undefined, () => doubt({ ids, before, now })))
    },
  }
}
