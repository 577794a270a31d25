import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { createChangeSignal } from '../../src/services/change-signal.ts'
import type { StoreChange } from '../../src/store/changes.ts'

/** A signal of suspended calls, on a store whose other processes are played by the test. */
function scene() {
  let announce: (change: StoreChange) => void = () => {}
  const store = { revision: 0, polls: 0 }
  const signal = createChangeSignal(
    {
      onChange(listener) {
        announce = listener
      },
      catchUp() {
        store.polls++
        return store.revision
      },
    },
    { topicOf: (change) => (change.noun === 'suspended_call' ? change.id : undefined), pollMs: 1 },
  )
  return { store, signal, change: (id: string) => announce({ noun: 'suspended_call', id }) }
}

test('a change is told to the listeners of its topic, until they end', () => {
  const { signal, change } = scene()
  const told: string[] = []
  const end = signal.subscribe('a', () => told.push('a'))
  signal.subscribe('b', () => told.push('b'))
  for (const id of ['a', 'b', 'c']) change(id)
  end()
  change('a')
  expect(told).toEqual(['a', 'b'])
})

test('when changes may have been missed, every waiting read is repeated', async () => {
  const { store, signal } = scene()
  let row: string | undefined
  const found = signal.waitFor('a', async () => row, new AbortController().signal)
  row = 'written by another process'
  store.revision++
  await expect(found).resolves.toBe(row)
})

test('a wait ends with the reason of its signal', async () => {
  const { signal } = scene()
  const ending = new AbortController()
  const found = signal.waitFor('a', async () => undefined, ending.signal)
  ending.abort(new Error('the client is gone'))
  await expect(found).rejects.toThrow('the client is gone')
})

test('the store is polled only while there are listeners', async () => {
  const { store, signal } = scene()
  const end = signal.subscribe('a', () => {})
  await vi.waitFor(() => expect(store.polls).toBeGreaterThan(3), 300_000)
  end()
  const { polls } = store
  await sleep(20) // a poll that is still planned would come in this time
  expect(store.polls).toBe(polls)
})
