import { and, count, eq, gt, inArray, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import {
  type Authorization,
  at,
  type Completed,
  EXPIRED_MESSAGE,
  type Pending,
} from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Authorizations } from '../grants.ts'
import {
  type AuthorizationRow,
  NO_ATTEMPT,
  NO_RESPONSE,
  ownerOf,
  refuseMore,
  SETTLED,
  toAuthorization,
  UNSETTLED,
  withConnection,
} from '../rows.ts'
import type { AuditEntries } from '../store.ts'
import { putConnection } from './connections.ts'
import type { SqliteContext, Transaction } from './database.ts'
import { authorizations, providers } from './schema.ts'

export function sqliteAuthorizations({ db, write }: SqliteContext): Authorizations {
  const byId = db
    .select()
    .from(authorizations)
    .where(eq(authorizations.id, sql.placeholder('id')))
    .prepare()
  const unsettled = inArray(authorizations.status, UNSETTLED)

  /** What a new attempt may leave: anything unsettled but an exchange that may still be under way. */
  const attemptable = (now: EpochSeconds) =>
    and(
      gt(authorizations.expiresAt, now),
      or(
        inArray(authorizations.status, ['pending', 'confirming', 'confirmed']),
        and(eq(authorizations.status, 'exchanging'), lte(authorizations.deadline, now)),
      ),
    )

  const isLive = (projectId: string, now: EpochSeconds) =>
    and(
      eq(authorizations.projectId, projectId),
      isNotNull(authorizations.shareKey),
      gt(authorizations.expiresAt, now),
    )

  const liveOf = (tx: Transaction, { projectId, userId }: Pending, now: EpochSeconds) =>
    tx
      .select({ steps: authorizations.steps, expiresAt: authorizations.expiresAt })
      .from(authorizations)
      .where(and(isLive(projectId, now), eq(authorizations.userId, userId)))
      .all()

  /** Writes one row, and announces it if there was one to write. */
  const writeRow = <T extends Authorization>(
    audit: AuditEntries | undefined,
    body: (tx: Transaction) => AuthorizationRow | undefined,
  ): T | undefined => {
    const row = write(audit, (tx, announce) => {
      const written = body(tx)
      if (written !== undefined) announce({ noun: 'authorization', id: written.id })
      return written
    })
    return row && (toAuthorization(row) as T) // the status that the statement has just set
  }

  return {
    async begin(fresh, shareKey, now, most) {
      const row = write(undefined, (tx) => {
        const live = tx.select().from(authorizations).where(eq(authorizations.shareKey, shareKey)).get()
        if (live !== undefined) {
          if (at(toAuthorization(live), now).status !== 'failed') {
            const { nextUri = live.nextUri } = fresh
            return tx
              .update(authorizations)
              .set({ nextUri })
              .where(eq(authorizations.id, live.id))
              .returning()
              .get()
          }
          tx.update(authorizations)
            .set({
              ...SETTLED,
              status: 'failed',
              reason: 'expired',
              message: EXPIRED_MESSAGE,
              completedAt: live.expiresAt,
            })
            .where(eq(authorizations.id, live.id))
            .run()
        }
        if (most !== undefined) refuseMore(fresh, liveOf(tx, fresh, now), now, most)
        return tx
          .insert(authorizations)
          .values({ ...fresh, shareKey })
          .returning()
          .get()
      })
      return toAuthorization(row)
    },

    async countLive(projectId, now) {
      const found = db.select({ live: count() }).from(authorizations).where(isLive(projectId, now)).get()
      return found?.live ?? 0
    },

    async find(id) {
      const row = byId.get({ id })
      return row && toAuthorization(row)
    },
    async findByState(stateHash) {
      const row = db.select().from(authorizations).where(eq(authorizations.stateHash, stateHash)).get()
      return row && toAuthorization(row)
    },
    async findByFlow(flowHash) {
      const row = db.select().from(authorizations).where(eq(authorizations.flowHash, flowHash)).get()
      return row && toAuthorization(row)
    },

    async attempt(id, step, attempt, now) {
      return writeRow(undefined, (tx) =>
        tx
          .update(authorizations)
          .set({ ...NO_ATTEMPT, ...attempt, status: 'pending' })
          .where(and(eq(authorizations.id, id), eq(authorizations.step, step), attemptable(now)))
          .returning()
          .get(),
      )
    },

    async confirming(stateHash, held, now) {
      return writeRow(undefined, (tx) =>
        tx
          .update(authorizations)
          .set({ ...held, status: 'confirming' })
          .where(
            and(
              eq(authorizations.stateHash, stateHash),
              eq(authorizations.status, 'pending'),
              gt(authorizations.expiresAt, now),
            ),
          )
          .returning()
          .get(),
      )
    },

    async confirm(flowHash, now, audit) {
      return writeRow(audit, (tx) =>
        tx
          .update(authorizations)
          .set({ status: 'confirmed' })
          .where(
            and(
              eq(authorizations.flowHash, flowHash),
              eq(authorizations.status, 'confirming'),
              gt(authorizations.expiresAt, now),
              gt(authorizations.deadline, now),
            ),
          )
          .returning()
          .get(),
      )
    },

    async claim(stateHash, now, { from, deadline, claimedBy }) {
      // one UPDATE, so SQLite decides who wins
      return writeRow(undefined, (tx) =>
        tx
          .update(authorizations)
          .set({ status: 'exchanging', deadline, claimedBy, response: null })
          .where(
            and(
              eq(authorizations.stateHash, stateHash),
              eq(authorizations.status, from),
              gt(authorizations.expiresAt, now),
              from === 'confirmed' ? gt(authorizations.deadline, now) : undefined,
            ),
          )
          .returning()
          .get(),
      )
    },

    async finishStep(claimed, connection, { makeDefault }, now, audit) {
      const steps = withConnection(claimed.steps, claimed.step, connection.id)
      const last = claimed.step === steps.length - 1
      const row = write(audit, (tx, announce) => {
        const provider = tx
          .select({ uid: providers.uid })
          .from(providers)
          .where(eq(providers.uid, connection.providerUid))
          .get()
        if (provider === undefined) return undefined
        const finished = tx
          .update(authorizations)
          .set(
            last
              ? { ...SETTLED, status: 'completed', steps, completedAt: now }
              : {
                  ...NO_ATTEMPT,
                  status: 'pending',
                  flowHash: claimed.flowHash ?? null,
                  steps,
                  step: claimed.step + 1,
                },
          )
          .where(
            and(
              eq(authorizations.id, claimed.id),
              eq(authorizations.status, 'exchanging'),
              eq(authorizations.stateHash, claimed.attempt.stateHash),
              // past both it has ended as expired, and whoever waited was told so
              or(gt(authorizations.deadline, now), gt(authorizations.expiresAt, now)),
            ),
          )
          .returning()
          .get()
        if (finished === undefined) return undefined
        putConnection(tx, connection, { makeDefault })
        announce({ noun: 'connection', id: connection.id, owner: ownerOf(connection) })
        announce({ noun: 'authorization', id: finished.id })
        return finished
      })
      return row && (toAuthorization(row) as Pending | Completed) // the status that the statement has just set
    },

    async fail(id, reason, message, now, stateHash, audit) {
      return writeRow(audit, (tx) =>
        tx
          .update(authorizations)
          .set({ ...SETTLED, status: 'failed', reason, message, completedAt: now })
          .where(
            and(
              eq(authorizations.id, id),
              unsettled,
              stateHash === undefined ? undefined : eq(authorizations.stateHash, stateHash),
            ),
          )
          .returning()
          .get(),
      )
    },

    async forgetResponses(now) {
      return db
        .update(authorizations)
        .set(NO_RESPONSE)
        .where(and(isNotNull(authorizations.response), lte(authorizations.deadline, now)))
        .run().changes
    },

    async sweep(before) {
      return db
        .delete(authorizations)
        .where(
          or(
            and(isNotNull(authorizations.completedAt), lt(authorizations.completedAt, before)),
            and(isNull(authorizations.completedAt), lt(authorizations.expiresAt, before)),
          ),
        )
        .run().changes
    },
  }
}
