import { and, desc, eq, lt } from 'drizzle-orm'
import type { AuditAnchor } from '../domain/audit.ts'
import type { Database } from './database.ts'
import type { OfProject } from './statement.ts'

/** Up to which entry each project's trail was archived. The store checks no MAC, so a row may be forged. */
export interface AuditAnchors {
  /** The anchors whose last entry comes before the entry `before`, newest first. */
  list(projectId: string, before: number, limit: number): Promise<readonly AuditAnchor[]>
}

export function createAuditAnchors({ tables, query, statement, read }: Database): AuditAnchors {
  const { auditAnchors } = tables

  const list = statement((p: OfProject & { before: number; limit: number }) =>
    query
      .select()
      .from(auditAnchors)
      .where(and(eq(auditAnchors.projectId, p.projectId), lt(auditAnchors.lastSeq, p.before)))
      .orderBy(desc(auditAnchors.lastSeq))
      .limit(p.limit),
  )
  return {
    async list(projectId, before, limit) {
      return read(list({ projectId, before, limit }))
    },
  }
}
