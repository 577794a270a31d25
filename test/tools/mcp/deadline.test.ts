import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createDeadline } from '../../../src/tools/mcp/call-tool.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('questions that wait at the same time pause the time limit of a call once', async () => {
  const deadline = createDeadline(10)
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  vi.advanceTimersByTime(1_000)
  const firstAsked = deadline.pausedDuring(() => first.promise)
  const secondAsked = deadline.pausedDuring(() => second.promise)
  vi.advanceTimersByTime(5_000)
  expect(deadline.leftMs()).toBeCloseTo(9_000)
  first.resolve()
  await firstAsked
  vi.advanceTimersByTime(2_000)
  second.resolve()
  await secondAsked
  expect(deadline.leftMs()).toBeCloseTo(9_000)
  vi.advanceTimersByTime(1_000)
  expect(deadline.leftMs()).toBeCloseTo(8_000)
})
