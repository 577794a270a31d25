import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createStreamSlots } from '../../src/mcp/endpoint/stream-slots.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('a stream is ended when its credential is no longer valid, and another goes on', async () => {
  const slots = createStreamSlots()
  let isValid = true
  const ended: string[] = []
  const open = (name: string, isAuthorized: () => Promise<boolean>) => {
    const release = slots.acquire({
      owner: name,
      isAuthorized,
      end: () => {
        ended.push(name)
        release()
      },
    })
  }
  open('revoked', async () => isValid)
  open('other', async () => true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ended).toEqual([])
  isValid = false
  await vi.advanceTimersByTimeAsync(30_000)
  expect(ended).toEqual(['revoked'])
  expect(slots.count).toBe(1)
  slots.close()
  expect(ended).toEqual(['revoked', 'other'])
  expect(vi.getTimerCount()).toBe(0)
})
