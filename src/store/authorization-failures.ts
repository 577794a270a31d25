import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { EXPIRED_MESSAGE, type Failed, type FailureReason } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import {
  type AuthorizationRow,
  authorizationChange,
  SETTLED,
  STARTABLE,
  toAuthorization,
  UNSETTLED,
} from './authorization-row.ts'
import type { Announce } from './changes.ts'
import type { Database } from './database.ts'
import { type ById, type Steps, type Transaction, variantsOf } from './statement.ts'
import { withLines } from './trail-column.ts'

/**
 * The part of `Authorizations` that marks authorizations as failed. `lines` are appended to the authorization's trail.
 */
export interface AuthorizationFailures {
  /**
   * Fails an authorization that has not ended; with `stateHash`, only if this is the state hash of its latest attempt.
   */
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
   * Fails the authorization as `access_denied`, because the user cancelled in the browser with this hash. `undefined`
   * when another browser has started the latest attempt, a code is being redeemed, or the authorization has ended.
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
  const { write, followUp } = database
  const fail = failStatements(database)

  async function settle(
    audit: AuditEntries | undefined,
    body: () => Transaction<readonly AuthorizationRow[]>,
  ): Promise<Failed | undefined> {
    const row = await write(audit, function* (announce) {
      const [failed] = yield* body()
      if (failed === undefined) return undefined
      announce(authorizationChange(failed))
      yield* followUp(announce, { kind: 'authorization settled', row: failed })
      return failed
    })
    return row && (toAuthorization(row) as Failed) // the status that the statement has just set
  }

  return {
    async fail(id, reason, message, now, stateHash, audit, lines = '') {
      const values = { id, reason, message, now, lines }
      return settle(audit, () =>
        stateHash === undefined ? fail('any attempt')(values) : fail('one attempt')({ ...values, stateHash }),
      )
    },
    async cancel(id, browserHash, message, now, audit, lines = '') {
      const values = { id, reason: 'access_denied', message, now, browserHash, lines } as const
      return settle(audit, () => fail('own browser')(values))
    },
  }
}

interface Failing extends ById {
  readonly reason: FailureReason
  readonly message: string
  readonly now: EpochSeconds
  /** For `one attempt`. */
  readonly stateHash?: string
  /** For `own browser`. */
  readonly browserHash?: string
  readonly lines?: string
}

/**
 * The statements that mark an authorization as failed. Each applies only to one that has not ended:
 *
 * - `any attempt`: its attempts do not matter.
 * - `one attempt`: only if its latest attempt has this `stateHash`.
 * - `overdue`: as `any attempt`. A held response stays until `forgetResponses`, so that its tokens are revoked before.
 * - `own browser`: only if it has not expired, no other browser has started the latest attempt, and no code is being
 *   redeemed. The row keeps `browserHash`, so that this browser is shown the failure.
 */
function failStatements(database: Database) {
  const { tables, query, statement } = database
  const { authorizations } = tables
  const { unexpired, hasId } = authorizationConditions(database)
  // without an attempt any browser may cancel, even if the row still has the browser hash of an earlier attempt
  const isOwn = (p: { browserHash: string }) =>
    or(isNull(authorizations.stateHash), eq(authorizations.browserHash, p.browserHash))
  const whileHeld = (column: SQLiteColumn) =>
    sql`case when ${authorizations.response} is not null then ${column} end`
  const fail = variantsOf((which: 'any attempt' | 'one attempt' | 'overdue' | 'own browser') =>
    statement((p: Required<Failing>) =>
      query
        .update(authorizations)
        .set({
          ...SETTLED,
          status: 'failed',
          reason: p.reason,
          message: p.message,
          completedAt: p.now,
          ...(which === 'own browser' && { browserHash: p.browserHash }),
          ...(which === 'overdue' && {
            secrets: whileHeld(authorizations.secrets),
            response: authorizations.response,
            deadline: whileHeld(authorizations.deadline),
          }),
          trail: withLines(authorizations.trail, p.lines),
        })
        .where(
          and(
            hasId(p),
            inArray(authorizations.status, which === 'own browser' ? STARTABLE : UNSETTLED),
            which === 'one attempt' ? eq(authorizations.stateHash, p.stateHash) : undefined,
            which === 'own browser' ? and(unexpired(p.now), isOwn(p)) : undefined,
          ),
        )
        .returning(),
    ),
  )
  return (which: Parameters<typeof fail>[0]) => (values: Failing) =>
    fail(which)({ stateHash: '', browserHash: '', lines: '', ...values })
}

/**
 * Marks an expired authorization as failed and writes its event, in the transaction of the caller. Returns `false` if
 * the authorization had ended before.
 */
export function createExpiry(database: Database) {
  const { followUp } = database
  const fail = failStatements(database)('overdue')
  return function* expire(
    announce: Announce,
    { id, expiresAt }: Pick<AuthorizationRow, 'id' | 'expiresAt'>,
  ): Steps<boolean> {
    const [failed] = yield* fail({ id, reason: 'expired', message: EXPIRED_MESSAGE, now: expiresAt })
    if (failed === undefined) return false
    yield* followUp(announce, { kind: 'authorization settled', row: failed })
    return true
  }
}
