import { eq } from 'drizzle-orm'
import { newId } from '../../domain/ids.ts'
import type { Projects } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { projects } from './schema.ts'

export function sqliteProjects({ db, write }: SqliteContext): Projects {
  return {
    async ensure(name, now) {
      db.insert(projects)
        .values({ id: newId('proj'), name, createdAt: now })
        .onConflictDoNothing()
        .run()
      const project = db.select().from(projects).where(eq(projects.name, name)).get()
      if (project === undefined) throw new Error(`project ${name} is neither there nor could it be added`)
      return project
    },
    async add(project, audit) {
      return write(audit, (tx) => tx.insert(projects).values(project).onConflictDoNothing().run().changes > 0)
    },
    async find(id) {
      return db.select().from(projects).where(eq(projects.id, id)).get()
    },
    async list() {
      return db.select().from(projects).orderBy(projects.id).all()
    },
    async findByName(name) {
      return db.select().from(projects).where(eq(projects.name, name)).get()
    },
  }
}
