import { and, eq, gte, isNotNull, lt, notInArray, sql } from 'drizzle-orm'
import type { Processes } from '../processes.ts'
import type { PostgresContext } from './database.ts'
import { authorizations, processes } from './schema.ts'

const nowMs = sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`

export function postgresProcesses({ db, write }: PostgresContext): Processes {
  const { id: processId, beatAt } = processes
  const isLapsed = (lapseMs: number) => lt(beatAt, sql`${nowMs} - ${lapseMs}::bigint`)
  const claimOfTheDead = and(
    eq(authorizations.status, 'exchanging'),
    isNotNull(authorizations.claimedBy),
    notInArray(authorizations.claimedBy, db.select({ id: processId }).from(processes)),
  )

  return {
    async enter(id) {
      await write(undefined, (tx) =>
        tx
          .insert(processes)
          .values({ id, beatAt: nowMs })
          .onConflictDoUpdate({ target: processId, set: { beatAt: nowMs } }),
      )
    },
    async beat(id) {
      return write(undefined, async (tx) => {
        // locked, so that the age is that of the beat which this one follows
        const [age] = await tx
          .select({ ms: sql<string>`${nowMs} - ${beatAt}` })
          .from(processes)
          .where(eq(processId, id))
          .for('update')
        if (age === undefined) return undefined
        await tx.update(processes).set({ beatAt: nowMs }).where(eq(processId, id))
        return Number(age.ms)
      })
    },
    async leave(id) {
      await write(undefined, (tx) => tx.delete(processes).where(eq(processId, id)))
    },
    async isAlive(id, lapseMs) {
      const [alive] = await db
        .select()
        .from(processes)
        .where(and(eq(processId, id), gte(beatAt, sql`${nowMs} - ${lapseMs}::bigint`)))
      if (alive !== undefined) return true
      await write(undefined, (tx) => tx.delete(processes).where(and(eq(processId, id), isLapsed(lapseMs))))
      return (await db.select().from(processes).where(eq(processId, id))).length > 0
    },
    async bury(lapseMs) {
      // a look first: most often there is nothing to write
      const [[lapsed], [claim]] = await Promise.all([
        db.select({ id: processId }).from(processes).where(isLapsed(lapseMs)).limit(1),
        db.select({ id: authorizations.id }).from(authorizations).where(claimOfTheDead).limit(1),
      ])
      if (lapsed === undefined && claim === undefined) return 0
      return write(undefined, async (tx, announce) => {
        await tx.delete(processes).where(isLapsed(lapseMs))
        const freed = await tx
          .update(authorizations)
          .set({ deadline: 0, claimedBy: null })
          .where(claimOfTheDead)
          .returning({ id: authorizations.id })
        for (const { id } of freed) announce({ noun: 'authorization', id })
        return freed.length
      })
    },
  }
}
