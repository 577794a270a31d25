import { and, eq, sql } from 'drizzle-orm'
import { present, workerRow } from '../rows.ts'
import type { Workers } from '../tool-nouns.ts'
import type { PostgresContext } from './database.ts'
import { tools, workers } from './schema.ts'

export function postgresWorkers({ db, write }: PostgresContext): Workers {
  return {
    async add(worker, audit) {
      const row = await write(audit, async (tx, announce) => {
        const [added] = await tx.insert(workers).values(worker).onConflictDoNothing().returning()
        if (added !== undefined) announce({ noun: 'worker' })
        return added
      })
      return row && present(row)
    },
    async put(worker, audit) {
      await write(audit, async (tx, announce) => {
        await tx.update(workers).set(workerRow(worker)).where(eq(workers.uid, worker.uid))
        announce({ noun: 'worker' })
        return true
      })
    },
    async accept({ uid, accepted = null, acceptedMac = null }, audit) {
      await write(audit, async (tx, announce) => {
        await tx.update(workers).set({ accepted, acceptedMac }).where(eq(workers.uid, uid))
        announce({ noun: 'worker' })
        return true
      })
    },
    async findByUid(uid) {
      const [row] = await db.select().from(workers).where(eq(workers.uid, uid))
      return row && present(row)
    },
    async find(projectId, id) {
      const [row] = await db
        .select()
        .from(workers)
        .where(and(eq(workers.projectId, projectId), eq(workers.id, id)))
      return row && present(row)
    },
    async list(projectId) {
      const rows = await db
        .select()
        .from(workers)
        .where(eq(workers.projectId, projectId))
        .orderBy(workers.uid)
      return rows.map(present)
    },
    async all() {
      return (await db.select().from(workers).orderBy(workers.uid)).map(present)
    },
    async delete(projectId, id, audit) {
      return write(audit, async (tx, announce) => {
        const [worker] = await tx
          .delete(workers)
          .where(and(eq(workers.projectId, projectId), eq(workers.id, id)))
          .returning({ uid: workers.uid })
        if (worker === undefined) return false
        await tx.delete(tools).where(eq(tools.workerUid, worker.uid))
        await tx
          .update(tools)
          .set({ binding: null })
          .where(sql`${tools.binding}::json ->> 'workerUid' = ${worker.uid}`)
        announce({ noun: 'tool' })
        announce({ noun: 'worker' })
        return true
      })
    },
  }
}
