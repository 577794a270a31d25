import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import { present } from '../rows.ts'
import type { Answers, KeptAnswer } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { answers } from './schema.ts'

export function sqliteAnswers({ db, write }: SqliteContext): Answers {
  const ofOwner = (place: string, owner: string) => and(eq(answers.place, place), eq(answers.owner, owner))
  const isOpen = isNull(answers.answer)

  /** What has run out, and what a dead process holds without having begun anything. */
  const isFree = (now: EpochSeconds, over: string | undefined): SQL =>
    over === undefined
      ? lte(answers.until, now)
      : sql`(${lte(answers.until, now)} or ${and(eq(answers.owner, over), isOpen, isNull(answers.begun))})`

  async function find(place: string): Promise<KeptAnswer | undefined> {
    const { request, answer, owner, claimedBy, begun } = answers
    const row = db
      .select({ request, answer, owner, claimedBy, begun })
      .from(answers)
      .where(eq(answers.place, place))
      .get()
    return row && present(row)
  }

  return {
    find,
    async claim(place, { seconds, ...claim }, now, over) {
      const until = now + seconds
      const claimed = write(undefined, (tx) =>
        tx
          .insert(answers)
          .values({ place, ...claim, until })
          .onConflictDoUpdate({
            target: answers.place,
            set: { ...claim, until, answer: sql`null`, begun: sql`null` },
            setWhere: isFree(now, over),
          })
          .returning({ place: answers.place })
          .get(),
      )
      if (claimed !== undefined) return 'claimed'
      return (await find(place)) ?? this.claim(place, { seconds, ...claim }, now, over)
    },
    async prolong(place, owner, seconds, now) {
      db.update(answers)
        .set({ until: now + seconds })
        .where(and(ofOwner(place, owner), isOpen))
        .run()
    },
    async begin(place, owner, begun, seconds, now) {
      const { changes } = db
        .update(answers)
        .set({ begun, until: now + seconds })
        .where(and(ofOwner(place, owner), isOpen))
        .run()
      return changes > 0
    },
    async settle(place, owner, answer, seconds, now) {
      db.update(answers)
        .set({ answer, until: now + seconds })
        .where(ofOwner(place, owner))
        .run()
    },
    async release(place, owner) {
      db.delete(answers).where(ofOwner(place, owner)).run()
    },
    async sweep(now) {
      return db.delete(answers).where(lte(answers.until, now)).run().changes
    },
  }
}
