import { expect, test } from 'vitest'
import { createReadCache } from '../../src/services/read-cache.ts'
import type { StoreChange } from '../../src/store/changes.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'

function reads(replacesFrom: 'first read' | 'second read') {
  const store = openSqliteStore(':memory:')
  const cache = createReadCache<object>(store, { max: 4, forgets, replacesFrom })
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

test('a value is kept from its first read on while there is room', async () => {
  const read = reads('second read')
  expect(await read('a', 'a', 'b', 'c', 'd')).toBe(4)
  expect(await read('a', 'b', 'c', 'd')).toBe(0)
})

test('a value that is read once replaces none that is kept; one that is read twice does', async () => {
  const read = reads('second read')
  await read('a', 'b', 'c', 'd')
  expect(await read('e')).toBe(1)
  expect(await read('b', 'c', 'd', 'a')).toBe(0)
  expect(await read('e', 'e')).toBe(1) // in place of b
  expect(await read('c', 'd', 'a', 'b')).toBe(1)
})

test('a value replaces another from its first read on where that is asked for', async () => {
  const read = reads('first read')
  expect(await read('a', 'b', 'c', 'd', 'e', 'e')).toBe(5)
  expect(await read('a')).toBe(1)
})

test('a key that is read again after more than the cache holds counts as read once', async () => {
  const read = reads('second read')
  await read('a', 'b', 'c', 'd')
  const many = ['e', 'f', 'g', 'h', 'i', 'j']
  expect(await read(...many, ...many, ...many)).toBe(18)
  expect(await read('a', 'b', 'c', 'd')).toBe(0)
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
