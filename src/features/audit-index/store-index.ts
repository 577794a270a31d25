import { and, asc, desc, eq, gte, lte, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import { greaterOf } from '../../store/row-conditions.ts'
import { type OfProject, variantsOf } from '../../store/statement.ts'

/** Which segments of a project's trail are in the index: from `indexedFrom` on, before `indexedTo`. */
export interface AuditProgress {
  readonly indexedFrom: number
  readonly indexedTo: number
}

export interface SegmentTimes {
  readonly segment: number
  /** The times of the segment's oldest and newest block. */
  readonly sinceAt: EpochSeconds
  readonly untilAt: EpochSeconds
}

export interface SegmentRange {
  readonly from: number
  readonly to: number
  readonly order: 'oldest first' | 'newest first'
  readonly limit: number
}

/**
 * The search index of the audit trail: which entries of a segment have a term. A segment is a fixed number of entries. A
 * search finds the segments here and reads the entries themselves from the blocks. It uses a segment once all terms of
 * the segment are written.
 */
export interface AuditIndex {
  progress(projectId: string): Promise<AuditProgress | undefined>
  /** Records that nothing is indexed yet, and that indexing begins with this segment. */
  restart(projectId: string, segment: number): Promise<void>
  /** Records that the entries before this segment are no longer indexed, and never will be. */
  cut(projectId: string, segment: number): Promise<void>
  /** Writes the buckets of a segment's terms, each as text by its number. A stored bucket is replaced. */
  putTerms(projectId: string, segment: number, buckets: ReadonlyMap<number, string>): Promise<void>
  /** Records that a segment is complete. `false`, with nothing written, when it is not the next segment. */
  finish(projectId: string, times: SegmentTimes): Promise<boolean>
  /** The segments in which the text of a bucket contains `part`, with that text. */
  segmentsOf(
    projectId: string,
    within: { readonly bucket: number; readonly part: string },
    range: SegmentRange,
  ): Promise<readonly { readonly segment: number; readonly terms: string }[]>
  /** All buckets of a segment. */
  bucketsOf(projectId: string, segment: number): Promise<ReadonlyMap<number, string>>
  segments(projectId: string, range: SegmentRange): Promise<readonly SegmentTimes[]>
  /** Deletes a segment from the index. */
  forget(projectId: string, segment: number): Promise<void>
}

/** A part of its hash assigns each term to a bucket. A segment has one row for each bucket, so at most this many. */
export const BUCKETS = 256
const ALL_BUCKETS = Array.from({ length: BUCKETS }, (_, i) => String(i))

export function createAuditIndex({ tables, query, statement, read, write, dialect }: Database): AuditIndex {
  const { auditTerms, auditSegments, auditProgress } = tables
  const { projectId: termsProject, bucket, segment, terms } = auditTerms
  // each bucket is named, so that the primary key finds the rows
  const isOfSegment = (p: OfProject & { segment: number; buckets: readonly string[] }) =>
    and(
      eq(termsProject, p.projectId),
      sql`${bucket} in (select cast(one.value as integer) from ${dialect.elementsOf(p.buckets)} as one)`,
      eq(segment, p.segment),
    )
  const trail = { projectId: auditProgress.projectId }
  const isTrail = (p: OfProject) => eq(auditProgress.projectId, p.projectId)

  const progressOf = statement((p: OfProject) =>
    query
      .select({ indexedFrom: auditProgress.indexedFrom, indexedTo: auditProgress.indexedTo })
      .from(auditProgress)
      .where(isTrail(p)),
  )
  const restart = statement((p: OfProject & { segment: number }) =>
    query
      .update(auditProgress)
      .set({ indexedFrom: p.segment, indexedTo: p.segment })
      .where(isTrail(p))
      .returning(trail),
  )
  const cut = statement((p: OfProject & { segment: number }) =>
    query
      .update(auditProgress)
      .set({
        indexedFrom: greaterOf(auditProgress.indexedFrom, p.segment),
        indexedTo: greaterOf(auditProgress.indexedTo, p.segment),
      })
      .where(isTrail(p))
      .returning(trail),
  )
  const advance = statement((p: OfProject & { segment: number; next: number }) =>
    query
      .update(auditProgress)
      .set({ indexedTo: p.next })
      .where(and(isTrail(p), eq(auditProgress.indexedTo, p.segment)))
      .returning(trail),
  )
  const putTimes = statement((p: OfProject & SegmentTimes) =>
    query
      .insert(auditSegments)
      .values({ projectId: p.projectId, segment: p.segment, sinceAt: p.sinceAt, untilAt: p.untilAt })
      .onConflictDoUpdate({
        target: [auditSegments.projectId, auditSegments.segment],
        set: { sinceAt: p.sinceAt, untilAt: p.untilAt },
      })
      .returning({ segment: auditSegments.segment }),
  )
  const putTerms = statement(
    (p: OfProject & { segment: number; buckets: Readonly<Record<string, string>> }) =>
      query
        .insert(auditTerms)
        .select(
          sql`select cast(${p.projectId} as text), cast(one.key as integer), cast(${p.segment} as bigint), one.value
            from ${dialect.membersOf(p.buckets)} as one where true`,
        )
        .onConflictDoUpdate({
          target: [termsProject, bucket, segment],
          set: { terms: sql`excluded.terms` },
        })
        .returning({ bucket }),
  )
  const withPart = variantsOf((order: SegmentRange['order']) =>
    statement((p: OfProject & Omit<SegmentRange, 'order'> & { bucket: number; part: string }) =>
      query
        .select({ segment, terms })
        .from(auditTerms)
        .where(
          and(
            eq(termsProject, p.projectId),
            eq(bucket, p.bucket),
            gte(segment, p.from),
            lte(segment, p.to),
            dialect.contains(terms, p.part),
          ),
        )
        .orderBy(order === 'oldest first' ? asc(segment) : desc(segment))
        .limit(p.limit),
    ),
  )
  const ofSegment = statement((p: OfProject & { segment: number; buckets: readonly string[] }) =>
    query.select({ bucket, terms }).from(auditTerms).where(isOfSegment(p)),
  )
  const forget = statement((p: OfProject & { segment: number; buckets: readonly string[] }) =>
    query.delete(auditTerms).where(isOfSegment(p)).returning({ bucket }),
  )
  const forgetTimes = statement((p: OfProject & { segment: number }) =>
    query
      .delete(auditSegments)
      .where(and(eq(auditSegments.projectId, p.projectId), eq(auditSegments.segment, p.segment)))
      .returning({ segment: auditSegments.segment }),
  )
  const times = variantsOf((order: SegmentRange['order']) =>
    statement((p: Omit<SegmentRange, 'order'> & OfProject) =>
      query
        .select({
          segment: auditSegments.segment,
          sinceAt: auditSegments.sinceAt,
          untilAt: auditSegments.untilAt,
        })
        .from(auditSegments)
        .where(
          and(
            eq(auditSegments.projectId, p.projectId),
            gte(auditSegments.segment, p.from),
            lte(auditSegments.segment, p.to),
          ),
        )
        .orderBy(order === 'oldest first' ? asc(auditSegments.segment) : desc(auditSegments.segment))
        .limit(p.limit),
    ),
  )

  return {
    async progress(projectId) {
      const [row] = await read(progressOf({ projectId }))
      return row
    },
    async restart(projectId, first) {
      await write(undefined, () => restart({ projectId, segment: first }))
    },
    async cut(projectId, first) {
      await write(undefined, () => cut({ projectId, segment: first }))
    },
    async putTerms(projectId, segmentNumber, buckets) {
      const rows = Object.fromEntries(buckets)
      await write(undefined, () => putTerms({ projectId, segment: segmentNumber, buckets: rows }))
    },
    async finish(projectId, found) {
      return write(undefined, function* () {
        const rows = yield* advance({ projectId, segment: found.segment, next: found.segment + 1 })
        if (rows.length === 0) return false
        yield* putTimes({ projectId, ...found })
        return true
      })
    },
    async segmentsOf(projectId, within, { order, ...range }) {
      return read(withPart(order)({ projectId, ...within, ...range }))
    },
    async bucketsOf(projectId, segmentNumber) {
      const rows = await read(ofSegment({ projectId, segment: segmentNumber, buckets: ALL_BUCKETS }))
      return new Map(rows.map((row) => [row.bucket, row.terms]))
    },
    async segments(projectId, { order, ...range }) {
      return read(times(order)({ ...range, projectId }))
    },
    async forget(projectId, segmentNumber) {
      await write(undefined, function* () {
        yield* forget({ projectId, segment: segmentNumber, buckets: ALL_BUCKETS })
        yield* forgetTimes({ projectId, segment: segmentNumber })
      })
    },
  }
}
