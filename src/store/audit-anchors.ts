import { setTimeout as pause } from 'node:timers/promises'
import { and, asc, desc, eq, gte, lt, lte, sql } from 'drizzle-orm'
import type { AuditAnchor } from '../domain/audit.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { type OfProject, placeholdersOf } from './statement.ts'

/** One statement removes the blocks of at most this many entries, which takes SQLite a few milliseconds. */
const AT_ONCE = 500

/** Up to which entry each project's trail was archived. The store checks no MAC, so a row may be forged. */
export interface AuditAnchors {
  /** The anchors whose last entry comes before the entry `before`, newest first. */
  list(projectId: string, before: number, limit: number): Promise<readonly AuditAnchor[]>
  /** Adds the anchor, with its audit entry in the same transaction; `false` when the entries were archived already. */
  add(anchor: AuditAnchor, audit: AuditEntries): Promise<boolean>
  /** Deletes the blocks up to an entry that an anchor names, in short transactions. Returns how many. */
  removeBlocks(projectId: string, lastSeq: number): Promise<number>
}

export function createAuditAnchors({
  tables,
  query,
  statement,
  read,
  write,
  writeRepeatable,
}: Database): AuditAnchors {
  const { auditAnchors, auditBlocks } = tables
  const { firstSeq } = auditBlocks

  const list = statement((p: OfProject & { before: number; limit: number }) =>
    query
      .select()
      .from(auditAnchors)
      .where(and(eq(auditAnchors.projectId, p.projectId), lt(auditAnchors.lastSeq, p.before)))
      .orderBy(desc(auditAnchors.lastSeq))
      .limit(p.limit),
  )
  const reaching = statement((p: OfProject & { seq: number; below: number }) =>
    query
      .select({ lastSeq: auditAnchors.lastSeq })
      .from(auditAnchors)
      .where(
        and(
          eq(auditAnchors.projectId, p.projectId),
          gte(auditAnchors.lastSeq, p.seq),
          lt(auditAnchors.lastSeq, p.below),
        ),
      )
      .limit(1),
  )
  const insert = statement((_: AuditAnchor) =>
    query
      .insert(auditAnchors)
      .values(placeholdersOf(auditAnchors))
      .onConflictDoNothing()
      .returning({ lastSeq: auditAnchors.lastSeq }),
  )
  const oldest = statement((p: OfProject) =>
    query
      .select({ firstSeq })
      .from(auditBlocks)
      .where(eq(auditBlocks.projectId, p.projectId))
      .orderBy(asc(firstSeq))
      .limit(1),
  )
  const remove = statement((p: OfProject & { from: number; to: number; anchor: number }) =>
    query
      .delete(auditBlocks)
      .where(
        and(
          eq(auditBlocks.projectId, p.projectId),
          gte(firstSeq, p.from),
          lte(firstSeq, p.to),
          // only blocks up to an entry that an anchor names
          sql`exists (select 1 from ${auditAnchors} as anchor
            where anchor.project_id = ${p.projectId} and anchor.last_seq = ${p.anchor})`,
        ),
      )
      .returning({ firstSeq }),
  )

  return {
    async list(projectId, before, limit) {
      return read(list({ projectId, before, limit }))
    },
    async add(anchor, audit) {
      return write(audit, function* () {
        // an anchor beyond the greatest safe integer is forged, and must not keep real entries from being archived
        const range = { seq: anchor.firstSeq, below: Number.MAX_SAFE_INTEGER }
        const known = yield* reaching({ projectId: anchor.projectId, ...range })
        if (known.length > 0) return false
        return (yield* insert(anchor)).length > 0
      })
    },
    async removeBlocks(projectId, lastSeq) {
      for (let removed = 0; ; ) {
        const [first] = await read(oldest({ projectId }))
        if (first === undefined || first.firstSeq > lastSeq) return removed
        const begun = performance.now()
        const to = Math.min(lastSeq, first.firstSeq + AT_ONCE - 1)
        const range = { projectId, from: first.firstSeq, to, anchor: lastSeq }
        const { length } = await writeRepeatable(remove(range))
        if (length === 0) return removed
        removed += length
        await pause(performance.now() - begun)
      }
    },
  }
}
