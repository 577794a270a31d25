import { eq } from 'drizzle-orm'
import { newId } from '../../domain/ids.ts'
import type { Projects } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { projects } from './schema.ts'

export function sqliteProjects({ db, write }: SqliteContext): Projects {
  const { id: idColumn, name: nameColumn, createdAt } = projects
  const select = () => db.select({ id: idColumn, name: nameColumn, createdAt }).from(projects)

  return {
    async ensure(name, now) {
      db.insert(projects)
        .values({ id: newId('proj'), name, createdAt: now })
        .onConflictDoNothing()
        .run()
      const project = select().where(eq(projects.name, name)).get()
      if (project === undefined) throw new Error(`project ${name} is neither there nor could it be added`)
      return project
    },
    async add(project, audit) {
      return write(audit, (tx) => tx.insert(projects).values(project).onConflictDoNothing().run().changes > 0)
    },
    async find(id) {
      return select().where(eq(projects.id, id)).get()
    },
    async list() {
      return select().orderBy(projects.id).all()
    },
    async findByName(name) {
      return select().where(eq(projects.name, name)).get()
    },
  }
}
