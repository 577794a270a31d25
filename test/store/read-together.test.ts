import { expect, test } from 'vitest'
import { readTogether } from '../../src/store/read-together.ts'

function reader(answer: (key: number) => readonly string[] = (key) => [`row ${key}`]) {
  const calls: (readonly number[])[] = []
  const read = readTogether<number, string>(async (keys) => {
    calls.push(keys)
    return keys.map(answer)
  })
  return { calls, read }
}

test('reads of one turn of the event loop share one call, and those of the next turn make another', async () => {
  const { calls, read } = reader()
  expect(await Promise.all([read(1), read(2)])).toEqual([['row 1'], ['row 2']])
  expect(await read(3)).toEqual(['row 3'])
  expect(calls).toEqual([[1, 2], [3]])
})

test('at most a hundred keys are read at once', async () => {
  const { calls, read } = reader()
  await Promise.all(Array.from({ length: 250 }, (_, i) => read(i)))
  expect(calls.map((keys) => keys.length)).toEqual([100, 100, 50])
})

test('a failure fails every read of the same call, and no later one', async () => {
  let isDown = true
  const { read } = reader((key) => {
    if (isDown) throw new Error('down')
    return [`row ${key}`]
  })
  const both = await Promise.allSettled([read(1), read(2)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  isDown = false
  expect(await read(1)).toEqual(['row 1'])
})
