/** What speaks PostgreSQL's protocol and dialect. Citus is PostgreSQL with an extension, and its coordinator is meant. */
export type Engine = 'postgresql' | 'cockroachdb' | 'yugabytedb'

/** By what `version()` says: `PostgreSQL 15.2-YB-2025.2.3.0-b0 on …`, `CockroachDB CCL v25.2.0 …`. */
export function engineOf(version: string): Engine {
  if (version.startsWith('CockroachDB')) return 'cockroachdb'
  if (/^PostgreSQL \S*-YB-/.test(version)) return 'yugabytedb'
  return 'postgresql'
}

export interface Abilities {
  /** Whether a snapshot tells which transactions a read has seen, so that nodes can follow a table of changes. */
  readonly hasSnapshots: boolean
  /** Whether the outcome of a transaction can be asked for after its connection was lost. */
  readonly tellsOutcome: boolean
}

export const ABILITY_FUNCTIONS = [
  'pg_current_snapshot',
  'pg_current_xact_id',
  'pg_xact_status',
  'pg_current_xact_id_if_assigned',
] as const

/**
 * What the store relies on beyond plain SQL. An engine of many machines may have these functions without their meaning:
 * its machines give transaction ids each on its own, so that another one would call a committed transaction aborted,
 * and the write would be made twice.
 */
export function abilitiesOf(version: string, functions: readonly string[]): Abilities {
  const isPostgres = engineOf(version) === 'postgresql'
  const has = (...names: (typeof ABILITY_FUNCTIONS)[number][]) =>
    isPostgres && names.every((name) => functions.includes(name))
  return {
    hasSnapshots: has('pg_current_snapshot', 'pg_current_xact_id'),
    tellsOutcome: has('pg_xact_status', 'pg_current_xact_id_if_assigned'),
  }
}
