import { and, desc, eq, gt, inArray, isNotNull, isNull, lt, lte, or } from 'drizzle-orm'
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
import { authorizationEvents } from './authorization-events.ts'
import {
  type AuthorizationRow,
  NO_ATTEMPT,
  NO_RESPONSE,
  SETTLED,
  toAuthorization,
  UNSETTLED,
} from './authorization-row.ts'
import { type Beginning, createBeginning, failStatements } from './begin-authorizations.ts'
import { connectionChange } from './connection-row.ts'
import { connectionWrites } from './connection-writes.ts'
import type { Database } from './database.ts'
import { createLastUse, type WriteLastUse } from './last-use.ts'
import { inPartition } from './partitions.ts'
import { type BoundStatement, type ById, type Transaction, variantsOf } from './statement.ts'
import { inSlices } from './sweep.ts'
import { withLines } from './trail-column.ts'
import { writeRow } from './write-row.ts'

export interface FinishOptions {
  readonly makeDefault: boolean
  /** What is remembered of the consent besides its connection. */
  readonly consent?: Pick<Step, 'missingScopes' | 'previousAccount'>
  readonly lines?: string
}

/** An authorization response that waits until its user is confirmed. */
export type HeldResponse = Pick<Confirming, 'flowHash' | 'response' | 'deadline'>

/** What is kept of an authorization for `explain` alone. */
export interface AuthorizationTrail {
  readonly openedAt?: EpochSeconds
  readonly trail?: string
}

/**
 * Transitions take the lines (`domain/trail.ts`) that tell of them, which are written in the same statement.
 */
