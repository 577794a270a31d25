import type { SchemaKit } from './schema-kit.ts'

/** Up to which entry each project's trail was archived: a row for each archive. It cannot be derived from other rows. */
export function describeAuditAnchors({ table, text, whole, primaryKey }: SchemaKit) {
  const auditAnchors = table(
    'audit_anchors',
    {
      projectId: text('project_id').notNull(),
      lastSeq: whole('last_seq').notNull(),
      firstSeq: whole('first_seq').notNull(),
      hash: text('hash').notNull(),
      at: whole('at').notNull(),
      mac: text('mac').notNull(),
    },
    (t) => [primaryKey({ columns: [t.projectId, t.lastSeq] })],
  )
  return { auditAnchors }
}

/**
 * The tables of the search index of the audit trail. They are derived from `audit_blocks`: when they are deleted,
 * Gatepass fills them again.
 */
export function describeAuditIndex({ table, text, integer, whole, primaryKey }: SchemaKit) {
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

  /** How far each project's trail is indexed, and which process indexes it. */
  const auditProgress = table('audit_progress', {
    projectId: text('project_id').primaryKey(),
    /** The first segment that is indexed. */
    indexedFrom: whole('indexed_from').notNull(),
    /** The first segment after `indexedFrom` that is not indexed. */
    indexedTo: whole('indexed_to').notNull(),
    leaseOwner: text('lease_owner'),
    leaseUntil: whole('lease_until'),
  })

  return { auditTerms, auditSegments, auditProgress }
}
