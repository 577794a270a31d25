import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ChangePosition, StoreChange } from '../../src/store/changes.ts'
import { followChanges } from '../../src/store/dialects/postgres/announcements.ts'
import { APPEND_CHANGES, createChangeTable } from '../../src/store/dialects/postgres/change-table.ts'
import { createCommits } from '../../src/store/dialects/postgres/commits.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { createPruning } from '../../src/store/dialects/postgres/pruning.ts'
import { createWakeUps } from '../../src/store/dialects/postgres/wake-ups.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { until } from '../until.ts'
import { inProject, putTool, tool } from './fixtures.ts'

// Change feed on PostgreSQL: how each node learns of the writes of the others.

let database: FreshDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await freshDatabase()
  await (await openPostgresStore(database.url)).close()
  pool = new pg.Pool({ connectionString: database.url, max: 10 })
  // the database is dropped by force, maybe before the server has closed the last connection
  pool.on('error', () => {})
})
afterAll(async () => {
  await pool.end()
  await database[Symbol.asyncDispose]()
})
beforeEach(() => database.empty())

const named = (id: string): StoreChange => ({ noun: 'authorization', id })

/** A transaction that has appended its row and has not committed yet. */
async function begun(id: string): Promise<{ commit(): Promise<void>; rollback(): Promise<void> }> {
  const client = await pool.connect()
  await client.query('begin')
  await client.query(APPEND_CHANGES, ['another', JSON.stringify([named(id)])])
  const end = (how: string) => async () => {
    await client.query(how)
    client.release()
  }
  return { commit: end('commit'), rollback: end('rollback') }
}

async function committed(id: string): Promise<void> {
  await (await begun(id)).commit()
}

/** A reader that begins at the current position. */
async function reader() {
  const table = createChangeTable('the reader')
  const client = await pool.connect()
  let position: ChangePosition = await table.begin(client)
  return {
    get position() {
      return position
    },
    async read() {
      const news = await table.readSince(client, position)
      position = news.position
      const ids = news.changes.map((change) => ('id' in change ? change.id : change.noun))
      return { ids, missed: news.missed }
    },
    [Symbol.dispose]: () => client.release(),
  }
}

describe('a reader of the table of changes', () => {
  test('misses none of the transactions that commit in another order than they began, and reads each change once', async () => {
    using on = await reader()
    const [first, second, third] = [await begun('first'), await begun('second'), await begun('third')]
    await second.commit()
    expect((await on.read()).ids).toEqual(['second'])
    await committed('fourth')
    await first.commit()
    expect((await on.read()).ids).toEqual(['first', 'fourth'])
    await third.rollback()
    await committed('fifth')
    expect((await on.read()).ids).toEqual(['fifth'])
    expect(await on.read()).toEqual({ ids: [], missed: false })
  })

  test('reads the changes of transactions that were open when it began, and none that were committed before', async () => {
    await committed('before')
    const underWay = await begun('under way')
    using on = await reader()
    expect((await on.read()).ids).toEqual([])
    await underWay.commit()
    expect((await on.read()).ids).toEqual(['under way'])
  })

  test('reads every change of many concurrent writers', async () => {
    using on = await reader()
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (let i = 0; i < 25; i++) await committed(`${lane}/${i}`)
    })
    const ids: string[] = []
    let goesOn = true
    const reading = (async () => {
      while (goesOn) ids.push(...(await on.read()).ids)
    })()
    await Promise.all(lanes)
    goesOn = false
    await reading
    ids.push(...(await on.read()).ids)
    const all = lanes.flatMap((_, lane) => Array.from({ length: 25 }, (_, i) => `${lane}/${i}`))
    expect(ids.toSorted()).toEqual(all.toSorted())
  })

  test('skips rows of another server, which a dump has brought along', async () => {
    using on = await reader()
    const row = [1_000_000_000_000, 'another', JSON.stringify([named('of tomorrow')])]
    await runSql(database.url, 'insert into changes (xid, writer, body) values ($1, $2, $3)', row)
    expect(await on.read()).toEqual({ ids: [], missed: false })
  })

  test('that has missed thousands of changes reports that it missed some, instead of reading them', async () => {
    using on = await reader()
    await runSql(
      database.url,
      `insert into changes (xid, writer, body)
        select pg_current_xact_id()::text::bigint, 'writer ' || i, '[{"noun":"tool"}]' from generate_series(1, 6000) i`,
    )
    expect(await on.read()).toEqual({ ids: [], missed: true })
    expect(await on.read()).toEqual({ ids: [], missed: false })
  })

  test('finds out that rows were deleted before it has read them, and reports that it missed some', async () => {
    using late = await reader()
    await committed('unread')
    using inTime = await reader()
    // a transaction of any database of the server that began earlier holds the horizon back
    await vi.waitFor(async () => {
      await inTime.read()
      const { rows } = await runSql(database.url, 'select from changes where xid >= $1', [
        inTime.position.horizon,
      ])
      expect(rows).toEqual([])
    }, 300_000)
    await createChangeTable('another').prune(pool, inTime.position.horizon)
    const { rows } = await runSql(database.url, 'select body, pruned_below from changes')
    expect(rows).toEqual([{ body: null, pruned_below: String(inTime.position.horizon) }])
    expect(await late.read()).toEqual({ ids: [], missed: true })
    expect(await late.read()).toEqual({ ids: [], missed: false })
    expect(await inTime.read()).toEqual({ ids: [], missed: false })
  })

  test('reads on after a pruning that deletes only the notes of earlier prunings', async () => {
    using on = await reader()
    await committed('one')
    await on.read()
    const { prune } = createChangeTable('another')
    await prune(pool, on.position.horizon)
    await on.read()
    await prune(pool, on.position.horizon)
    const { rows } = await runSql(database.url, 'select 1 from changes')
    expect(rows).toHaveLength(1)
  })
})

