import { eq } from 'drizzle-orm'
import { newId } from '../../domain/ids.ts'
import type { Projects } from '../store.ts'
import type { PostgresContext } from './database.ts'
import { projects } from './schema.ts'

export function postgresProjects({ db, write }: PostgresContext): Projects {
  const { id: idColumn, name: nameColumn, createdAt } = projects
  const select = () => db.select({ id: idColumn, name: nameColumn, createdAt }).from(projects)
  const findByName = async (name: string) => (await select().where(eq(projects.name, name)))[0]

  return {
    async ensure(name, now) {
      const known = await findByName(name)
      if (known !== undefined) return known
      await write(undefined, (tx) =>
        tx
          .insert(projects)
          .values({ id: newId('proj'), name, createdAt: now })
          .onConflictDoNothing(),
      )
      const project = await findByName(name)
      if (project === undefined) throw new Error(`project ${name} is neither there nor could it be added`)
      return project
    },
    async add(project, audit) {
      return write(audit, async (tx) => {
        const added = await tx
          .insert(projects)
          .values(project)
          .onConflictDoNothing()
          .returning({ id: projects.id })
        return added.length > 0
      })
    },
    async find(id) {
      return (await select().where(eq(projects.id, id)))[0]
    },
    async list() {
      return select().orderBy(projects.id)
    },
    findByName,
  }
}
