import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLiveness } from '../../src/services/liveness.ts'
import { currentSpan, type Span, within } from '../../src/services/tracing.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import { LAPSE_MS } from '../../src/store/processes.ts'
import type { Store } from '../../src/store/store.ts'

const SPAN: Span = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  isRecorded: true,
  set() {},
  end() {},
}

const log = { debug() {}, info() {}, warn() {}, error() {} }

let store: Store
beforeEach(() => {
  store = openSqliteStore(':memory:')
})
afterEach(() => store.close())

test('heartbeats belong to no trace, although a request began them', async () => {
  const spans: (Span | undefined)[] = []
  const { beat } = store.processes
  vi.spyOn(store.processes, 'beat').mockImplementation((id) => {
    spans.push(currentSpan())
    return beat(id)
  })
  const liveness = createLiveness(store, { log, beatMs: 5 })
  await within(SPAN, () =>
    liveness.whileAlive(async () => {
      expect(currentSpan()).toBe(SPAN)
      await vi.waitFor(() => expect(spans.length).toBeGreaterThan(1), 300_000)
    }),
  )
  expect(new Set(spans)).toEqual(new Set([undefined]))
  await liveness.close()
})

test('the first sweep after a sleep of the machine declares no process dead', async () => {
  const declareDead = vi.spyOn(store.processes, 'declareDead')
  let elapsed = 0
  const liveness = createLiveness(store, { log, startClock: () => () => elapsed })
  await liveness.endDeadClaims()
  expect(declareDead).toHaveBeenCalledTimes(1)
  elapsed = LAPSE_MS + 1
  await liveness.endDeadClaims()
  expect(declareDead).toHaveBeenCalledTimes(1)
  elapsed = LAPSE_MS / 3
  await liveness.endDeadClaims()
  expect(declareDead).toHaveBeenCalledTimes(2)
})
