import { expect, test } from 'vitest'
import { Chunks, joined } from '../../src/egress/chunks.ts'

test('a body in chunks of a byte each is kept in a few hundred times fewer', () => {
  const body = Buffer.from('0123456789'.repeat(100_000))
  const chunks = new Chunks()
  for (let i = 0; i < body.length; i++) chunks.push(body.subarray(i, i + 1))
  const taken = chunks.take()
  expect(taken.length).toBeLessThan(5_000)
  expect(body.equals(joined(taken))).toBe(true)
  expect(chunks.take()).toEqual([])
})

test('large chunks are not copied', () => {
  const large = Array.from({ length: 600 }, () => Buffer.alloc(1000))
  const chunks = new Chunks()
  for (const one of large) chunks.push(one)
  expect(chunks.take().every((one, i) => one === large[i])).toBe(true)
})
