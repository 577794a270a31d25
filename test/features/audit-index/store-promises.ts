import { describe, expect, test } from 'vitest'
import { inProject, type OpenedStore } from '../../store/fixtures.ts'

/** Tests the promises of `AuditIndex` and `TrailLeases`. */
export function auditIndexPromises(open: () => Promise<OpenedStore>): void {
  describe('the audit trail', () => {
    test('has a search index, which one process at a time writes, segment by segment', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const { projectId: another } = await inProject(store, 'another')
      const { auditIndex, trailLeases } = store
      const lease = { owner: 'one', seconds: 60 }
      expect(await auditIndex.progress(projectId)).toBeUndefined()
      expect(await trailLeases.claim(projectId, lease, 5)).toBe(true)
      expect(await trailLeases.claim(projectId, lease, 5)).toBe(true)
      expect(await other.trailLeases.claim(projectId, { owner: 'two', seconds: 60 }, 5)).toBe(false)
      await trailLeases.endClaim(projectId, 'two')
      expect(await other.trailLeases.claim(projectId, { owner: 'two', seconds: 60 }, 5)).toBe(false)
      await trailLeases.endClaim(projectId, 'one')
      expect(await other.trailLeases.claim(projectId, { owner: 'two', seconds: 60 }, 5)).toBe(true)

      for (const segment of [0, 1, 2]) {
        await auditIndex.putTerms(projectId, segment, new Map([[7, 'old']]))
        const buckets = new Map([
          [7, `\na:${segment}`],
          [8, segment === 1 ? '\nb:%' : '\nc:'],
        ])
        await auditIndex.putTerms(projectId, segment, buckets)
        expect(await auditIndex.bucketsOf(projectId, segment)).toEqual(buckets)
        const times = { segment, sinceAt: segment * 10, untilAt: segment * 10 + 9 }
        expect(await auditIndex.finish(projectId, { ...times, segment: segment + 1 })).toBe(false)
        expect(await auditIndex.finish(projectId, times)).toBe(true)
      }
      expect(await other.auditIndex.progress(projectId)).toEqual({ indexedFrom: 0, indexedTo: 3 })
      for (const first of [2, 1]) await auditIndex.cut(projectId, first)
      expect(await other.auditIndex.progress(projectId)).toEqual({ indexedFrom: 2, indexedTo: 3 })
      await auditIndex.cut(projectId, 5)
      expect(await other.auditIndex.progress(projectId)).toEqual({ indexedFrom: 5, indexedTo: 5 })
      const range = { from: 0, to: 9, order: 'oldest first', limit: 10 } as const
      const segmentsOf = async (bucket: number, part: string, more: object = {}) =>
        (await auditIndex.segmentsOf(projectId, { bucket, part }, { ...range, ...more })).map(
          ({ segment, terms }) => [segment, terms],
        )
      expect(await segmentsOf(7, '\na:')).toEqual([0, 1, 2].map((one) => [one, `\na:${one}`]))
      expect(await segmentsOf(7, '\na:', { order: 'newest first', limit: 1 })).toEqual([[2, '\na:2']])
      expect(await segmentsOf(7, '\na:', { from: 1, to: 1 })).toEqual([[1, '\na:1']])
      expect(await segmentsOf(8, '\nb:')).toEqual([[1, '\nb:%']])
      expect(await auditIndex.segmentsOf(another, { bucket: 7, part: '\na:' }, range)).toEqual([])
      expect((await auditIndex.segments(projectId, { ...range, from: 1 })).map((one) => one.sinceAt)).toEqual(
        [10, 20],
      )

      await auditIndex.forget(projectId, 1)
      expect(await auditIndex.bucketsOf(projectId, 1)).toEqual(new Map())
      expect(await auditIndex.segments(projectId, range)).toHaveLength(2)
      await auditIndex.restart(projectId, 1)
      expect(await auditIndex.progress(projectId)).toEqual({ indexedFrom: 1, indexedTo: 1 })
    })
  })
}
