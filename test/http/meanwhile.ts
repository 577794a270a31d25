import { expect, vi } from 'vitest'
import type { Answer } from '../gatepass.ts'

/** Runs `meanwhile` once, after the next call of this method of the store has read its row. */
export function afterNextRead<Noun extends object>(
  noun: Noun,
  method: keyof Noun & string,
  meanwhile: () => Promise<unknown>,
) {
  const read = noun[method] as (...args: unknown[]) => Promise<unknown>
  let isNext = true
  vi.spyOn(noun as Record<string, (...args: unknown[]) => unknown>, method).mockImplementation(
    async (...args) => {
      const isThis = isNext
      isNext = false
      const row = await read(...args)
      if (isThis) await meanwhile()
      return row
    },
  )
}

export async function expectOk(answer: Promise<Answer>): Promise<void> {
  const { status, body } = await answer
  expect([status, body]).toEqual([200, expect.anything()])
}
