import { describe, expect, test } from 'vitest'
import type { LiveServer } from '../../src/store/servers.ts'
import type { OpenedStore } from './fixtures.ts'

const LAPSE_MS = 600_000
const LONG_MS = 2 * LAPSE_MS

/** Tests the promises of `Servers`. */
export function serverPromises(open: () => Promise<OpenedStore>): void {
  describe('servers', () => {
    const a: LiveServer = { id: 'a', name: 'host process 1', keyIds: ['aaaaaaaa', 'bbbbbbbb'] }
    const b: LiveServer = { id: 'b', name: 'host process 2', keyIds: ['bbbbbbbb'] }

    test('are known with their keys from their first row until they leave', async () => {
      await using opened = await open()
      const { store, other } = opened
      await store.servers.beat(b)
      await other.servers.beat(a)
      await store.servers.beat(b)
      expect(await other.servers.live(LONG_MS)).toEqual([a, b])
      await store.servers.leave('b')
      await store.servers.leave('never seen')
      expect(await other.servers.live(LONG_MS)).toEqual([a])
    })

    test('lapse without a further row, and a sweep deletes them', async () => {
      await using opened = await open()
      const { store } = opened
      await store.servers.beat(a)
      await opened.sql(`update servers set beat_at = beat_at - ${LAPSE_MS + 1}`)
      expect(await store.servers.live(LAPSE_MS)).toEqual([])
      expect(await store.servers.live(LONG_MS)).toEqual([a])
      await store.servers.beat(b)
      await store.servers.sweep(LONG_MS)
      expect(await store.servers.live(LONG_MS)).toEqual([a, b])
      await store.servers.sweep(-1)
      expect(await store.servers.live(LONG_MS)).toEqual([])
    })
  })
}
