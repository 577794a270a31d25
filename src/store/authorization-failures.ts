import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import type { Failed, FailureReason } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import { authorizationEvents } from './authorization-events.ts'
import {
  type AuthorizationRow,
  authorizationChange,
  SETTLED,
  STARTABLE,
  toAuthorization,
  UNSETTLED,
} from './authorization-row.ts'
import type { Database } from './database.ts'
import { inPartition } from './partitions.ts'
import { type Transaction, variantsOf } from './statement.ts'
import { withLines } from './trail-column.ts'

/** The part of `Authorizations` by which one fails. */
export interface AuthorizationFailures {
  /** Fails the authorization if it is not settled and, where `stateHash` is given, that attempt is its latest. */
  fail(
    id: string,
    reason: FailureReason,
    message: string,
    now: EpochSeconds,
    stateHash?: string,
    audit?: AuditEntries,
    lines?: string,
  ): Promise<Failed | undefined>
  /**
   * Fails the authorization as `access_denied` by the browser that cancels. `undefined` when another browser holds an
   * attempt, the code is being redeemed, or it has ended.
   */
  cancel(
    id: string,
    browserHash: string,
    message: string,
    now: EpochSeconds,
    audit?: AuditEntries,
    lines?: string,
  ): Promise<Failed | undefined>
}

export function createFailures(database: Database): AuthorizationFailures {
  const { write } = database
  const fail = failStatements(database)
  const events = authorizationEvents(database)

  async function failed(
    audit: AuditEntries | undefined,
    body: () => Transaction<readonly AuthorizationRow[]>,
  ): Promise<Failed | undefined> {
    const row = await write(audit, function* (announce) {
      const [one] = yield* body()
      if (one === undefined) return undefined
      announce(authorizationChange(one))
      yield* events.settled(announce, one)
      return one
    })
    return row && (toAuthorization(row) as Failed) // the status that the statement has just set
  }

  return {
    async fail(id, reason, message, now, stateHash, audit, lines = '') {
      const variant = fail(stateHash === undefined ? 'any attempt' : 'one attempt')
      return failed(audit, () =>
        variant({ id, reason, message, now, stateHash: stateHash ?? '', browserHash: '', lines }),
      )
    },
    async cancel(id, browserHash, message, now, audit, lines = '') {
      const reason = 'access_denied'
      return failed(audit, () =>
        fail('own browser')({ id, reason, message, now, stateHash: '', browserHash, lines }),
      )
    },
  }
}

/**
 * The statements that fail an authorization which is not settled, whichever attempt is its latest, or only one; or only
 * while no other browser holds an attempt and no code is being redeemed: the failure is then that browser's.
 */
export function failStatements({ tables: { authorizations }, query, statement }: Database) {
  // a response that was held for too long leaves the hash of its browser, without the attempt
  const isHeldBy = (p: { browserHash: string }) =>
    or(isNull(authorizations.stateHash), eq(authorizations.browserHash, p.browserHash))
  return variantsOf((which: 'any attempt' | 'one attempt' | 'own browser') =>
    statement(
      (p: {
        id: string
        reason: FailureReason
        message: string
        now: EpochSeconds
        stateHash: string
        browserHash: string
        lines: string
      }) =>
        query
          .update(authorizations)
          .set({
            ...SETTLED,
            status: 'failed',
            reason: p.reason,
            message: p.message,
            completedAt: p.now,
            ...(which === 'own browser' && { browserHash: p.browserHash }),
            trail: withLines(authorizations.trail, p.lines),
          })
          .where(
            and(
              eq(authorizations.id, p.id),
              inPartition(authorizations, p),
              inArray(authorizations.status, which === 'own browser' ? STARTABLE : UNSETTLED),
              which === 'one attempt' ? eq(authorizations.stateHash, p.stateHash) : undefined,
              which === 'own browser' ? and(gt(authorizations.expiresAt, p.now), isHeldBy(p)) : undefined,
            ),
          )
          .returning(),
    ),
  )
}
