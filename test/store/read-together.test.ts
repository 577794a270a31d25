import { expect, test } from 'vitest'
import { readTogether } from '../../src/store/read-together.ts'

function reader(answer: (key: number) => readonly string[] = (key) => [`row ${key}`]) {
  const asked: (readonly number[])[] = []
  const read = readTogether<number, string>(async (keys) => {
    asked.push(keys)
    return keys.map(answer)
  })
  return { asked, read }
}

test('reads of one turn of the event loop are one, of two turns two', async () => {
  const { asked, read } = reader()
  expect(await Promise.all([read(1), read(2)])).toEqual([['row 1'], ['row 2']])
  expect(await read(3)).toEqual(['row 3'])
  expect(asked).toEqual([[1, 2], [3]])
})

test('at most a hundred keys are read at once', async () => {
  const { asked, read } = reader()
  await Promise.all(Array.from({ length: 250 }, (_, i) => read(i)))
  expect(asked.map((keys) => keys.length)).toEqual([100, 100, 50])
})

test('a failure is that of those that were read together, and of no later read', async () => {
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
