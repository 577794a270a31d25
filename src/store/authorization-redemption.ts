import { and, eq, gt, or } from 'drizzle-orm'
import type { Attempt, Completed, Exchanging, Pending, Step } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { AuditEntries } from './audit-entries.ts'
import { transitionOf } from './authorization-attempts.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { authorizationChange, NO_ATTEMPT, SETTLED, toAuthorization } from './authorization-row.ts'
import { connectionChange } from './connection-row.ts'
import { connectionWrites } from './connection-writes.ts'
import type { Database } from './database.ts'
import { variantsOf } from './statement.ts'
import { withLines } from './trail-column.ts'

export interface FinishOptions {
  readonly makeDefault: boolean
  /** What the step records of the consent besides its connection. */
  readonly consent?: Pick<Step, 'missingScopes' | 'previousAccount'>
  readonly lines?: string
}

export interface OfferedAttempt extends Pick<Attempt, 'stateHash' | 'secrets'> {
  readonly granted: Sealed | undefined
}

/** The part of `Authorizations` that lets a code be redeemed once, and stores the connection. */
export interface AuthorizationRedemption {
  /**
   * Claims the unexpired attempt that owns `state` and has the status `from`, at most once, and deletes the authorization
   * response that was stored for it: of two racing callbacks one gets the attempt, the other `undefined` (RFC 9700 section
   * 4.7). The claim ends at its deadline, or when the process `claimedBy` is declared dead. It is on the disk before the
   * call returns: else a browser that repeats its callback after a power cut would send the code a second time, for which
   * the server ends the tokens of the first (RFC 6749 section 4.1.2).
   */
  claim(
    stateHash: string,
    now: EpochSeconds,
    claim: {
      readonly from: 'pending' | 'confirmed'
      readonly deadline: EpochSeconds
      readonly claimedBy: string
      readonly lines?: string
    },
  ): Promise<Exchanging | undefined>
  /** Whether this exchange still holds its claim. */
  holdsClaim(claimed: Exchanging): Promise<boolean>
  /**
   * Ends the claim and keeps the attempt with another state and other secrets, for a choice that its browser has to make.
   * `granted`: the grant that waits for it, at most until the authorization expires. `undefined` when this exchange no longer
   * holds its claim.
   */
  offer(
    claimed: Exchanging,
    attempt: OfferedAttempt,
    now: EpochSeconds,
    lines?: string,
  ): Promise<Pending | undefined>
  /**
   * Stores the connection and finishes the step in one transaction. Afterwards the next step is pending, or the
   * authorization is completed. The connection becomes the default when `makeDefault` is set, or when it is the first of
   * its owner. A stored connection whose consent was begun later (`consentedAt`) is not overwritten.
   * `undefined`, with nothing stored, when this exchange no longer holds its claim or its provider was deleted.
   */
  finishStep(
    claimed: Exchanging,
    connection: Connection,
    options: FinishOptions,
    now: EpochSeconds,
    audit?: AuditEntries,
  ): Promise<Pending | Completed | undefined>
}