test('every ten seconds, rows are pruned that readers could see half a minute ago', () => {
  let now = 0
  const pruned: number[] = []
  const pruning = createPruning(
    async (below) => void pruned.push(below),
    () => now,
  )
  for (now = 0; now <= 60_000; now += 1_000) pruning.passed(now)
  expect(pruned).toEqual([0, 10_000, 20_000, 30_000])
})

describe('wake-ups', () => {
  test('of later commits share one notification, and the first is sent at once', async () => {
    let sent = 0
    const wakeUps = createWakeUps(async () => void sent++)
    wakeUps.request()
    expect(sent).toBe(1)
    for (let i = 0; i < 1_000; i++) wakeUps.request()
    expect(sent).toBe(1)
    await wakeUps.flush()
    expect(sent).toBe(2)
  })

  test('that cannot be sent fail no caller', async () => {
    const wakeUps = createWakeUps(() => Promise.reject(new Error('no connection')))
    wakeUps.request()
    await expect(wakeUps.flush()).resolves.toBeUndefined()
  })

  test('are sent outside of the transactions that write', async () => {
    const store = await openPostgresStore(database.url)
    const sent = new Map<unknown, string[]>()
    const { query } = pg.Client.prototype
    const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
      this: pg.Client,
      ...args
    ) {
      const [asked] = args as unknown as readonly (string | { readonly text: string })[]
      const text = typeof asked === 'string' ? asked : (asked?.text ?? '')
      sent.set(this, [...(sent.get(this) ?? []), text])
      return query.apply(this, args)
    })
    try {
      const { projectId } = await inProject(store)
      await putTool(store, tool({ projectId }))
    } finally {
      await store.close()
      spy.mockRestore()
    }
    const clients = [...sent.values()]
    const notifies = (texts: readonly string[]) => texts.some((text) => text.includes('notify'))
    expect(clients.filter((texts) => texts.includes('commit')).some(notifies)).toBe(false)
    expect(clients.some(notifies)).toBe(true)
  })
})

describe('while a node of an older release listens', () => {
  test('a change is sent in its format too, and its own changes are read', async () => {
    await using older = await olderNode()
    const store = await openPostgresStore(database.url)
    const heard: StoreChange[] = []
    store.onChange((change) => heard.push(change))
    const { projectId } = await inProject(store)
    await putTool(store, tool({ projectId }))
    await older.until(({ change }) => change?.noun === 'tool')
    heard.length = 0
    const payload = { writer: 'older', change: named('of the older one') }
    await runSql(database.url, 'select pg_notify($1, $2)', ['gatepass', JSON.stringify(payload)])
    await until(() => heard.length > 0)
    expect(heard).toEqual([named('of the older one')])
    const before = store.catchUp()
    await runSql(database.url, 'select pg_notify($1, $2)', ['gatepass', '{"writer":"older"}'])
    await until(() => store.catchUp() !== before)
    await store.close()
  })

  test('a newer node that begins to listen makes it read everything again', async () => {
    const follower = await followChanges(
      { connectionString: database.url },
      { pool, leaveOthers() {}, commits: createCommits(pool, () => {}), notify() {} },
    )
    await using older = await olderNode()
    await older.until(({ change }) => change === undefined)
    await follower.close()
  })
})

interface OlderPayload {
  readonly writer: string
  readonly change?: StoreChange
}

async function olderNode() {
  const client = new pg.Client({ connectionString: database.url, application_name: 'gatepass listener' })
  await client.connect()
  const heard: OlderPayload[] = []
  client.on('notification', ({ payload = '' }) => payload !== '' && heard.push(JSON.parse(payload)))
  await client.query('listen gatepass')
  return {
    until: (matches: (payload: OlderPayload) => boolean) => until(() => heard.some(matches)),
    [Symbol.asyncDispose]: () => client.end(),
  }
}
