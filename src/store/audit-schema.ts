import type { SchemaKit } from './schema-kit.ts'

/** Up to which entry each project's trail was archived, one row for each archive. It is not derived from anything. */
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
 * The tables of the search index of the audit trail. All of it is derived from `audit_blocks`: it can be deleted and is
 * then made again.
 */
export function describeAuditIndex({ table, text, integer, whole, primaryKey }: SchemaKit) {
  /**
   * Which entries of a segment have which terms. Terms share a row by a part of their hash, so that a segment is a few
   * hundred rows however many users it has.
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

  /** Between which times the blocks of an indexed segment were written. */
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

  /** How far each project's trail is indexed, and which process does it. */
  const auditProgress = table('audit_progress', {
    projectId: text('project_id').primaryKey(),
    /** The first segment that is indexed. */
    indexedFrom: whole('indexed_from').notNull(),
    /** The first segment after it that is not. */
    indexedTo: whole('indexed_to').notNull(),
    leaseOwner: text('lease_owner'),
    leaseUntil: whole('lease_until'),
  })

  return { auditTerms, auditSegments, auditProgress }
}
