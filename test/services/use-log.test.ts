import { expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import { createUseLog } from '../../src/services/use-log.ts'
import type { Store } from '../../src/store/store.ts'

/** A store whose writes of last uses fail while `isDown`, and which rejects the row `unstorable`. */
function scene() {
  const written: [string, number][] = []
  const database = { isDown: false }
  const used = async (uses: ReadonlyMap<string, number>) => {
    if (database.isDown) throw new BrokerError('store_unavailable', 'the database is down')
    if (uses.has('unstorable')) throw new BrokerError('invalid_request', 'a value cannot be stored')
    written.push(...uses)
  }
  const authorizations = { opened: used }
  const nouns = { connections: { used }, connectionTools: { used }, apiKeys: { used }, secrets: { used } }
  const log = createUseLog({ ...nouns, authorizations } as unknown as Store) // it uses nothing else of a store
  return { log, written, database }
}

test('a use is written once a minute', async () => {
  const { log, written } = scene()
  for (const at of [100, 101, 159]) {
    log.used('connections', 'c', at)
    await log.flush()
  }
  expect(written).toEqual([['c', 100]])
  log.used('connections', 'c', 160)
  await log.flush()
  expect(written).toEqual([
    ['c', 100],
    ['c', 160],
  ])
})

test('a clock that is set back does not stop the writing of uses', async () => {
  const { log, written } = scene()
  for (const at of [10_000, 6_400, 6_460]) {
    log.used('connections', 'c', at)
    await log.flush()
  }
  expect(written.map(([, at]) => at)).toEqual([10_000, 6_400, 6_460])
})

test('uses that the database did not take stay queued, and a later use replaces an earlier one', async () => {
  const { log, written, database } = scene()
  database.isDown = true
  log.used('connections', 'once', 100)
  log.used('connections', 'again', 100)
  await expect(log.flush()).rejects.toThrow('the database is down')
  expect(log.waiting).toBe(2)
  log.used('connections', 'again', 130)
  await expect(log.flush()).rejects.toThrow('the database is down')
  database.isDown = false
  await log.flush()
  expect(written.toSorted()).toEqual([
    ['again', 130],
    ['once', 100],
  ])
  expect(log.waiting).toBe(0)
})

test('uses that the database rejects hold up no others', async () => {
  const { log, written } = scene()
  log.used('connections', 'unstorable', 100)
  log.used('apiKeys', 'k', 100)
  await expect(log.flush()).rejects.toThrow('a value cannot be stored')
  await log.flush()
  expect([written, log.waiting]).toEqual([[['k', 100]], 0])
})
