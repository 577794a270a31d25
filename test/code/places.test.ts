import { expect, test } from 'vitest'
import { createPlaces } from '../../src/code/places.ts'

function takeAll(places: ReturnType<typeof createPlaces>, apiKeyId: string, memoryMb: number) {
  const given: (() => void)[] = []
  for (;;) {
    try {
      given.push(places.take(apiKeyId, memoryMb))
    } catch (error) {
      expect(error).toMatchObject({ code: 'rate_limited', retryAfter: expect.any(Number) })
      return given
    }
  }
}

test('one key gets half of the places, two keys all of them', () => {
  const places = createPlaces()
  expect(takeAll(places, 'one', 1)).toHaveLength(8)
  const other = takeAll(places, 'other', 1)
  expect(other).toHaveLength(8)
  expect(takeAll(places, 'third', 1)).toHaveLength(0)
  expect(places.running).toBe(16)
  for (const giveBack of [...other, ...other]) giveBack()
  expect(places.running).toBe(8)
  expect(takeAll(places, 'third', 1)).toHaveLength(8)
})

test('memory is bounded as a whole, and half of it for one key', () => {
  const places = createPlaces()
  expect(takeAll(places, 'one', 256)).toHaveLength(2)
  expect(takeAll(places, 'one', 1)).toHaveLength(0)
  expect(takeAll(places, 'other', 100)).toHaveLength(5)
  expect(takeAll(places, 'third', 12)).toHaveLength(1)
})
