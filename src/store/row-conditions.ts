import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { inPartition } from './partitions.ts'
import type { ById, InProject, OfUser } from './statement.ts'

// Conditions that the statements of several nouns have.

type TableWith<Column extends string> = SQLiteTable & Readonly<Record<Column, AnySQLiteColumn>>

/** The row with this id. */
export function hasId(table: TableWith<'id'>, p: ById): SQL | undefined {
  return and(eq(table.id, p.id), inPartition(table, p))
}

/** The row with this id, if it belongs to the project. */
export function hasIdInProject(table: TableWith<'projectId' | 'id'>, p: InProject): SQL | undefined {
  return and(eq(table.projectId, p.projectId), eq(table.id, p.id))
}

/** The rows of one user of a project. */
export function isOfUser(table: TableWith<'projectId' | 'userId'>, p: OfUser): SQL | undefined {
  return and(eq(table.projectId, p.projectId), eq(table.userId, p.userId), inPartition(table, p))
}

/** The greater of two values that are not NULL. CASE, since SQLite's `max` is `greatest` in PostgreSQL. */
export function greaterOf(one: SQLWrapper | number, other: SQLWrapper | number): SQL {
  return sql`case when ${one} > ${other} then ${one} else ${other} end`
}
