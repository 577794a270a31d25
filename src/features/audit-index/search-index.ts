import type { TrailIndex } from '../../services/trail-index.ts'
import { indexedSegments } from './indexed-segments.ts'
import { firstSeqOf, SEGMENT, segmentOf } from './segment.ts'
import { termOf } from './terms.ts'
import { type IndexParts, indexProject } from './write-index.ts'

export function createTrailIndex(parts: IndexParts): TrailIndex {
  const { auditIndex } = parts.store
  return {
    async covered(projectId) {
      const progress = await auditIndex.progress(projectId)
      return progress && { from: firstSeqOf(progress.indexedFrom), to: firstSeqOf(progress.indexedTo) - 1 }
    },

    async *find(projectId, { wanted, since, until, order, ...range }) {
      const found = indexedSegments(parts, projectId, {
        terms: wanted.map(([member, value]) => termOf(projectId, member, value)),
        since,
        until,
        from: segmentOf(range.from),
        to: segmentOf(range.to),
        order,
      })
      for await (const { segment, places } of found) {
        const first = firstSeqOf(segment)
        if (places === undefined) {
          yield { from: Math.max(range.from, first), to: Math.min(range.to, first + SEGMENT - 1) }
          continue
        }
        const seqs = places
          .map((place) => first + place)
          .filter((seq) => seq >= range.from && seq <= range.to)
        yield { seqs: order === 'oldest first' ? seqs : seqs.reverse() }
      }
    },

    complete: (projectId) => indexProject(parts, projectId),

    async forget(projectId, lastSeq, keepLease) {
      // a segment that is archived in part leaves the index too: its other entries are searched without the index
      const first = Math.ceil(lastSeq / SEGMENT)
      await auditIndex.cut(projectId, first)
      for (;;) {
        const range = { from: 0, to: first - 1, order: 'oldest first', limit: 100 } as const
        const segments = await auditIndex.segments(projectId, range)
        for (const { segment } of segments) {
          await auditIndex.forget(projectId, segment)
          await keepLease()
        }
        if (segments.length < range.limit) return
      }
    },
  }
}
