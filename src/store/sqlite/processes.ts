import { and, eq, gte, isNotNull, lte, not, notInArray, type SQL, sql } from 'drizzle-orm'
import type { Processes } from '../processes.ts'
import type { SqliteContext } from './database.ts'
import { authorizations, processes } from './schema.ts'

const nowMs = sql<number>`cast(unixepoch('subsec') * 1000 as integer)`

export function sqliteProcesses({ db, write }: SqliteContext): Processes {
  const { id: processId, beatAt } = processes
  // a beat of the future is one from before the clock was set back
  const isFresh = (lapseMs: number): SQL =>
    sql`${and(gte(beatAt, sql`${nowMs} - ${lapseMs}`), lte(beatAt, sql`${nowMs} + ${lapseMs}`))}`
  const claimOfTheDead = and(
    eq(authorizations.status, 'exchanging'),
    isNotNull(authorizations.claimedBy),
    notInArray(authorizations.claimedBy, db.select({ id: processId }).from(processes)),
  )

  return {
    async enter(id) {
      db.insert(processes)
        .values({ id, beatAt: nowMs })
        .onConflictDoUpdate({ target: processId, set: { beatAt: nowMs } })
        .run()
    },
    async beat(id) {
      return write(undefined, (tx) => {
        const age = tx
          .select({ ms: sql<number>`abs(${nowMs} - ${beatAt})` })
          .from(processes)
          .where(eq(processId, id))
          .get()
        if (age !== undefined) tx.update(processes).set({ beatAt: nowMs }).where(eq(processId, id)).run()
        return age?.ms
      })
    },
    async leave(id) {
      db.delete(processes).where(eq(processId, id)).run()
    },
    async isAlive(id, lapseMs) {
      db.delete(processes)
        .where(and(eq(processId, id), not(isFresh(lapseMs))))
        .run()
      return db.select().from(processes).where(eq(processId, id)).get() !== undefined
    },
    async bury(lapseMs) {
      // a look first: most often there is nothing to write, and writers are one at a time
      const lapsed = db
        .select({ id: processId })
        .from(processes)
        .where(not(isFresh(lapseMs)))
        .get()
      const claim = db.select({ id: authorizations.id }).from(authorizations).where(claimOfTheDead).get()
      if (lapsed === undefined && claim === undefined) return 0
      return write(undefined, (tx, announce) => {
        tx.delete(processes)
          .where(not(isFresh(lapseMs)))
          .run()
        const freed = tx
          .update(authorizations)
          .set({ deadline: 0, claimedBy: null })
          .where(claimOfTheDead)
          .returning({ id: authorizations.id })
          .all()
        for (const { id } of freed) announce({ noun: 'authorization', id })
        return freed.length
      })
    },
  }
}
