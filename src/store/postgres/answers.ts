import { and, eq, isNull, lt, lte, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { Answers, KeptAnswer } from '../store.ts'
import type { PostgresContext } from './database.ts'
import { answers } from './schema.ts'

export function postgresAnswers({ db }: PostgresContext): Answers {
  const ofOwner = (place: string, owner: string) => and(eq(answers.place, place), eq(answers.owner, owner))

  async function find(place: string): Promise<KeptAnswer | undefined> {
    const [row] = await db
      .select({ request: answers.request, answer: answers.answer })
      .from(answers)
      .where(eq(answers.place, place))
    return row && present(row)
  }

  return {
    find,
    async claim(place, claim, now) {
      const claimed = await db
        .insert(answers)
        .values({ place, ...claim })
        .onConflictDoUpdate({
          target: answers.place,
          set: { ...claim, answer: sql`null` },
          setWhere: lte(answers.until, now),
        })
        .returning({ place: answers.place })
      if (claimed.length > 0) return 'claimed'
      return (await find(place)) ?? this.claim(place, claim, now)
    },
    async prolong(place, owner, until) {
      await db
        .update(answers)
        .set({ until })
        .where(and(ofOwner(place, owner), isNull(answers.answer)))
    },
    async settle(place, owner, answer, until) {
      await db.update(answers).set({ answer, until }).where(ofOwner(place, owner))
    },
    async release(place, owner) {
      await db.delete(answers).where(ofOwner(place, owner))
    },
    async sweep(before) {
      const gone = await db
        .delete(answers)
        .where(lt(answers.until, before))
        .returning({ place: answers.place })
      return gone.length
    },
  }
}
