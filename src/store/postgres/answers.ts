import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { Answers, KeptAnswer } from '../store.ts'
import { databaseNow, type PostgresContext } from './database.ts'
import { answers } from './schema.ts'

export function postgresAnswers({ db }: PostgresContext): Answers {
  const ofOwner = (place: string, owner: string) => and(eq(answers.place, place), eq(answers.owner, owner))
  const isOpen = isNull(answers.answer)
  const after = (seconds: number) => sql`${databaseNow} + ${seconds}`

  const hasRunOut = lte(answers.until, databaseNow)
  /** What has run out, and what a dead process holds without having begun anything. */
  const isFree = (over: string | undefined): SQL =>
    over === undefined
      ? hasRunOut
      : sql`(${hasRunOut} or ${and(eq(answers.owner, over), isOpen, isNull(answers.begun))})`

  async function find(place: string): Promise<KeptAnswer | undefined> {
    const { request, answer, owner, claimedBy, begun } = answers
    const [row] = await db
      .select({ request, answer, owner, claimedBy, begun })
      .from(answers)
      .where(eq(answers.place, place))
    return row && present(row)
  }

  return {
    find,
    async claim(place, { seconds, ...claim }, now, over) {
      const claimed = await db
        .insert(answers)
        .values({ place, ...claim, until: after(seconds) })
        .onConflictDoUpdate({
          target: answers.place,
          set: { ...claim, until: after(seconds), answer: sql`null`, begun: sql`null` },
          setWhere: isFree(over),
        })
        .returning({ place: answers.place })
      if (claimed.length > 0) return 'claimed'
      return (await find(place)) ?? this.claim(place, { seconds, ...claim }, now, over)
    },
    async prolong(place, owner, seconds) {
      await db
        .update(answers)
        .set({ until: after(seconds) })
        .where(and(ofOwner(place, owner), isOpen))
    },
    async begin(place, owner, begun, seconds) {
      const { rowCount } = await db
        .update(answers)
        .set({ begun, until: after(seconds) })
        .where(and(ofOwner(place, owner), isOpen))
      return (rowCount ?? 0) > 0
    },
    async settle(place, owner, answer, seconds) {
      await db
        .update(answers)
        .set({ answer, until: after(seconds) })
        .where(ofOwner(place, owner))
    },
    async release(place, owner) {
      await db.delete(answers).where(ofOwner(place, owner))
    },
    async sweep() {
      const gone = await db.delete(answers).where(hasRunOut).returning({ place: answers.place })
      return gone.length
    },
  }
}
