import { and, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { BegunRun } from '../domain/execution.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Database } from './database.ts'
import { leaseEnd } from './lease.ts'
import { variantsOf } from './statement.ts'
import { inSlices } from './sweep.ts'

/** What is stored for an idempotency key: the answer, or no answer yet while a process carries out the request. */
export interface KeyUse {
  /** The hash of the request that was made. */
  readonly request: string
  readonly answer?: Sealed
  readonly owner: string
  /** The process that has claimed the key (`Processes`); absent in claims of older releases. */
  readonly claimedBy?: string
  /** What the owner was about to run, if that must not be run twice. */
  readonly begun?: BegunRun
}

export interface KeyClaim {
  readonly projectId: string
  readonly owner: string
  readonly request: string
  readonly claimedBy: string
  readonly seconds: number
}

/**
 * The idempotency keys of requests: any process answers a repeated request with the stored answer. `keyHash` is the hash of
 * one key of one caller. Claims go by the clock of leases (`Dialect.leaseNow`).
 */
export interface IdempotencyKeys {
  /**
   * Claims the key for a request, for one owner at a time: of two racing calls one gets `claimed`, the other what is
   * stored for it. A claim that has expired counts as free. So does the claim of the owner `over`, whose process is dead,
   * unless that owner has begun a run, which must not be done twice. An owner that has the claim already gets `claimed`.
   */
  claim(keyHash: string, claim: KeyClaim, now: EpochSeconds, over?: string): Promise<'claimed' | KeyUse>
  find(keyHash: string): Promise<KeyUse | undefined>
  /** Lets the owner's claim end `seconds` from now, while there is no answer yet. */
  prolong(keyHash: string, owner: string, seconds: number, now: EpochSeconds): Promise<void>
  /** Records what the owner is about to run; `false`, with nothing written, when another owner has the claim. */
  begin(keyHash: string, owner: string, run: BegunRun, seconds: number, now: EpochSeconds): Promise<boolean>
  /** Stores the answer for `seconds`, if the owner still has the claim. */
  settle(keyHash: string, owner: string, answer: Sealed, seconds: number, now: EpochSeconds): Promise<void>
  /** Frees the key without an answer, if the owner still has the claim. */
  release(keyHash: string, owner: string): Promise<void>
  /** Deletes the answers and claims that have expired; returns how many. */
  sweep(now: EpochSeconds): Promise<number>
}

/** The values of every write by an owner. */
interface Owned {
  readonly keyHash: string
  readonly owner: string
  readonly seconds: number
  readonly now: EpochSeconds
}

export function createIdempotencyKeys({
  tables,
  query,
  statement,
  read,
  writeRepeatable,
  dialect,
}: Database): IdempotencyKeys {
  const { answers: keys } = tables // the name is part of what its envelopes are bound to
  const isOpen = isNull(keys.answer)
  const hasExpired = (now: EpochSeconds) => lte(keys.until, dialect.leaseNow(now))
  const ofOwner = (p: { keyHash: string; owner: string }) =>
    and(eq(keys.keyHash, p.keyHash), eq(keys.owner, p.owner))
  const key = { keyHash: keys.keyHash }

  const byHash = statement((p: { keyHash: string }) =>
    query
      .select({
        request: keys.request,
        answer: keys.answer,
        owner: keys.owner,
        claimedBy: keys.claimedBy,
        begun: keys.begun,
      })
      .from(keys)
      .where(eq(keys.keyHash, p.keyHash)),
  )
  const claim = variantsOf((how: 'free' | 'free or over') =>
    statement((p: KeyClaim & { keyHash: string; now: EpochSeconds; over: string }) => {
      const claimed = {
        projectId: p.projectId,
        owner: p.owner,
        request: p.request,
        claimedBy: p.claimedBy,
        until: leaseEnd(dialect, p),
      }
      const isOfDeadOwner = and(eq(keys.owner, p.over), isOpen, isNull(keys.begun))
      return query
        .insert(keys)
        .values({ keyHash: p.keyHash, ...claimed })
        .onConflictDoUpdate({
          target: keys.keyHash,
          set: { ...claimed, answer: sql`null`, begun: sql`null` },
          setWhere: sql`(${or(hasExpired(p.now), how === 'free' ? undefined : isOfDeadOwner)})`,
        })
        .returning(key)
    }),
  )
  const prolong = statement((p: Owned) =>
    query
      .update(keys)
      .set({ until: leaseEnd(dialect, p) })
      .where(and(ofOwner(p), isOpen))
      .returning(key),
  )
  const begin = statement((p: Owned & { run: BegunRun }) =>
    query
      .update(keys)
      .set({ begun: p.run, until: leaseEnd(dialect, p) })
      .where(and(ofOwner(p), isOpen))
      .returning(key),
  )
  const settle = statement((p: Owned & { answer: Sealed }) =>
    query
      .update(keys)
      .set({ answer: p.answer, until: leaseEnd(dialect, p) })
      .where(ofOwner(p))
      .returning(key),
  )
  const release = statement((p: { keyHash: string; owner: string }) =>
    query.delete(keys).where(ofOwner(p)).returning(key),
  )
  const sweep = statement((p: { now: EpochSeconds }) => {
    // a subquery: PostgreSQL uses no index for a comparison with `clock_timestamp()`, which changes while a statement runs
    const isOld = sql`${keys.until} <= (select ${dialect.leaseNow(p.now)})`
    const old = query.select(key).from(keys).where(isOld).limit(dialect.sweptAtOnce)
    return query
      .delete(keys)
      .where(and(inArray(keys.keyHash, old), hasExpired(p.now)))
      .returning(key)
  })

  const find = async (keyHash: string): Promise<KeyUse | undefined> => (await read(byHash({ keyHash })))[0]

  return {
    find,
    async claim(keyHash, wanted, now, over) {
      const variant = claim(over === undefined ? 'free' : 'free or over')
      for (;;) {
        const claimed = await writeRepeatable(variant({ ...wanted, keyHash, now, over: over ?? '' }))
        if (claimed.length > 0) return 'claimed'
        const known = await find(keyHash)
        // this call made the claim before: the outcome of the first attempt was lost with the connection
        if (known?.owner === wanted.owner && known.answer === undefined) return 'claimed'
        if (known !== undefined) return known
      }
    },
    async prolong(keyHash, owner, seconds, now) {
      await writeRepeatable(prolong({ keyHash, owner, seconds, now }))
    },
    async begin(keyHash, owner, run, seconds, now) {
      return (await writeRepeatable(begin({ keyHash, owner, run, seconds, now }))).length > 0
    },
    async settle(keyHash, owner, answer, seconds, now) {
      await writeRepeatable(settle({ keyHash, owner, answer, seconds, now }))
    },
    async release(keyHash, owner) {
      await writeRepeatable(release({ keyHash, owner }))
    },
    async sweep(now) {
      return inSlices(() => writeRepeatable(sweep({ now })))
    },
  }
}
