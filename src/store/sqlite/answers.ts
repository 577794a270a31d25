import { and, eq, isNull, lt, lte, sql } from 'drizzle-orm'
import { present } from '../rows.ts'
import type { Answers, KeptAnswer } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { answers } from './schema.ts'

export function sqliteAnswers({ db, write }: SqliteContext): Answers {
  const ofOwner = (place: string, owner: string) => and(eq(answers.place, place), eq(answers.owner, owner))

  async function find(place: string): Promise<KeptAnswer | undefined> {
    const row = db
      .select({ request: answers.request, answer: answers.answer })
      .from(answers)
      .where(eq(answers.place, place))
      .get()
    return row && present(row)
  }

  return {
    find,
    async claim(place, claim, now) {
      const claimed = write(undefined, (tx) =>
        tx
          .insert(answers)
          .values({ place, ...claim })
          .onConflictDoUpdate({
            target: answers.place,
            set: { ...claim, answer: sql`null` },
            setWhere: lte(answers.until, now),
          })
          .returning({ place: answers.place })
          .get(),
      )
      if (claimed !== undefined) return 'claimed'
      return (await find(place)) ?? this.claim(place, claim, now)
    },
    async prolong(place, owner, until) {
      db.update(answers)
        .set({ until })
        .where(and(ofOwner(place, owner), isNull(answers.answer)))
        .run()
    },
    async settle(place, owner, answer, until) {
      db.update(answers).set({ answer, until }).where(ofOwner(place, owner)).run()
    },
    async release(place, owner) {
      db.delete(answers).where(ofOwner(place, owner)).run()
    },
    async sweep(before) {
      return db.delete(answers).where(lt(answers.until, before)).run().changes
    },
  }
}
