import { and, eq, gt, inArray, lt, lte, or, sql } from 'drizzle-orm'
import type { Attempt, Authorization, Confirmed, Confirming, Pending } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import {
  type AuthorizationRow,
  authorizationChange,
  NO_ATTEMPT,
  STARTABLE,
  toAuthorization,
} from './authorization-row.ts'
import type { Database } from './database.ts'
import type { Transaction } from './statement.ts'
import { withLines } from './trail-column.ts'
import { writeRow } from './write-row.ts'

/** An authorization response that waits until its user is confirmed. */
export type HeldResponse = Pick<Confirming, 'flowHash' | 'response' | 'deadline'>

/** The part of `Authorizations` from the user's click until the response may be redeemed. */
export interface AuthorizationAttempts {
  /**
   * Starts an attempt of the current step and ends an earlier one. `undefined` when nothing can be attempted: the
   * authorization is settled, expired, exchanging within its deadline, or at another step.
   */
  attempt(
    id: string,
    step: number,
    attempt: Attempt,
    now: EpochSeconds,
    lines?: string,
  ): Promise<Pending | undefined>
  /**
   * Counts a check of typed credentials before it is sent, and returns how many there were with it. `undefined`: `most`
   * were counted before, also by requests at the same time, or nothing can be attempted at this step.
   */
  countTry(id: string, step: number, most: number, now: EpochSeconds): Promise<number | undefined>
  /** Keeps the authorization response until the user is confirmed, or its deadline comes: at most once per attempt. */
  confirming(
    stateHash: string,
    held: HeldResponse,
    now: EpochSeconds,
    lines?: string,
  ): Promise<Confirming | undefined>
  /** Records that the caller has confirmed the user of this flow. `undefined`: no response waits for it. */
  confirm(
    flowHash: string,
    now: EpochSeconds,
    audit?: AuditEntries,
    lines?: string,
  ): Promise<Confirmed | undefined>
}

interface NewAttempt extends Omit<Attempt, 'pollAt' | 'pollSeconds'> {
  readonly pollAt: EpochSeconds | undefined
  readonly pollSeconds: number | undefined
}
const NOT_POLLED = { pollAt: undefined, pollSeconds: undefined }

export function createAttempts(database: Database): AuthorizationAttempts {
  const { tables, query, statement, dialect } = database
  const { authorizations } = tables
  const { unexpired, hasId, hasState, hasFlow } = authorizationConditions(database)
  const transition = transitionOf(database)

  /** The step can be attempted: no code is being redeemed, or the process that redeems it counts as dead. */
  const isStartable = (p: { id: string; step: number; now: EpochSeconds }) =>
    and(
      hasId(p),
      eq(authorizations.step, p.step),
      unexpired(p.now),
      or(
        inArray(authorizations.status, STARTABLE),
        and(eq(authorizations.status, 'exchanging'), lte(authorizations.deadline, p.now)),
      ),
    )

  const attempt = statement(
    (p: NewAttempt & { id: string; step: number; now: EpochSeconds; lines: string }) =>
      query
        .update(authorizations)
        .set({
          ...NO_ATTEMPT,
          stateHash: p.stateHash,
          browserHash: p.browserHash,
          secrets: p.secrets,
          pollAt: p.pollAt,
          pollSeconds: p.pollSeconds,
          // the later of two consents counts, so both times come from the clock that all nodes share
          startedAt: dialect.sharedNow(p.startedAt),
          trail: withLines(authorizations.trail, p.lines),
          status: 'pending',
        })
        .where(isStartable(p))
        .returning(),
  )
  const tries = sql`coalesce(${authorizations.credentialTries}, 0)`
  const countTry = statement((p: { id: string; step: number; most: number; now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({ credentialTries: sql`${tries} + 1` })
      .where(and(isStartable(p), lt(tries, p.most)))
      .returning({ tries: authorizations.credentialTries }),
  )
  const hold = statement((p: HeldResponse & { stateHash: string; now: EpochSeconds; lines: string }) =>
    query
      .update(authorizations)
      .set({
        flowHash: p.flowHash,
        response: p.response,
        deadline: p.deadline,
        trail: withLines(authorizations.trail, p.lines),
        status: 'confirming',
      })
      .where(and(hasState(p), eq(authorizations.status, 'pending'), unexpired(p.now)))
      .returning(),
  )
  const confirm = statement((p: { flowHash: string; now: EpochSeconds; lines: string }) =>
    query
      .update(authorizations)
      .set({ status: 'confirmed', trail: withLines(authorizations.trail, p.lines) })
      .where(
        and(
          hasFlow(p),
          eq(authorizations.status, 'confirming'),
          unexpired(p.now),
          gt(authorizations.deadline, p.now),
        ),
      )
      .returning(),
  )

  return {
    attempt: (id, step, fresh, now, lines = '') =>
      transition(undefined, () => attempt({ ...NOT_POLLED, ...fresh, id, step, now, lines })),
    async countTry(id, step, most, now) {
      const [counted] = await database.write(undefined, () => countTry({ id, step, most, now }))
      return counted?.tries ?? undefined
    },
    confirming: (stateHash, held, now, lines = '') =>
      transition(undefined, () => hold({ ...held, stateHash, now, lines })),
    confirm: (flowHash, now, audit, lines = '') => transition(audit, () => confirm({ flowHash, now, lines })),
  }
}

/** Writes a change of status of one authorization. */
export function transitionOf({ write }: Pick<Database, 'write'>) {
  return async <T extends Authorization>(
    audit: AuditEntries | undefined,
    body: () => Transaction<readonly AuthorizationRow[]>,
  ): Promise<T | undefined> => {
    const row = await writeRow(write, audit, authorizationChange, body)
    return row && (toAuthorization(row) as T) // the status that the statement has just set
  }
}
