import { eq } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import { newId } from '../domain/ids.ts'
import type { Project } from '../domain/project.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import type { ById } from './statement.ts'

export interface Projects {
  /** Returns the project of that name, and adds it if there is none. */
  ensure(name: string, now: EpochSeconds): Promise<Project>
  /** Adds the project; `false` when its name is taken. */
  add(project: Project, audit?: AuditEntries): Promise<boolean>
  find(id: string): Promise<Project | undefined>
  findByName(name: string): Promise<Project | undefined>
  list(): Promise<readonly Project[]>
}

export function createProjects({ tables, query, statement, read, write }: Database): Projects {
  const { projects } = tables
  const select = () =>
    query.select({ id: projects.id, name: projects.name, createdAt: projects.createdAt }).from(projects)

  const byId = statement((p: ById) => select().where(eq(projects.id, p.id)))
  const byName = statement((p: { name: string }) => select().where(eq(projects.name, p.name)))
  const all = statement((_: object) => select().orderBy(projects.id))
  const insert = statement(({ id, name, createdAt }: Project) =>
    query
      .insert(projects)
      .values({ id, name, createdAt })
      .onConflictDoNothing()
      .returning({ id: projects.id }),
  )

  const findByName = async (name: string) => (await read(byName({ name })))[0]

  return {
    async ensure(name, now) {
      const known = await findByName(name)
      if (known !== undefined) return known
      await write(undefined, () => insert({ id: newId('proj'), name, createdAt: now }))
      const project = await findByName(name)
      if (project === undefined) throw new Error(`project ${name} was neither found nor added`)
      return project
    },
    async add(project, audit) {
      return write(audit, function* () {
        return (yield* insert(project)).length > 0
      })
    },
    async find(id) {
      return (await read(byId({ id })))[0]
    },
    findByName,
    async list() {
      return read(all({}))
    },
  }
}
