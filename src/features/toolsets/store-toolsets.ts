import { eq, getTableColumns } from 'drizzle-orm'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import { sameMembers } from '../../store/same-members.ts'
import { type InProject, type OfProject, placeholdersOf } from '../../store/statement.ts'
import { writeRow } from '../../store/write-row.ts'
import type { Toolset } from './domain.ts'

/** The bare name of each tool of a toolset, by `namespace:name` in lower case. */
export type BareNames = Readonly<Record<string, string>>

export interface Toolsets {
  /** `false` when the project has a toolset of that id already. */
  add(toolset: Toolset, audit?: AuditEntries): Promise<boolean>
  /**
   * Writes the toolset except for its bare names. `false`, with nothing written, when it is no longer `from`, or was
   * deleted.
   */
  change(from: Toolset, to: Toolset, audit?: AuditEntries): Promise<boolean>
  find(projectId: string, id: string): Promise<Toolset | undefined>
  /** In the order of their ids. */
  list(projectId: string): Promise<readonly Toolset[]>
  /** The bare names that tools were given in the toolset. Empty for an unknown toolset. */
  bareNames(projectId: string, id: string): Promise<BareNames>
  /**
   * Replaces the toolset's bare names by the result of `give`, and returns it. Simultaneous calls run one after the other,
   * each with the names that the call before it has written. `give` may be called again.
   */
  giveBareNames(projectId: string, id: string, give: (given: BareNames) => BareNames): Promise<BareNames>
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export function createToolsets({ tables, query, statement, read, write, dialect }: Database): Toolsets {
  const { toolsets } = tables
  const { bareNames: _, ...columns } = getTableColumns(toolsets)
  const members = Object.keys(columns) as (keyof Toolset)[] // the type of `Object.keys` loses the names
  const named = (p: InProject) => hasIdInProject(toolsets, p)
  const change = { noun: 'toolset' } as const

  const byId = statement((p: InProject) => query.select(columns).from(toolsets).where(named(p)))
  const ofProject = statement((p: OfProject) =>
    query.select(columns).from(toolsets).where(eq(toolsets.projectId, p.projectId)).orderBy(toolsets.id),
  )
  const insert = statement((_: typeof toolsets.$inferInsert) =>
    query
      .insert(toolsets)
      .values(placeholdersOf(toolsets))
      .onConflictDoNothing()
      .returning({ id: toolsets.id }),
  )
  const update = statement((p: typeof toolsets.$inferInsert) => {
    const { bareNames: _, ...row } = placeholdersOf(toolsets)
    return query.update(toolsets).set(row).where(named(p)).returning({ id: toolsets.id })
  })
  const remove = statement((p: InProject) =>
    query.delete(toolsets).where(named(p)).returning({ id: toolsets.id }),
  )
  const namesOf = statement((p: InProject) =>
    query.select({ bareNames: toolsets.bareNames }).from(toolsets).where(named(p)),
  )
  const locked = statement((p: InProject) =>
    dialect.lock(query.select().from(toolsets).where(named(p)), 'for update'),
  )
  const putNames = statement((p: InProject & { bareNames: BareNames }) =>
    query.update(toolsets).set({ bareNames: p.bareNames }).where(named(p)).returning({ id: toolsets.id }),
  )

  return {
    async add(toolset, audit) {
      return (await writeRow(write, audit, change, () => insert(toolset))) !== undefined
    },
    async change(from, to, audit) {
      return write(audit, function* (announce) {
        const [current] = yield* locked(from)
        if (current === undefined || !sameMembers<Toolset>(current, from, members)) return false
        yield* update(to)
        announce(change)
        return true
      })
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    async bareNames(projectId, id) {
      return (await read(namesOf({ projectId, id })))[0]?.bareNames ?? {}
    },
    async giveBareNames(projectId, id, give) {
      // not announced: a process reads the names again when it needs one that it does not know
      return write(undefined, function* () {
        const [row] = yield* locked({ projectId, id })
        const given = give(row?.bareNames ?? {})
        yield* putNames({ projectId, id, bareNames: given })
        return given
      })
    },
    async delete(projectId, id, audit) {
      return (await writeRow(write, audit, change, () => remove({ projectId, id }))) !== undefined
    },
  }
}
