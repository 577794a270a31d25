import { expect, test } from 'vitest'
import { createCachedRows } from '../../src/services/cached-rows.ts'
import type { StoreChange } from '../../src/store/changes.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'

interface Row {
  readonly uid: string
  readonly characters: number
}

/** Kept rows of at most 1,000 characters, over a table that the test fills. */
function scene() {
  const table = new Map<string, readonly Row[]>()
  const listeners: ((change: StoreChange) => void)[] = []
  const store = {
    ...openSqliteStore(':memory:'),
    onChange: (listener: (change: StoreChange) => void) => void listeners.push(listener),
  }
  const kept = createCachedRows<Row>(store, {
    noun: 'tool',
    page: async (projectId) => ({ rows: table.get(projectId) ?? [] }),
    byUids: async (projectId, uids) => (table.get(projectId) ?? []).filter(({ uid }) => uids.includes(uid)),
    charactersOf: ({ characters }) => characters,
    maxCharacters: 1_000,
  })
  return {
    kept,
    write(projectId: string, rows: readonly Row[]) {
      table.set(projectId, rows)
      for (const listener of listeners)
        listener({ noun: 'tool', projectId, uids: rows.map(({ uid }) => uid) })
    },
  }
}

test('a project that was read before it had rows counts with those it has now, and makes room for others', async () => {
  const { kept, write } = scene()
  await kept.of('a')
  await kept.of('b')
  write('a', [{ uid: '1', characters: 600 }])
  expect(await kept.of('a')).toHaveLength(1)
  expect(kept.figures).toMatchObject({ entries: 1, bytes: 602, evictions: 0 })
  write('b', [{ uid: '2', characters: 600 }])
  expect(await kept.of('b')).toHaveLength(1)
  expect(kept.figures).toMatchObject({ entries: 1, bytes: 601, evictions: 1 })
  expect(await kept.of('a')).toHaveLength(1) // read again
})
