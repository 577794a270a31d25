import type { SchemaKit } from '../../store/schema-kit.ts'

/**
 * The tables of the search index of the audit trail. They are derived from `audit_blocks`: when they are deleted,
 * Gatepass fills them again.
 */
export function describeIndexTables({ table, text, integer, whole, primaryKey }: SchemaKit) {
  /**
   * Which entries of a segment have which terms. Terms with the same part of their hash share a row, so that a segment has
   * a few hundred rows however many users are in it.
   */
  const auditTerms = table(
    'audit_terms',
    {
      projectId: text('project_id').notNull(),
      bucket: integer('bucket').notNull(),
      segment: whole('segment').notNull(),
      terms: text('terms').notNull(),
    },
    (t) => [primaryKey({ columns: [t.projectId, t.bucket, t.segment] })],
  )

  /** The times at which the oldest and newest block of an indexed segment were written. */
  const auditSegments = table(
    'audit_segments',
    {
      projectId: text('project_id').notNull(),
      segment: whole('segment').notNull(),
      sinceAt: whole('since_at').notNull(),
      untilAt: whole('until_at').notNull(),
    },
    (t) => [primaryKey({ columns: [t.projectId, t.segment] })],
  )

  return { auditTerms, auditSegments }
}
