import type { SchemaKit } from './schema-kit.ts'

/** How far each project's trail was archived, and who works on it. */
export function describeTrailTables({ table, text, whole, primaryKey }: SchemaKit) {
  /** Up to which entry the trail was archived: a row for each archive. It cannot be derived from other rows. */
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

  /** Which process works on the whole trail of a project (`trail-leases.ts`), and how far the trail is indexed. */
  const auditProgress = table('audit_progress', {
    projectId: text('project_id').primaryKey(),
    /** The first segment that is indexed. */
    indexedFrom: whole('indexed_from').notNull(),
    /** The first segment after `indexedFrom` that is not indexed. */
    indexedTo: whole('indexed_to').notNull(),
    leaseOwner: text('lease_owner'),
    leaseUntil: whole('lease_until'),
  })

  return { auditAnchors, auditProgress }
}