export function createRedemption(database: Database): AuthorizationRedemption {
  const { tables, query, statement, read, write, followUp } = database
  const { authorizations } = tables
  const { unexpired, hasId, hasState } = authorizationConditions(database)
  const connections = connectionWrites(database)
  const transition = transitionOf(database)

  // one UPDATE, so that the database decides which of two racing callbacks gets it
  const claim = variantsOf((from: 'pending' | 'confirmed') =>
    statement(
      (p: {
        stateHash: string
        deadline: EpochSeconds
        claimedBy: string
        now: EpochSeconds
        lines: string
      }) =>
        query
          .update(authorizations)
          .set({
            status: 'exchanging',
            deadline: p.deadline,
            claimedBy: p.claimedBy,
            response: null,
            trail: withLines(authorizations.trail, p.lines),
          })
          .where(
            and(
              hasState(p),
              eq(authorizations.status, from),
              unexpired(p.now),
              from === 'confirmed' ? gt(authorizations.deadline, p.now) : undefined,
            ),
          )
          .returning(),
    ),
  )
  const held = statement((p: Pick<Exchanging, 'id' | 'deadline'> & Pick<Attempt, 'stateHash'>) =>
    query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(
        and(
          hasId(p),
          eq(authorizations.status, 'exchanging'),
          eq(authorizations.stateHash, p.stateHash),
          eq(authorizations.deadline, p.deadline),
        ),
      ),
  )
  const offer = statement(
    (
      p: OfferedAttempt & {
        id: string
        former: string
        now: EpochSeconds
        lines: string
      },
    ) =>
      query
        .update(authorizations)
        .set({
          status: 'pending',
          stateHash: p.stateHash,
          secrets: p.secrets,
          response: p.granted,
          deadline: authorizations.expiresAt,
          claimedBy: null,
          trail: withLines(authorizations.trail, p.lines),
        })
        .where(
          and(
            hasId(p),
            eq(authorizations.status, 'exchanging'),
            eq(authorizations.stateHash, p.former),
            unexpired(p.now),
          ),
        )
        .returning(),
  )
  const finish = variantsOf((how: 'last step' | 'next step') =>
    statement(
      (p: {
        id: string
        stateHash: string
        steps: readonly Step[]
        nextStep: number
        flowHash: string | undefined
        now: EpochSeconds
        lines: string
      }) =>
        query
          .update(authorizations)
          .set({
            ...(how === 'last step'
              ? { ...SETTLED, status: 'completed', steps: p.steps, completedAt: p.now }
              : {
                  ...NO_ATTEMPT,
                  credentialTries: null, // the next step asks for other credentials
                  status: 'pending',
                  flowHash: p.flowHash,
                  steps: p.steps,
                  step: p.nextStep,
                }),
            trail: withLines(authorizations.trail, p.lines),
          })
          .where(
            and(
              hasId(p),
              eq(authorizations.status, 'exchanging'),
              eq(authorizations.stateHash, p.stateHash),
              // past both times the authorization has expired, and its waiters may have been told so
              or(gt(authorizations.deadline, p.now), unexpired(p.now)),
            ),
          )
          .returning(),
    ),
  )

  return {
    async claim(stateHash, now, { from, lines = '', ...claimed }) {
      // without an announcement: it ends nothing that requests wait for
      const [row] = await write(undefined, () => claim(from)({ ...claimed, stateHash, now, lines }))
      return row && (toAuthorization(row) as Exchanging) // the status that the statement has just set
    },
    async holdsClaim({ id, deadline, attempt: { stateHash } }) {
      return (await read(held({ id, deadline, stateHash }))).length > 0
    },
    offer: ({ id, attempt: { stateHash: former } }, attempt, now, lines = '') =>
      transition(undefined, () => offer({ ...attempt, id, former, now, lines })),
    async finishStep(claimed, connection, { consent, lines = '', ...options }, now, audit) {
      const { id, step, flowHash, attempt } = claimed
      const steps = claimed.steps.map((current, i) =>
        i === step ? { ...current, ...consent, connectionId: connection.id } : current,
      )
      const how = step === steps.length - 1 ? 'last step' : 'next step'
      const row = await write(audit, function* (announce) {
        if ((yield* connections.lockProvider({ uid: connection.providerUid })).length === 0) return undefined
        const { stateHash } = attempt
        const values = { id, stateHash, steps, nextStep: step + 1, flowHash, now, lines }
        const [finished] = yield* finish(how)(values)
        if (finished === undefined) return undefined
        yield* connections.put(announce, connection, options)
        announce(connectionChange(connection))
        announce(authorizationChange(finished))
        yield* followUp(announce, { kind: 'authorization settled', row: finished })
        return finished
      })
      return row && (toAuthorization(row) as Pending | Completed) // the status that the statement has just set
    },
  }
}
