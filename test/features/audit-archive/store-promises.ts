import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { AuditLink } from '../../../src/store/audit-entries.ts'
import { inProject, type OpenedStore } from '../../store/fixtures.ts'

const link: AuditLink = (block) => createHash('sha256').update(JSON.stringify(block)).digest('hex')
const ALL = { order: 'oldest first', limit: 100 } as const

/** Tests the promises of `AuditArchives` and `AuditAnchors`. */
export function auditArchivePromises(open: () => Promise<OpenedStore>): void {
  describe('the audit trail', () => {
    const entries = (projectId: string, ...lines: string[]) => ({ projectId, at: 5, lines, link })

    test('has anchors, newest first, and removes only blocks that an anchor covers', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const { projectId: another } = await inProject(store, 'another')
      const { auditAnchors, auditArchives } = store
      for (let i = 0; i < 400; i++) await store.audit.append(entries(projectId, `a${i}`, 'b', 'c'))
      await store.audit.append(entries(another, 'apart'))
      const anchor = (firstSeq: number, lastSeq: number) => ({
        ...{ projectId, firstSeq, lastSeq, hash: `hash ${lastSeq}`, at: 7, mac: 'mac' },
      })
      expect(await auditArchives.add(anchor(1, 3), entries(projectId, 'archived'))).toBe(true)
      expect(await other.auditArchives.add(anchor(1, 3), entries(projectId, 'again'))).toBe(false)
      expect(await other.auditArchives.add(anchor(3, 6), entries(projectId, 'overlaps'))).toBe(false)
      expect(await auditArchives.add(anchor(4, 900), entries(projectId, 'archived'))).toBe(true)
      expect(await auditAnchors.list(projectId, 1_000, 5)).toEqual([anchor(4, 900), anchor(1, 3)])
      expect(await auditAnchors.list(projectId, 900, 5)).toEqual([anchor(1, 3)])
      expect(await auditAnchors.list(another, 1_000, 5)).toEqual([])
      expect(await store.audit.head(projectId)).toMatchObject({ lastSeq: 1_202 })

      expect(await auditArchives.removeBlocks(projectId, 6)).toBe(0)
      expect(await auditArchives.removeBlocks(another, 900)).toBe(0)
      expect(await auditArchives.removeBlocks(projectId, 900)).toBe(300)
      expect(await other.auditArchives.removeBlocks(projectId, 900)).toBe(0)
      const [first] = await store.audit.blocks(projectId, ALL)
      expect(first).toMatchObject({ firstSeq: 901, text: 'a300\nb\nc' })
      await store.audit.append(entries(projectId, 'next'))
      expect(await store.audit.head(projectId)).toMatchObject({ lastSeq: 1_203 })
      expect(await store.audit.blocks(another, ALL)).toHaveLength(1)
    })
  })
}
