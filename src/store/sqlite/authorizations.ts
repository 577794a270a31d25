import { and, count, eq, gt, inArray, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import {
  type Attempt,
  type Authorization,
  at,
  type Completed,
  type Confirming,
  EXPIRED_MESSAGE,
  type Exchanging,
  type Failed,
  type Pending,
  type Step,
} from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { refuseMore } from '../rows.ts'
import type { AuditEntries, Authorizations } from '../store.ts'
import { ownerOf, putConnection } from './connections.ts'
import type { SqliteContext, Transaction } from './database.ts'
import { authorizations, providers } from './schema.ts'

type Row = typeof authorizations.$inferSelect

const NO_ATTEMPT = {
  stateHash: null,
  browserHash: null,
  secrets: null,
  startedAt: null,
  flowHash: null,
  response: null,
  deadline: null,
} as const

/** A settled authorization keeps the hashes, so that a late browser is shown the end, and no secret. */
const SETTLED = { shareKey: null, secrets: null, response: null, deadline: null } as const

export function sqliteAuthorizations({ db, write }: SqliteContext): Authorizations {
  const byId = db
    .select()
    .from(authorizations)
    .where(eq(authorizations.id, sql.placeholder('id')))
    .prepare()
  const unsettled = inArray(authorizations.status, ['pending', 'confirming', 'exchanging'])

  /** What a new attempt may leave: anything unsettled but an exchange that may still be under way. */
  const attemptable = (now: EpochSeconds) =>
    and(
      gt(authorizations.expiresAt, now),
      or(
        inArray(authorizations.status, ['pending', 'confirming']),
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
    body: (tx: Transaction) => Row | undefined,
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

    async confirming(stateHash, { flowHash, response }, now) {
      return writeRow(undefined, (tx) =>
        tx
          .update(authorizations)
          .set({ status: 'confirming', flowHash, response })
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

    async claim(stateHash, now, deadline) {
      // one UPDATE, so SQLite decides who wins
      return writeRow(undefined, (tx) =>
        tx
          .update(authorizations)
          .set({ status: 'exchanging', deadline })
          .where(
            and(
              eq(authorizations.stateHash, stateHash),
              inArray(authorizations.status, ['pending', 'confirming']),
              gt(authorizations.expiresAt, now),
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

function withConnection(steps: readonly Step[], step: number, connectionId: string): readonly Step[] {
  return steps.map((one, i) => (i === step ? { ...one, connectionId } : one))
}

function toAuthorization(row: Row): Authorization {
  const common = {
    id: row.id,
    projectId: row.projectId,
    userId: row.userId,
    steps: row.steps,
    step: row.step,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    ...(row.requester !== null && { requester: row.requester }),
    ...(row.account !== null && { account: row.account }),
    ...(row.nextUri !== null && { nextUri: row.nextUri }),
  }
  const flow = row.flowHash !== null && { flowHash: row.flowHash }
  const attempt = toAttempt(row)
  switch (row.status) {
    case 'pending':
      return { ...common, ...flow, status: 'pending', ...(attempt && { attempt }) } satisfies Pending
    case 'confirming':
      return {
        ...common,
        status: 'confirming',
        attempt: filled(attempt, row),
        flowHash: filled(row.flowHash, row),
        response: filled(row.response, row),
      } satisfies Confirming
    case 'exchanging':
      return {
        ...common,
        ...flow,
        status: 'exchanging',
        attempt: filled(attempt, row),
        deadline: filled(row.deadline, row),
      } satisfies Exchanging
    case 'completed':
      return {
        ...common,
        ...flow,
        status: 'completed',
        completedAt: filled(row.completedAt, row),
      } satisfies Completed
    case 'failed':
      return {
        ...common,
        ...flow,
        status: 'failed',
        reason: filled(row.reason, row),
        message: row.message ?? '',
        completedAt: filled(row.completedAt, row),
      } satisfies Failed
  }
}

function toAttempt({ stateHash, browserHash, secrets, startedAt }: Row): Attempt | undefined {
  if (stateHash === null || browserHash === null || secrets === null || startedAt === null) return undefined
  return { stateHash, browserHash, secrets, startedAt }
}

function filled<T>(value: T | null | undefined, { id, status }: Row): T {
  if (value === null || value === undefined)
    throw new Error(`authorization ${id} is ${status} but lacks what that needs`)
  return value
}
