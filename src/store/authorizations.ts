import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, or } from 'drizzle-orm'
import type {
  Attempt,
  Authorization,
  Completed,
  Confirmed,
  Confirming,
  Exchanging,
  Failed,
  FailureReason,
  Pending,
  Step,
} from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { AuditEntries } from './audit-entries.ts'
import {
  type AuthorizationRow,
  NO_ATTEMPT,
  NO_RESPONSE,
  SETTLED,
  toAuthorization,
} from './authorization-row.ts'
import { type Beginning, createBeginning, failStatements } from './begin-authorizations.ts'
import { connectionChange } from './connection-row.ts'
import { connectionWrites } from './connection-writes.ts'
import type { Database } from './database.ts'
import { inPartition } from './partitions.ts'
import { type BoundStatement, type ById, type Transaction, variantsOf } from './statement.ts'
import { inSlices } from './sweep.ts'
import { writeRow } from './write-row.ts'

/** An authorization response that waits until its user is confirmed. */
export type HeldResponse = Pick<Confirming, 'flowHash' | 'response' | 'deadline'>

export interface Authorizations extends Beginning {
  find(id: string): Promise<Authorization | undefined>
  findByState(stateHash: string): Promise<Authorization | undefined>
  findByFlow(flowHash: string): Promise<Authorization | undefined>
  /**
   * Starts an attempt of the current step and ends an earlier one. `undefined` when nothing can be attempted: the
   * authorization is settled, expired, exchanging within its deadline, or at another step.
   */
  attempt(id: string, step: number, attempt: Attempt, now: EpochSeconds): Promise<Pending | undefined>
  /** Holds the authorization response until the user is confirmed: at most once per attempt, and until its deadline. */
  confirming(stateHash: string, held: HeldResponse, now: EpochSeconds): Promise<Confirming | undefined>
  /** Records that the caller has vouched for the user of this flow. `undefined`: no confirmation is awaited. */
  confirm(flowHash: string, now: EpochSeconds, audit?: AuditEntries): Promise<Confirmed | undefined>
  /**
   * Claims the unexpired attempt that owns `state` and has the status `from`, at most once, and drops the response that
   * was held for it: of two racing callbacks one gets it, the other `undefined` (RFC 9700 section 4.7). The claim ends
   * at its deadline, or when the process `claimedBy` is declared dead.
   */
  claim(
    stateHash: string,
    now: EpochSeconds,
    claim: {
      readonly from: 'pending' | 'confirmed'
      readonly deadline: EpochSeconds
      readonly claimedBy: string
    },
  ): Promise<Exchanging | undefined>
  /**
   * Stores the connection and finishes the step in one transaction: then the next step is pending, or all is completed.
   * The connection becomes the default when `makeDefault`, or when it is the first of its owner. A connection whose user
   * began its consent later (`consentedAt`) is not overwritten: the newest consent counts, whichever ends last.
   * `undefined`, with nothing stored, when this exchange no longer holds its claim or its provider was deleted.
   */
  finishStep(
    claimed: Exchanging,
    connection: Connection,
    options: { readonly makeDefault: boolean },
    now: EpochSeconds,
    audit?: AuditEntries,
  ): Promise<Pending | Completed | undefined>
  /** Fails the authorization if it is not settled and, where `stateHash` is given, that attempt is its latest. */
  fail(
    id: string,
    reason: FailureReason,
    message: string,
    now: EpochSeconds,
    stateHash?: string,
    audit?: AuditEntries,
  ): Promise<Failed | undefined>
  /** Deletes the responses whose deadline has come; their users may start again. Returns how many. */
  forgetResponses(now: EpochSeconds): Promise<number>
  /** Deletes what had expired before `before`, and was settled before it or not at all; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createAuthorizations(database: Database): Authorizations {
  const { tables, query, statement, read, write, dialect } = database
  const { authorizations, providers } = tables
  const connections = connectionWrites(database)
  const fail = failStatements(database)

  const unexpired = (now: EpochSeconds) => gt(authorizations.expiresAt, now)
  const hasId = (p: ById) => and(eq(authorizations.id, p.id), inPartition(authorizations, p))
  const hasState = (p: { stateHash: string }) =>
    and(eq(authorizations.stateHash, p.stateHash), inPartition(authorizations, p))
  const hasFlow = (p: { flowHash: string }) =>
    and(eq(authorizations.flowHash, p.flowHash), inPartition(authorizations, p))
  const byId = statement((p: ById) => query.select().from(authorizations).where(hasId(p)))
  const byState = statement((p: { stateHash: string }) =>
    query.select().from(authorizations).where(hasState(p)),
  )
  const byFlow = statement((p: { flowHash: string }) => query.select().from(authorizations).where(hasFlow(p)))
  const attempt = statement((p: Attempt & { id: string; step: number; now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({
        ...NO_ATTEMPT,
        stateHash: p.stateHash,
        browserHash: p.browserHash,
        secrets: p.secrets,
        // of two consents the later counts, on whichever node each was begun
        startedAt: dialect.leaseNow(p.startedAt),
        status: 'pending',
      })
      .where(
        and(
          hasId(p),
          eq(authorizations.step, p.step),
          unexpired(p.now),
          or(
            inArray(authorizations.status, ['pending', 'confirming', 'confirmed']),
            and(eq(authorizations.status, 'exchanging'), lte(authorizations.deadline, p.now)),
          ),
        ),
      )
      .returning(),
  )
  const hold = statement((p: HeldResponse & { stateHash: string; now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({ flowHash: p.flowHash, response: p.response, deadline: p.deadline, status: 'confirming' })
      .where(and(hasState(p), eq(authorizations.status, 'pending'), unexpired(p.now)))
      .returning(),
  )
  const confirm = statement((p: { flowHash: string; now: EpochSeconds }) =>
    query
      .update(authorizations)
      .set({ status: 'confirmed' })
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
  // one UPDATE, so that the database decides which of two racing callbacks gets it
  const claim = variantsOf((from: 'pending' | 'confirmed') =>
    statement((p: { stateHash: string; deadline: EpochSeconds; claimedBy: string; now: EpochSeconds }) =>
      query
        .update(authorizations)
        .set({ status: 'exchanging', deadline: p.deadline, claimedBy: p.claimedBy, response: null })
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
  // locked until the connection is stored: a deletion of the provider deletes the connection too, or comes first
  const lockedProvider = statement((p: { uid: string }) =>
    dialect.lock(
      query.select({ uid: providers.uid }).from(providers).where(eq(providers.uid, p.uid)),
      'for key share',
    ),
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
      }) =>
        query
          .update(authorizations)
          .set(
            how === 'last step'
              ? { ...SETTLED, status: 'completed', steps: p.steps, completedAt: p.now }
              : { ...NO_ATTEMPT, status: 'pending', flowHash: p.flowHash, steps: p.steps, step: p.nextStep },
          )
          .where(
            and(
              hasId(p),
              eq(authorizations.status, 'exchanging'),
              eq(authorizations.stateHash, p.stateHash),
              // past both it has ended as expired, and its waiters were told so
              or(gt(authorizations.deadline, p.now), unexpired(p.now)),
            ),
          )
          .returning(),
    ),
  )
  const forget = statement((p: { now: EpochSeconds }) => {
    const isOver = and(isNotNull(authorizations.response), lte(authorizations.deadline, p.now))
    const held = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOver)
      .limit(dialect.sweptAtOnce)
    return query
      .update(authorizations)
      .set(NO_RESPONSE)
      .where(and(inArray(authorizations.id, held), isOver))
      .returning({ id: authorizations.id })
  })
  // one index serves those that were settled too: most are settled before they expire, and the few others soon after
  const sweep = statement((p: { before: EpochSeconds }) => {
    const isOld = and(
      lt(authorizations.expiresAt, p.before),
      or(isNull(authorizations.completedAt), lt(authorizations.completedAt, p.before)),
    )
    const old = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOld)
      .limit(dialect.sweptAtOnce)
    return query
      .delete(authorizations)
      .where(and(inArray(authorizations.id, old), isOld))
      .returning({ id: authorizations.id })
  })

  const authorizationChange = ({ id }: ById) => ({ noun: 'authorization', id }) as const

  async function findOne(wanted: BoundStatement<AuthorizationRow>): Promise<Authorization | undefined> {
    const [row] = await read(wanted)
    return row && toAuthorization(row)
  }

  async function transition<T extends Authorization>(
    audit: AuditEntries | undefined,
    body: () => Transaction<readonly AuthorizationRow[]>,
  ): Promise<T | undefined> {
    const row = await writeRow(write, audit, authorizationChange, body)
    return row && (toAuthorization(row) as T) // the status that the statement has just set
  }

  return {
    ...createBeginning(database),
    find: (id) => findOne(byId({ id })),
    findByState: (stateHash) => findOne(byState({ stateHash })),
    findByFlow: (flowHash) => findOne(byFlow({ flowHash })),

    attempt: (id, step, fresh, now) => transition(undefined, () => attempt({ ...fresh, id, step, now })),
    confirming: (stateHash, held, now) => transition(undefined, () => hold({ ...held, stateHash, now })),
    confirm: (flowHash, now, audit) => transition(audit, () => confirm({ flowHash, now })),
    claim: (stateHash, now, { from, ...claimed }) =>
      transition(undefined, () => claim(from)({ ...claimed, stateHash, now })),
    async finishStep(claimed, connection, options, now, audit) {
      const { id, step, flowHash, attempt } = claimed
      const steps = claimed.steps.map((one, i) =>
        i === step ? { ...one, connectionId: connection.id } : one,
      )
      const how = step === steps.length - 1 ? 'last step' : 'next step'
      const row = await write(audit, function* (announce) {
        if ((yield* lockedProvider({ uid: connection.providerUid })).length === 0) return undefined
        const { stateHash } = attempt
        const [finished] = yield* finish(how)({ id, stateHash, steps, nextStep: step + 1, flowHash, now })
        if (finished === undefined) return undefined
        yield* connections.put(connection, options)
        announce(connectionChange(connection))
        announce({ noun: 'authorization', id: finished.id })
        return finished
      })
      return row && (toAuthorization(row) as Pending | Completed) // the status that the statement has just set
    },
    async fail(id, reason, message, now, stateHash, audit) {
      const variant = fail(stateHash === undefined ? 'any attempt' : 'one attempt')
      return transition(audit, () => variant({ id, reason, message, now, stateHash: stateHash ?? '' }))
    },
    async forgetResponses(now) {
      return inSlices(dialect.sweptAtOnce, () => write(undefined, () => forget({ now })))
    },
    async sweep(before) {
      return inSlices(dialect.sweptAtOnce, () => write(undefined, () => sweep({ before })))
    },
  }
}
