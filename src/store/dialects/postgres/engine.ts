/** The database servers that speak PostgreSQL's protocol and SQL. The coordinator of Citus counts as PostgreSQL. */
export type Engine = 'postgresql' | 'cockroachdb' | 'yugabytedb'

/** Reads the result of `version()`, such as `PostgreSQL 15.2-YB-2025.2.3.0-b0 on …` or `CockroachDB CCL v25.2.0 …`. */
export function engineOf(version: string): Engine {
  if (version.startsWith('CockroachDB')) return 'cockroachdb'
  if (/^PostgreSQL \S*-YB-/.test(version)) return 'yugabytedb'
  return 'postgresql'
}

export interface Abilities {
  /** Whether a snapshot lists the transactions that a read has seen, so that nodes can follow a table of changes. */
  readonly hasSnapshots: boolean
}

export const ABILITY_FUNCTIONS = ['pg_current_snapshot', 'pg_current_xact_id'] as const

/**
 * The abilities beyond plain SQL that the store uses. A distributed engine may have functions of these names with another
 * meaning: each of its machines assigns its own transaction ids, so their order says nothing about that of commits.
 */
export function abilitiesOf(version: string, functions: readonly string[]): Abilities {
  const isPostgres = engineOf(version) === 'postgresql'
  return { hasSnapshots: isPostgres && ABILITY_FUNCTIONS.every((name) => functions.includes(name)) }
}
