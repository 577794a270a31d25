import { and, eq, sql } from 'drizzle-orm'
import { present, workerRow } from '../rows.ts'
import type { Workers } from '../tool-nouns.ts'
import type { SqliteContext } from './database.ts'
import { tools, workers } from './schema.ts'

export function sqliteWorkers({ db, write }: SqliteContext): Workers {
  const find = (projectId: string, id: string) =>
    db
      .select()
      .from(workers)
      .where(and(eq(workers.projectId, projectId), eq(workers.id, id)))
      .get()

  return {
    async add(worker, audit) {
      const row = write(audit, (tx, announce) => {
        const added = tx.insert(workers).values(worker).onConflictDoNothing().returning().get()
        if (added !== undefined) announce({ noun: 'worker' })
        return added
      })
      return row && present(row)
    },
    async put(worker, audit) {
      write(audit, (tx, announce) => {
        tx.update(workers).set(workerRow(worker)).where(eq(workers.uid, worker.uid)).run()
        announce({ noun: 'worker' })
        return true
      })
    },
    async accept({ uid, accepted = null, acceptedMac = null }, audit) {
      write(audit, (tx, announce) => {
        tx.update(workers).set({ accepted, acceptedMac }).where(eq(workers.uid, uid)).run()
        announce({ noun: 'worker' })
        return true
      })
    },
    async findByUid(uid) {
      const row = db.select().from(workers).where(eq(workers.uid, uid)).get()
      return row && present(row)
    },
    async find(projectId, id) {
      const row = find(projectId, id)
      return row && present(row)
    },
    async list(projectId) {
      return db
        .select()
        .from(workers)
        .where(eq(workers.projectId, projectId))
        .orderBy(workers.uid)
        .all()
        .map(present)
    },
    async all() {
      return db.select().from(workers).orderBy(workers.uid).all().map(present)
    },
    async delete(projectId, id, audit) {
      return write(audit, (tx, announce) => {
        const worker = tx
          .delete(workers)
          .where(and(eq(workers.projectId, projectId), eq(workers.id, id)))
          .returning()
          .get()
        if (worker === undefined) return false
        tx.delete(tools).where(eq(tools.workerUid, worker.uid)).run()
        tx.update(tools)
          .set({ binding: null })
          .where(sql`json_extract(${tools.binding}, '$.workerUid') = ${worker.uid}`)
          .run()
        announce({ noun: 'tool' })
        announce({ noun: 'worker' })
        return true
      })
    },
  }
}
