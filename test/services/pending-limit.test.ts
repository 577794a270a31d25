import { expect, test } from 'vitest'
import { createPendingLimit } from '../../src/services/pending-limit.ts'

// A database whose counts end when the test says so. What it cannot be made to show over HTTP is who is first: a row is
// committed before its request knows it, and a count may begin in between.

function limited(most: number) {
  let [rows, seconds] = [0, 1_000]
  const counts: (() => void)[] = []
  const countLive = () => {
    const seen = rows
    return new Promise<number>((resolve) => counts.push(() => resolve(seen)))
  }
  const limit = createPendingLimit(countLive, most, () => seconds)
  return {
    limit,
    /** How often the database was counted. */
    get counted() {
      return counts.length
    },
    /** A row is committed, or ends; its request does not know it. */
    commit: (by = 1) => {
      rows += by
    },
    advance: (by: number) => {
      seconds += by
    },
    /** Whether the limit is reached; a count that begins now ends after `meanwhile`. */
    async isFull(meanwhile = () => {}) {
      const before = counts.length
      const full = limit.isFull('p')
      meanwhile()
      if (counts.length > before) counts.at(-1)?.()
      return full
    },
  }
}

const MOST = 2_000

test('a row that was counted before its request knew of it takes the place of no other', async () => {
  const world = limited(MOST)
  world.commit(MOST - 2)
  expect(await world.isFull()).toBe(false)
  world.limit.added('p') // its commit was counted
  expect(await world.isFull()).toBe(false)
  world.commit()
  world.limit.added('p')
  // by the requests there are as many as allowed, and in the database one less
  expect([await world.isFull(), world.counted]).toEqual([false, 2])
  world.commit()
  world.limit.added('p')
  expect([await world.isFull(), world.counted]).toEqual([true, 3])
})

test('a row that is added while the database is counted is not forgotten', async () => {
  const world = limited(MOST)
  world.commit(MOST - 1)
  expect(
    await world.isFull(() => {
      world.commit()
      world.limit.added('p')
    }),
  ).toBe(true)
})

test('a full project is counted once a second, and a project with room every ten', async () => {
  const world = limited(MOST)
  world.commit(MOST)
  for (let i = 0; i < 5; i++) expect(await world.isFull()).toBe(true)
  expect(world.counted).toBe(1)
  world.commit(-10)
  expect(await world.isFull()).toBe(true)
  world.advance(1)
  expect([await world.isFull(), world.counted]).toEqual([false, 2])
  world.advance(9)
  expect([await world.isFull(), world.counted]).toEqual([false, 2])
  world.advance(1)
  expect([await world.isFull(), world.counted]).toEqual([false, 3])
})

test('a count is repeated when the clock was set back', async () => {
  const world = limited(MOST)
  world.commit(MOST)
  expect(await world.isFull()).toBe(true)
  world.commit(-10)
  world.advance(-100)
  expect([await world.isFull(), world.counted]).toEqual([false, 2])
})
