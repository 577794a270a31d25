import { setTimeout as pause } from 'node:timers/promises'
import { and, asc, eq, gte, lt, lte, sql } from 'drizzle-orm'
import type { AuditAnchor } from '../../domain/audit.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { type OfProject, placeholdersOf } from '../../store/statement.ts'

/** One statement removes the blocks of at most this many entries, which takes SQLite a few milliseconds. */
const AT_ONCE = 500

/** What archiving writes: anchors, which `store/audit-anchors.ts` reads, and the end of the blocks before them. */
export interface AuditArchives {
  /** Adds the anchor, with its audit entry in the same transaction; `false` when the entries were archived already. */
  add(anchor: AuditAnchor, audit: AuditEntries): Promise<boolean>
  /** Deletes the blocks up to an entry that an anchor names, in short transactions. Returns how many. */
  removeBlocks(projectId: string, lastSeq: number): Promise<number>
}

export function createAuditArchives({
  tables,
  query,
  statement,
  read,
  write,
  writeRepeatable,
}: Database): AuditArchives {
  const { auditAnchors, auditBlocks } = tables
  const { firstSeq } = auditBlocks

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
