import { and, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from '../../store/database.ts'
import type { Approval } from './domain.ts'

// Conditions that statements about approvals and about standing approvals have.

/** A call without a user counts among those without one. */
export type Whose = 'of a user' | 'without a user'

export function whoseOf({ userId }: Pick<Approval, 'userId'>): Whose {
  return userId === undefined ? 'without a user' : 'of a user'
}

interface OfUserOrNone {
  readonly projectId: string
  readonly userId?: string | null | undefined
}

export function isOfWhom(
  table: SQLiteTable & Readonly<Record<'projectId' | 'userId', AnySQLiteColumn>>,
  whose: Whose,
  p: OfUserOrNone,
): SQL | undefined {
  const isTheirs = whose === 'of a user' ? eq(table.userId, p.userId) : isNull(table.userId)
  return and(eq(table.projectId, p.projectId), isTheirs)
}

/** Whether the rules of the project are still those under which the call was judged. */
export function hasRulesVersion(
  projects: Database['tables']['projects'],
  p: { readonly projectId: string; readonly version: number },
): SQL {
  return sql`exists (select 1 from ${projects} where ${projects.id} = ${p.projectId} and ${projects.policiesVersion} = ${p.version})`
}

/** The user's block of the agent, as a subquery. */
export function blockOf(
  { tables: { standingApprovals }, query }: Database,
  whose: Whose,
  p: OfUserOrNone & { readonly agent: string },
) {
  const { id, agent, kind } = standingApprovals
  return query
    .select({ id })
    .from(standingApprovals)
    .where(and(isOfWhom(standingApprovals, whose, p), eq(agent, p.agent), eq(kind, 'block')))
}
