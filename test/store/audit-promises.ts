import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { AuditLink } from '../../src/store/audit-entries.ts'
import { type AuditedRelease, confirmed } from '../../src/store/audit-trail.ts'
import type { Store } from '../../src/store/store.ts'
import {
  apiKey,
  connected,
  inProject,
  type OpenedStore,
  refreshed,
  scheduledRun,
  secret,
} from './fixtures.ts'

const link: AuditLink = (block) => createHash('sha256').update(JSON.stringify(block)).digest('hex')

const appended = async ({ audit }: Store, releases: readonly AuditedRelease[], at: number) =>
  audit.release(await confirmed(audit, releases), at, link)

const ALL = { order: 'oldest first', limit: 100 } as const

/** Tests the promises of `AuditTrail`, and that writes append their audit entries. */
export function auditPromises(open: () => Promise<OpenedStore>): void {
  describe('the audit trail', () => {
    const entries = (projectId: string, ...lines: string[]) => ({ projectId, at: 5, lines, link })

    test('is one chain for each project, without gaps, also when two processes append at once', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      await Promise.all(
        [store, other, store, other].map((one, i) => one.audit.append(entries(projectId, `a${i}`, `b${i}`))),
      )
      await other.audit.append(entries(another.projectId, 'apart'))
      const blocks = await store.audit.blocks(projectId, ALL)
      expect(blocks.map(({ firstSeq, count }) => [firstSeq, count])).toEqual([
        [1, 2],
        [3, 2],
        [5, 2],
        [7, 2],
      ])
      let previous = ''
      for (const { hash, ...block } of blocks) {
        expect(block.previous).toBe(previous)
        expect(hash).toBe(link({ ...block }))
        previous = hash
      }
      expect(await other.audit.head(projectId)).toEqual({ lastSeq: 8, hash: previous })
      expect(await store.audit.blocks(another.projectId, ALL)).toMatchObject([{ firstSeq: 1, text: 'apart' }])
      expect(await store.audit.head('proj_none')).toBeUndefined()
    })

    test('is read by number, time and content, oldest or newest first', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      for (const [at, line] of [
        [10, 'ada github'],
        [20, 'bob github'],
        [30, 'ada slack'],
      ] as const)
        await store.audit.append({ projectId, at, lines: [line], link })
      const texts = async (range: object) =>
        (await store.audit.blocks(projectId, { ...ALL, ...range })).map(({ text }) => text)
      expect(await texts({ containing: ['ada'] })).toEqual(['ada github', 'ada slack'])
      expect(await texts({ containing: ['ada', 'github'] })).toEqual(['ada github'])
      expect(await texts({ containing: ['%'] })).toEqual([])
      expect(await texts({ since: 20, until: 29 })).toEqual(['bob github'])
      expect(await texts({ fromSeq: 2 })).toEqual(['bob github', 'ada slack'])
      expect(await texts({ toSeq: 2, order: 'newest first', limit: 1 })).toEqual(['bob github'])
    })

    test('gives the blocks that hold given entry numbers, each block once', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      for (const line of ['a', 'b', 'c']) await store.audit.append(entries(projectId, line, `${line}2`))
      const texts = async (...seqs: number[]) =>
        (await store.audit.blocksOf(projectId, seqs)).map(({ text }) => text)
      expect(await texts(6, 2, 1)).toEqual(['a\na2', 'c\nc2'])
      expect(await texts()).toEqual([])
      const beyond = await store.audit.blocks(projectId, { ...ALL, beyond: 3 })
      expect(beyond.map(({ firstSeq }) => firstSeq)).toEqual([5])
    })

    test('has an entry for each write, from its transaction, and none for a write that changed nothing', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, projectId } = await inProject(store)
      const { id } = await connected(store, owner)
      const record = (line: string) => entries(projectId, line)
      await store.connections.settleRefresh(id, 1, refreshed(), record('refreshed'))
      await store.connections.settleRefresh(id, 1, refreshed(), record('too late'))
      await store.secrets.put(secret({ projectId }), record('secret'))
      await store.connections.needsAuthorization(id, 1, 'refresh_refused', record('too late'))
      await store.connections.delete(id, record('deleted'))
      await store.connections.delete(id, record('deleted again'))
      await store.apiKeys.revoke(projectId, 'key_none', 1, record('no such key'))
      await store.executions.add([scheduledRun({ projectId, runAt: 5 })], record('put off'))
      const blocks = await store.audit.blocks(projectId, ALL)
      expect(blocks.map(({ text }) => text)).toEqual(['refreshed', 'secret', 'deleted', 'put off'])
    })

    test('rolls a write back when its entry cannot be appended', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, projectId } = await inProject(store)
      const { id } = await connected(store, owner)
      const broken = {
        ...entries(projectId, 'x'),
        link: () => {
          throw new Error('no hash')
        },
      }
      await expect(store.connections.delete(id, broken)).rejects.toThrow('no hash')
      expect(await store.connections.find(id)).toBeDefined()
      expect(await store.audit.head(projectId)).toBeUndefined()
    })

    describe('of releases', () => {
      async function scene(opened: OpenedStore) {
        const { store, other } = opened
        const { owner, projectId, entry } = await inProject(store)
        const connection = await connected(store, owner)
        const key = apiKey({ projectId })
        await store.apiKeys.add(key)
        const release = { projectId, line: 'released', connection, entry, apiKey: key, rules: [] }
        return { store, other, projectId, entry, connection, key, release }
      }
      type Scene = Awaited<ReturnType<typeof scene>>

      test('appends the entries of several releases in one commit', async () => {
        await using opened = await open()
        const { store, release, projectId } = await scene(opened)
        const { apiKey: _, ...withoutKey } = release
        expect(await appended(store, [release, { ...withoutKey, line: 'b' }], 7)).toEqual([true, true])
        expect(await store.audit.blocks(projectId, ALL)).toMatchObject([
          { firstSeq: 1, count: 2, at: 7, text: 'released\nb' },
        ])
      })

      test.each<[string, (writer: Store, on: Scene) => Promise<unknown>]>([
        [
          'has tokens refreshed since',
          (writer, { connection }) => writer.connections.settleRefresh(connection.id, 1, refreshed()),
        ],
        [
          'has a connection that needs a new consent',
          (writer, { connection }) => writer.connections.needsAuthorization(connection.id, 1, 'unreadable'),
        ],
        ['has a deleted connection', (writer, { connection }) => writer.connections.delete(connection.id)],
        [
          'has a provider that was changed in the second of the change before',
          (writer, { entry }) => writer.providers.change(entry, { ...entry, description: 'x' }),
        ],
        [
          'has a provider that an import has changed in that second',
          (writer, { projectId, entry: from }) => {
            const entries = [{ from, to: { ...from, description: 'x' } }]
            return writer.tools.change(projectId, { put: [], removed: [], entries })
          },
        ],
        [
          'has a provider that was switched off',
          (writer, { entry }) => writer.providers.change(entry, { ...entry, status: 'inactive' }),
        ],
        [
          'is requested with a revoked key',
          (writer, { key }) => writer.apiKeys.revoke(key.projectId, key.id, 9),
        ],
        [
          'is requested with a key that a rotation has ended',
          (writer, { key }) =>
            writer.apiKeys.rotate(key, 8, apiKey({ projectId: key.projectId, id: 'key_next', hash: 'next' })),
        ],
      ])('refuses, and announces, a release that %s, here or in another process', async (_, change) => {
        for (const by of ['store', 'other'] as const) {
          await using opened = await open()
          const on = await scene(opened)
          const { store, release, projectId } = on
          expect(await appended(store, [release], 7)).toEqual([true])
          await change(opened[by], on)
          let announced = 0
          store.onChange(() => announced++)
          expect(await appended(store, [release], 8)).toEqual([false])
          expect(announced).toBeGreaterThan(0)
          expect(await store.audit.head(projectId)).toMatchObject({ lastSeq: 1 })
        }
      })

      test('appends releases of a rotated key until its grace period is over', async () => {
        await using opened = await open()
        const { store, other, key, release } = await scene(opened)
        expect(await appended(store, [release], 7)).toEqual([true])
        const next = apiKey({ projectId: key.projectId, id: 'key_next', hash: 'next' })
        expect(await other.apiKeys.rotate(key, 20, next)).toBe(true)
        expect(await appended(store, [release], 19)).toEqual([true])
        expect(await appended(store, [release], 20)).toEqual([false])
      })
    })
  })
}
