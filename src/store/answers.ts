import { and, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { BegunRun } from '../domain/execution.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Database } from './database.ts'
import { leaseEnd } from './lease.ts'
import { variantsOf } from './statement.ts'
import { inSlices } from './sweep.ts'

/** What is stored for an idempotency key: the answer, or no answer yet while a process carries out the request. */
export interface KeptAnswer {
  /** The hash of the request that was made. */
  readonly request: string
  readonly answer?: Sealed
  readonly owner: string
  /** The process that has claimed the place (`Processes`); absent in claims of older releases. */
  readonly claimedBy?: string
  /** What the owner was about to run, if that must not be run twice. */
  readonly begun?: BegunRun
}

export interface AnswerClaim {
  readonly projectId: string
  readonly owner: string
  readonly request: string
  readonly claimedBy: string
  readonly seconds: number
}

/**
 * Answers to requests that carried an `Idempotency-Key`: any process answers the repeated request with the stored one. A
 * `place` is the row of one key of one caller. Claims go by the clock of leases (`Dialect.leaseNow`).
 */
export interface Answers {
  /**
   * Claims the place for a request, for one owner at a time: of two racing calls one gets `claimed`, the other what is
   * stored there. A claim that has expired counts as free. So does the claim of the owner `over`, whose process is dead,
   * unless that owner has begun a run, which must not be done twice. An owner that has the claim already gets `claimed`.
   */
  claim(place: string, claim: AnswerClaim, now: EpochSeconds, over?: string): Promise<'claimed' | KeptAnswer>
  find(place: string): Promise<KeptAnswer | undefined>
  /** Lets the owner's claim end `seconds` from now, while there is no answer yet. */
  prolong(place: string, owner: string, seconds: number, now: EpochSeconds): Promise<void>
  /** Records what the owner is about to run; `false`, with nothing written, when another owner has the claim. */
  begin(place: string, owner: string, run: BegunRun, seconds: number, now: EpochSeconds): Promise<boolean>
  /** Stores the answer for `seconds`, if the owner still has the claim. */
  settle(place: string, owner: string, answer: Sealed, seconds: number, now: EpochSeconds): Promise<void>
  /** Frees the place without an answer, if the owner still has the claim. */
  release(place: string, owner: string): Promise<void>
  /** Deletes the answers and claims that have expired; returns how many. */
  sweep(now: EpochSeconds): Promise<number>
}

/** The values of every write by an owner. */
interface Owned {
  readonly place: string
  readonly owner: string
  readonly seconds: number
  readonly now: EpochSeconds
}

export function createAnswers({
  tables,
  query,
  statement,
  read,
  writeRepeatable,
  dialect,
}: Database): Answers {
  const { answers } = tables
  const isOpen = isNull(answers.answer)
  const hasExpired = (now: EpochSeconds) => lte(answers.until, dialect.leaseNow(now))
  const ofOwner = (p: { place: string; owner: string }) =>
    and(eq(answers.place, p.place), eq(answers.owner, p.owner))
  const place = { place: answers.place }

  const byPlace = statement((p: { place: string }) =>
    query
      .select({
        request: answers.request,
        answer: answers.answer,
        owner: answers.owner,
        claimedBy: answers.claimedBy,
        begun: answers.begun,
      })
      .from(answers)
      .where(eq(answers.place, p.place)),
  )
  const claim = variantsOf((how: 'free' | 'free or over') =>
    statement((p: AnswerClaim & { place: string; now: EpochSeconds; over: string }) => {
      const claimed = {
        projectId: p.projectId,
        owner: p.owner,
        request: p.request,
        claimedBy: p.claimedBy,
        until: leaseEnd(dialect, p),
      }
      const isOfDeadOwner = and(eq(answers.owner, p.over), isOpen, isNull(answers.begun))
      return query
        .insert(answers)
        .values({ place: p.place, ...claimed })
        .onConflictDoUpdate({
          target: answers.place,
          set: { ...claimed, answer: sql`null`, begun: sql`null` },
          setWhere: sql`(${or(hasExpired(p.now), how === 'free' ? undefined : isOfDeadOwner)})`,
        })
        .returning(place)
    }),
  )
  const prolong = statement((p: Owned) =>
    query
      .update(answers)
      .set({ until: leaseEnd(dialect, p) })
      .where(and(ofOwner(p), isOpen))
      .returning(place),
  )
  const begin = statement((p: Owned & { run: BegunRun }) =>
    query
      .update(answers)
      .set({ begun: p.run, until: leaseEnd(dialect, p) })
      .where(and(ofOwner(p), isOpen))
      .returning(place),
  )
  const settle = statement((p: Owned & { answer: Sealed }) =>
    query
      .update(answers)
      .set({ answer: p.answer, until: leaseEnd(dialect, p) })
      .where(ofOwner(p))
      .returning(place),
  )
  const release = statement((p: { place: string; owner: string }) =>
    query.delete(answers).where(ofOwner(p)).returning(place),
  )
  const sweep = statement((p: { now: EpochSeconds }) => {
    // a subquery: PostgreSQL uses no index for a comparison with `clock_timestamp()`, which changes while a statement runs
    const isOld = sql`${answers.until} <= (select ${dialect.leaseNow(p.now)})`
    const old = query.select(place).from(answers).where(isOld).limit(dialect.sweptAtOnce)
    return query
      .delete(answers)
      .where(and(inArray(answers.place, old), hasExpired(p.now)))
      .returning(place)
  })

  const find = async (at: string): Promise<KeptAnswer | undefined> => (await read(byPlace({ place: at })))[0]

  return {
    find,
    async claim(at, wanted, now, over) {
      const variant = claim(over === undefined ? 'free' : 'free or over')
      for (;;) {
        const claimed = await writeRepeatable(variant({ ...wanted, place: at, now, over: over ?? '' }))
        if (claimed.length > 0) return 'claimed'
        const known = await find(at)
        // this call made the claim before: the outcome of the first attempt was lost with the connection
        if (known?.owner === wanted.owner && known.answer === undefined) return 'claimed'
        if (known !== undefined) return known
      }
    },
    async prolong(at, owner, seconds, now) {
      await writeRepeatable(prolong({ place: at, owner, seconds, now }))
    },
    async begin(at, owner, run, seconds, now) {
      return (await writeRepeatable(begin({ place: at, owner, run, seconds, now }))).length > 0
    },
    async settle(at, owner, answer, seconds, now) {
      await writeRepeatable(settle({ place: at, owner, answer, seconds, now }))
    },
    async release(at, owner) {
      await writeRepeatable(release({ place: at, owner }))
    },
    async sweep(now) {
      return inSlices(() => writeRepeatable(sweep({ now })))
    },
  }
}
