import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
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
import { databaseNow, type PostgresContext, type Transaction } from './database.ts'
import { authorizations, providers } from './schema.ts'

export function postgresAuthorizations({ db, write }: PostgresContext): Authorizations {
  const byId = db
    .select()
    .from(authorizations)
    .where(eq(authorizations.id, sql.placeholder('id')))
    .prepare('authorization_by_id')
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

  /** Those of the user besides itself. */
  const liveOf = (tx: Transaction, { id, projectId, userId }: Pending, now: EpochSeconds) =>
    tx
      .select({ steps: authorizations.steps, expiresAt: authorizations.expiresAt })
      .from(authorizations)
      .where(and(isLive(projectId, now), eq(authorizations.userId, userId), ne(authorizations.id, id)))

  /** Writes one row, and announces it if there was one to write. */
  const writeRow = async <T extends Authorization>(
    audit: AuditEntries | undefined,
    body: (tx: Transaction) => Promise<readonly AuthorizationRow[]>,
  ): Promise<T | undefined> => {
    const row = await write(audit, async (tx, announce) => {
      const [written] = await body(tx)
      if (written !== undefined) announce({ noun: 'authorization', id: written.id })
      return written
    })
    return row && (toAuthorization(row) as T) // the status that the statement has just set
  }

  return {
    async begin(fresh, shareKey, now, most) {
      const row = await write(undefined, async (tx) => {
        for (;;) {
          // one INSERT, so PostgreSQL decides whose it is
          const [begun] = await tx
            .insert(authorizations)
            .values({ ...fresh, shareKey })
            .onConflictDoUpdate({
              target: authorizations.shareKey,
              set: { nextUri: sql`coalesce(excluded.next_uri, ${authorizations.nextUri})` },
            })
            .returning()
          if (begun === undefined) throw new Error(`authorization ${fresh.id} was neither added nor found`)
          if (begun.id === fresh.id && most !== undefined)
            refuseMore(fresh, await liveOf(tx, fresh, now), now, most)
          if (begun.id === fresh.id || at(toAuthorization(begun), now).status !== 'failed') return begun
          await tx
            .update(authorizations)
            .set({
              ...SETTLED,
              status: 'failed',
              reason: 'expired',
              message: EXPIRED_MESSAGE,
              completedAt: begun.expiresAt,
            })
            .where(eq(authorizations.id, begun.id))
        }
      })
      return toAuthorization(row)
    },

    async countLive(projectId, now) {
      return db.$count(authorizations, isLive(projectId, now))
    },

    async find(id) {
      const [row] = await byId.execute({ id })
      return row && toAuthorization(row)
    },
    async findByState(stateHash) {
      const [row] = await db.select().from(authorizations).where(eq(authorizations.stateHash, stateHash))
      return row && toAuthorization(row)
    },
    async findByFlow(flowHash) {
      const [row] = await db.select().from(authorizations).where(eq(authorizations.flowHash, flowHash))
      return row && toAuthorization(row)
    },

    async attempt(id, step, attempt, now) {
      return writeRow(undefined, (tx) =>
        tx
          .update(authorizations)
          // of two consents the later counts, whichever node each was begun on
          .set({ ...NO_ATTEMPT, ...attempt, startedAt: databaseNow, status: 'pending' })
          .where(and(eq(authorizations.id, id), eq(authorizations.step, step), attemptable(now)))
          .returning(),
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
          .returning(),
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
          .returning(),
      )
    },

    async claim(stateHash, now, { from, deadline, claimedBy }) {
      // one UPDATE, so PostgreSQL decides who wins
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
          .returning(),
      )
    },

    async finishStep(claimed, connection, { makeDefault }, now, audit) {
      const steps = withConnection(claimed.steps, claimed.step, connection.id)
      const isLast = claimed.step === steps.length - 1
      const row = await write(audit, async (tx, announce) => {
        // held until the connection is there: a deletion of the provider takes it along, or comes first
        const provider = await tx
          .select({ uid: providers.uid })
          .from(providers)
          .where(eq(providers.uid, connection.providerUid))
          .for('key share')
        if (provider.length === 0) return undefined
        const [finished] = await tx
          .update(authorizations)
          .set(
            isLast
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
        if (finished === undefined) return undefined
        await putConnection(tx, connection, { makeDefault })
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
          .returning(),
      )
    },

    async forgetResponses(now) {
      const { rowCount } = await write(undefined, (tx) =>
        tx
          .update(authorizations)
          .set(NO_RESPONSE)
          .where(and(isNotNull(authorizations.response), lte(authorizations.deadline, now))),
      )
      return rowCount ?? 0
    },

    async sweep(before) {
      const { rowCount } = await write(undefined, (tx) =>
        tx
          .delete(authorizations)
          .where(
            or(
              and(isNotNull(authorizations.completedAt), lt(authorizations.completedAt, before)),
              and(isNull(authorizations.completedAt), lt(authorizations.expiresAt, before)),
            ),
          ),
      )
      return rowCount ?? 0
    },
  }
}