export interface Authorizations extends Beginning {
  find(id: string): Promise<Authorization | undefined>
  findByState(stateHash: string): Promise<Authorization | undefined>
  findByFlow(flowHash: string): Promise<Authorization | undefined>
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
  /** Holds the authorization response until the user is confirmed: at most once per attempt, and until its deadline. */
  confirming(
    stateHash: string,
    held: HeldResponse,
    now: EpochSeconds,
    lines?: string,
  ): Promise<Confirming | undefined>
  /** Records that the caller has vouched for the user of this flow. `undefined`: no confirmation is awaited. */
  confirm(
    flowHash: string,
    now: EpochSeconds,
    audit?: AuditEntries,
    lines?: string,
  ): Promise<Confirmed | undefined>
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
      readonly lines?: string
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
    options: FinishOptions,
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
  /** Adds lines to the trail of one that is not settled. */
  note(id: string, lines: string, audit?: AuditEntries): Promise<void>
  trail(id: string): Promise<AuthorizationTrail | undefined>
  /** Those of the project that were to expire after `since` and have ended, the latest first. */
  endedSince(projectId: string, since: EpochSeconds, limit: number): Promise<readonly Authorization[]>
  /** All of one user, the oldest first; `after`: the id of the last one that is known. */
  ofUser(
    projectId: string,
    userId: string,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly Authorization[]>
  /** Deletes all of one user; returns how many. */
  forgetUser(projectId: string, userId: string): Promise<number>
  /** Writes when the links of these authorizations were opened; an earlier time stays. */
  readonly opened: WriteLastUse
  /** Deletes the responses whose deadline has come; their users may start again. Returns how many. */
  forgetResponses(now: EpochSeconds): Promise<number>
  /** Deletes what had expired before `before`, and was settled before it or not at all; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createAuthorizations(database: Database): Authorizations {
  const { tables, query, statement, read, write, writeRepeatable, dialect } = database
  const { authorizations, providers } = tables
  const connections = connectionWrites(database)
  const fail = failStatements(database)
  const events = authorizationEvents(database)

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
  const attempt = statement((p: Attempt & { id: string; step: number; now: EpochSeconds; lines: string }) =>
    query
      .update(authorizations)
      .set({
        ...NO_ATTEMPT,
        stateHash: p.stateHash,
        browserHash: p.browserHash,
        secrets: p.secrets,
        // of two consents the later counts, on whichever node each was begun
        startedAt: dialect.leaseNow(p.startedAt),
        trail: withLines(authorizations.trail, p.lines),
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
        lines: string
      }) =>
        query
          .update(authorizations)
          .set({
            ...(how === 'last step'
              ? { ...SETTLED, status: 'completed', steps: p.steps, completedAt: p.now }
              : { ...NO_ATTEMPT, status: 'pending', flowHash: p.flowHash, steps: p.steps, step: p.nextStep }),
            trail: withLines(authorizations.trail, p.lines),
          })
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
  const note = statement((p: ById & { lines: string }) =>
    query
      .update(authorizations)
      .set({ trail: withLines(authorizations.trail, p.lines) })
      .where(and(hasId(p), inArray(authorizations.status, UNSETTLED)))
      .returning({ id: authorizations.id }),
  )
  const trail = statement((p: ById) =>
    query
      .select({ openedAt: authorizations.openedAt, trail: authorizations.trail })
      .from(authorizations)
      .where(hasId(p)),
  )
  const ended = statement((p: { projectId: string; since: EpochSeconds; limit: number }) =>
    query
      .select()
      .from(authorizations)
      .where(
        and(
          gt(authorizations.expiresAt, p.since),
          eq(authorizations.projectId, p.projectId),
          isNotNull(authorizations.completedAt),
        ),
      )
      .orderBy(desc(authorizations.expiresAt))
      .limit(p.limit),
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

  const isOfUser = (p: { projectId: string; userId: string }) =>
    and(
      eq(authorizations.projectId, p.projectId),
      eq(authorizations.userId, p.userId),
      inPartition(authorizations, p),
    )
  const ofUser = statement((p: { projectId: string; userId: string; after: string; limit: number }) =>
    query
      .select()
      .from(authorizations)
      .where(and(isOfUser(p), gt(authorizations.id, p.after)))
      .orderBy(authorizations.id)
      .limit(p.limit),
  )
  const forgetUser = statement((p: { projectId: string; userId: string }) => {
    const some = query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(isOfUser(p))
      .limit(dialect.sweptAtOnce)
    return query
      .delete(authorizations)
      .where(and(inArray(authorizations.id, some), isOfUser(p)))
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
    ...createBeginning(database),
    find: (id) => findOne(byId({ id })),
    findByState: (stateHash) => findOne(byState({ stateHash })),
    findByFlow: (flowHash) => findOne(byFlow({ flowHash })),

    attempt: (id, step, fresh, now, lines = '') =>
      transition(undefined, () => attempt({ ...fresh, id, step, now, lines })),
    confirming: (stateHash, held, now, lines = '') =>
      transition(undefined, () => hold({ ...held, stateHash, now, lines })),
    confirm: (flowHash, now, audit, lines = '') => transition(audit, () => confirm({ flowHash, now, lines })),
    claim: (stateHash, now, { from, lines = '', ...claimed }) =>
      transition(undefined, () => claim(from)({ ...claimed, stateHash, now, lines })),
    async finishStep(claimed, connection, { consent, lines = '', ...options }, now, audit) {
      const { id, step, flowHash, attempt } = claimed
      const steps = claimed.steps.map((one, i) =>
        i === step ? { ...one, ...consent, connectionId: connection.id } : one,
      )
      const how = step === steps.length - 1 ? 'last step' : 'next step'
      const row = await write(audit, function* (announce) {
        if ((yield* lockedProvider({ uid: connection.providerUid })).length === 0) return undefined
        const { stateHash } = attempt
        const values = { id, stateHash, steps, nextStep: step + 1, flowHash, now, lines }
        const [finished] = yield* finish(how)(values)
        if (finished === undefined) return undefined
        yield* connections.put(announce, connection, options)
        announce(connectionChange(connection))
        announce(authorizationChange(finished))
        yield* events.settled(announce, finished)
        return finished
      })
      return row && (toAuthorization(row) as Pending | Completed) // the status that the statement has just set
    },
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
    async note(id, lines, audit) {
      await write(audit, () => note({ id, lines }))
    },
    async trail(id) {
      return (await read(trail({ id })))[0]
    },
    async endedSince(projectId, since, limit) {
      return (await read(ended({ projectId, since, limit }))).map(toAuthorization)
    },
    async ofUser(projectId, userId, { after = '', limit }) {
      return (await read(ofUser({ projectId, userId, after, limit }))).map(toAuthorization)
    },
    async forgetUser(projectId, userId) {
      return inSlices(dialect.sweptAtOnce, () => writeRepeatable(forgetUser({ projectId, userId })))
    },
    opened: createLastUse(database, authorizations, 'openedAt', 'first'),
    async forgetResponses(now) {
      return inSlices(dialect.sweptAtOnce, () => write(undefined, () => forget({ now })))
    },
    async sweep(before) {
      return inSlices(dialect.sweptAtOnce, () => write(undefined, () => sweep({ before })))
    },
  }
}
