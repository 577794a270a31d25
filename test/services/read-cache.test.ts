import { expect, test } from 'vitest'
import { createReadCache } from '../../src/services/read-cache.ts'
import type { StoreChange } from '../../src/store/changes.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'

function reads(keepsFrom: 'first read' | 'second read') {
  const store = openSqliteStore(':memory:')
  const cache = createReadCache<object>(store, { max: 4, forgets, keepsFrom })
  let loaded = 0
  return async (...keys: readonly string[]) => {
    const before = loaded
    for (const key of keys)
      await cache.get(key, async () => {
        loaded++
        return {}
      })
    return loaded - before
  }
}

function forgets(_: StoreChange) {
  return 'all' as const
}

test('a value that is kept from its first read on is loaded once', async () => {
  const read = reads('first read')
  expect(await read('a', 'a', 'a')).toBe(1)
})

test('a value that is kept from its second read on is loaded twice', async () => {
  const read = reads('second read')
  expect(await read('a', 'b', 'a', 'b')).toBe(4)
  expect(await read('a', 'b')).toBe(0)
})

test('a key that is read again after more than the cache holds counts as read once', async () => {
  const read = reads('second read')
  const many = ['a', 'b', 'c', 'd', 'e', 'f']
  expect(await read(...many, ...many, ...many)).toBe(18)
})

test('a cache of bytes holds as many values as fit, and counts those that made room', async () => {
  const store = openSqliteStore(':memory:')
  const bytesOf = ({ bytes }: { readonly bytes: number }) => bytes
  const cache = createReadCache<{ readonly bytes: number }>(store, { max: 10_000, bytesOf, forgets })
  const read = (key: string, bytes: number) => cache.get(key, async () => ({ bytes }))
  await read('a', 4_000)
  await read('b', 4_000)
  await read('a', 4_000)
  await read('c', 4_000) // b was not read for longest
  await read('a', 4_000)
  expect(cache.figures).toEqual({ entries: 2, bytes: 8_002, hits: 2, misses: 3, evictions: 1 })
  await read('d', 20_000) // more than the cache holds
  expect(cache.figures).toMatchObject({ entries: 2, misses: 4 })
})
