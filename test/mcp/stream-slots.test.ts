import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStreamSlots } from '../../src/mcp/endpoint/stream-slots.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** How many timers it adds, or removes; a library that another file has loaded into this process may set more meanwhile. */
function timersOf(act: () => void): number {
  const before = vi.getTimerCount()
  act()
  return vi.getTimerCount() - before
}

test('a stream is ended when its credential is no longer valid, and another goes on', async () => {
  const slots = createStreamSlots()
  let isValid = true
  const ended: string[] = []
  let timers = 0
  const open = (name: string, isAuthorized: () => Promise<boolean>) => {
    const release = slots.acquire({
      owner: name,
      isAuthorized,
      end: () => {
        ended.push(name)
        timers += timersOf(release)
      },
    })
  }
  timers += timersOf(() => open('revoked', async () => isValid))
  timers += timersOf(() => open('other', async () => true))
  expect(timers).toBeGreaterThan(0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ended).toEqual([])
  isValid = false
  await vi.advanceTimersByTimeAsync(30_000)
  expect(ended).toEqual(['revoked'])
  expect(slots.count).toBe(1)
  slots.close()
  expect(ended).toEqual(['revoked', 'other'])
  expect(timers).toBe(0)
})
