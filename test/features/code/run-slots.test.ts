import { expect, test } from 'vitest'
import { createRunSlots } from '../../../src/features/code/run-slots.ts'

function takeAll(slots: ReturnType<typeof createRunSlots>, apiKeyId: string, memoryMb: number) {
  const given: (() => void)[] = []
  for (;;) {
    try {
      given.push(slots.take(apiKeyId, memoryMb))
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited', retryAfter: expect.any(Number) })
      return given
    }
  }
}

test('one key gets half of the slots, two keys all of them', () => {
  const slots = createRunSlots()
  expect(takeAll(slots, 'one', 1)).toHaveLength(8)
  const other = takeAll(slots, 'other', 1)
  expect(other).toHaveLength(8)
  expect(takeAll(slots, 'third', 1)).toHaveLength(0)
  expect(slots.running).toBe(16)
  for (const release of [...other, ...other]) release()
  expect(slots.running).toBe(8)
  expect(takeAll(slots, 'third', 1)).toHaveLength(8)
})

test('memory is bounded as a whole, and half of it for one key', () => {
  const slots = createRunSlots()
  expect(takeAll(slots, 'one', 256)).toHaveLength(2)
  expect(takeAll(slots, 'one', 1)).toHaveLength(0)
  expect(takeAll(slots, 'other', 100)).toHaveLength(5)
  expect(takeAll(slots, 'third', 12)).toHaveLength(1)
})
