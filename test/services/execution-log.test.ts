import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createExecutionLog } from '../../src/services/execution-log.ts'
import { createMetrics } from '../../src/services/metrics.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase } from '../postgres.ts'
import { execution, sealed } from '../store/fixtures.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatepass-history-'))
  path = join(folder, 'gatepass.db')
})
afterEach(() => rm(folder, { recursive: true }))

/** A log on the store, and what it has left in one of its projects. */
async function scene(store: Store) {
  const { id: projectId } = await store.projects.ensure('default', 1)
  const metrics = createMetrics()
  const log = createExecutionLog(store, metrics)
  return {
    projectId,
    log,
    of: (count: number) => Array.from({ length: count }, () => execution({ projectId })),
    async kept() {
      const { items } = await store.executions.list(projectId, {}, { offset: 0, limit: 1_000 })
      return items.map(({ id }) => id).toReversed()
    },
    async dropped() {
      const families = await metrics.families()
      return families.find(({ name }) => name === 'gatepass_executions_dropped_total')?.values[0]?.value
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}

/** While it lasts, no run can be written. */
function failing() {
  const client = new Database(path)
  client.exec(`create trigger failing before insert on executions begin select raise(abort, 'no'); end`)
  return {
    [Symbol.dispose]() {
      client.exec('drop trigger failing')
      client.close()
    },
  }
}

describe('the history of runs', () => {
  test('is written by a flush, however many have come together', async () => {
    await using on = await scene(openSqliteStore(path))
    const records = on.of(450)
    for (const one of records) on.log.record(one)
    expect(on.log.waiting).toBe(450)
    expect(await on.kept()).toEqual([])
    await Promise.all([on.log.flush(), on.log.flush()])
    expect(await on.kept()).toEqual(records.map(({ id }) => id))
    expect(on.log.waiting).toBe(0)
  })

  test('waits while the database is gone, and is written in order when it is back', async () => {
    await using on = await scene(openSqliteStore(path))
    const records = on.of(3)
    for (const one of records) on.log.record(one)
    {
      using _ = failing()
      await expect(on.log.flush()).rejects.toMatchObject({ code: 'store_unavailable' })
      expect(on.log.waiting).toBe(3)
    }
    await on.log.flush()
    expect(await on.kept()).toEqual(records.map(({ id }) => id))
    expect(await on.dropped()).toBe(0)
  })

  test('drops the oldest when more waits than there is room for, and counts them', async () => {
    await using on = await scene(openSqliteStore(path))
    const result = sealed('x'.repeat(16 * 1024 * 1024))
    const records = on.of(6).map((one) => ({ ...one, result }))
    {
      using _ = failing()
      for (const one of records) on.log.record(one)
      await expect(on.log.flush()).rejects.toThrow()
    }
    expect(await on.dropped()).toBe(2)
    await on.log.flush()
    expect(await on.kept()).toEqual(records.slice(2).map(({ id }) => id))
  })

  test('goes on past what is there already and what can never be written', async () => {
    await using database = await freshDatabase()
    const store = await openPostgresStore(database.url)
    await using on = await scene(store)
    const [known, unwritable, ...others] = on.of(4)
    if (known === undefined || unwritable === undefined) throw new Error('there are four')
    await store.executions.add([known])
    for (const one of [known, { ...unwritable, userId: 'a\0' }, ...others]) on.log.record(one)
    await expect(on.log.flush()).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await on.kept()).toEqual([known, ...others].map(({ id }) => id))
    expect(await on.dropped()).toBe(1)
    expect(on.log.waiting).toBe(0)
  })
})
