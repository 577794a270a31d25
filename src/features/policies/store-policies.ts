import { isDeepStrictEqual } from 'node:util'
import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import { type InProject, type OfProject, placeholdersOf } from '../../store/statement.ts'
import { type Policy, policyUid } from './domain.ts'

/** The enabled policies of a project, and the version of all its policies, which each write of a policy raises. */
export interface PoliciesInForce {
  readonly version: number
  readonly policies: readonly Policy[]
}

export interface Policies {
  /** Adds the policy, or returns `undefined` when its `id` is taken in the project. */
  add(policy: Policy, audit?: AuditEntries): Promise<Policy | undefined>
  /**
   * Replaces the policy and returns the row. `undefined`, with nothing written, when the row is no longer `from`, or was
   * deleted.
   */
  change(from: Policy, to: Policy, audit?: AuditEntries): Promise<Policy | undefined>
  find(projectId: string, id: string): Promise<Policy | undefined>
  /** In the order of their ids. */
  list(projectId: string): Promise<readonly Policy[]>
  /**
   * The enabled policies, and the version that `AuditTrail.release` compares. The policies may be newer than the
   * version, never older.
   */
  inForce(projectId: string): Promise<PoliciesInForce>
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export function createPolicies({ tables, query, statement, read, write, dialect }: Database): Policies {
  const { policies, projects } = tables
  const { uid: _, ...columns } = getTableColumns(policies)

  const selectOne = (p: InProject) => query.select(columns).from(policies).where(hasIdInProject(policies, p))
  const byId = statement(selectOne)
  const locked = statement((p: InProject) => dialect.lock(selectOne(p), 'for no key update'))
  const ofProject = statement((p: OfProject) =>
    query.select(columns).from(policies).where(eq(policies.projectId, p.projectId)).orderBy(policies.id),
  )
  const version = statement((p: OfProject) =>
    query.select({ version: projects.policiesVersion }).from(projects).where(eq(projects.id, p.projectId)),
  )
  const insert = statement((_: typeof policies.$inferInsert) =>
    query.insert(policies).values(placeholdersOf(policies)).onConflictDoNothing().returning(columns),
  )
  const update = statement((p: Policy) => {
    const { uid: _, id: __, projectId: ___, ...row } = placeholdersOf(policies)
    return query.update(policies).set(row).where(hasIdInProject(policies, p)).returning(columns)
  })
  const remove = statement((p: InProject) =>
    query.delete(policies).where(hasIdInProject(policies, p)).returning({ uid: policies.uid }),
  )
  const raiseVersion = statement((p: OfProject) =>
    query
      .update(projects)
      .set({ policiesVersion: sql`${projects.policiesVersion} + 1` })
      .where(eq(projects.id, p.projectId))
      .returning({ id: projects.id }),
  )

  const list = async (projectId: string) => read(ofProject({ projectId }))

  return {
    async add(policy, audit) {
      return write(audit, function* (announce) {
        const [added] = yield* insert({ ...policy, uid: policyUid(policy.id, policy.projectId) })
        if (added === undefined) return undefined
        yield* raiseVersion(policy)
        announce({ noun: 'policy' })
        return added
      })
    },
    async change(from, to, audit) {
      const { id, projectId } = from
      return write(audit, function* (announce) {
        const [current] = yield* locked({ id, projectId })
        if (!isDeepStrictEqual(current, from)) return undefined
        const [changed] = yield* update({ ...to, id, projectId })
        yield* raiseVersion({ projectId })
        announce({ noun: 'policy' })
        return changed
      })
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    list,
    async inForce(projectId) {
      // the version is read first: if policies are newer than it, the release compares versions and they are read again
      const [row] = await read(version({ projectId }))
      const all = await list(projectId)
      return { version: row?.version ?? 0, policies: all.filter(({ enabled }) => enabled) }
    },
    async delete(projectId, id, audit) {
      return write(audit, function* (announce) {
        const gone = yield* remove({ projectId, id })
        if (gone.length === 0) return false
        yield* raiseVersion({ projectId })
        announce({ noun: 'policy' })
        return true
      })
    },
  }
}
