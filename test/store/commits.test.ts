import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type Commits, createCommits, sweepCommits } from '../../src/store/dialects/postgres/commits.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { type FreshDatabase, freshDatabase } from '../postgres.ts'

// The rows by which a process knows its commits: nothing but a database that went back makes them fewer.

let database: FreshDatabase
let pool: pg.Pool
beforeAll(async () => {
  database = await freshDatabase()
  await (await openPostgresStore(database.url)).close()
  pool = new pg.Pool({ connectionString: database.url, max: 10 })
  pool.on('error', () => {}) // the database is dropped by force
})
afterAll(async () => {
  await pool.end()
  await database[Symbol.asyncDispose]()
})

/** Commits that many transactions, of which each begins before the first ends. */
async function commitTogether(commits: Commits, count: number): Promise<void> {
  const begun = []
  for (let i = 0; i < count; i++) {
    const client = await pool.connect()
    begun.push({ client, own: await commits.begin(client) })
  }
  for (const { client, own } of begun) {
    await client.query('commit')
    client.release()
    commits.ended(own, 'committed')
  }
}

test('a slot that a living process has not used for months is still there when it is used again', async () => {
  const losses: number[] = []
  const commits = createCommits(pool, (ms) => losses.push(ms))
  await commitTogether(commits, 3)
  await pool.query('update commits set at = at - 100 * 24 * 3600 where writer = $1 and slot <> 0', [
    commits.writer,
  ])
  await pool.query("insert into commits (writer, slot, number, at) values ('a process that ended', 0, 1, 1)")
  await sweepCommits(pool)
  const { rows } = await pool.query('select 1 from commits where writer = $1', ['a process that ended'])
  expect(rows).toEqual([])
  await commitTogether(commits, 3)
  expect(losses).toEqual([])
})

test('a number that a lost connection delivers late does not replace a newer one', async () => {
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  onTestFinished(() => void vi.restoreAllMocks())
  const late: string[] = []
  let isCut = false
  const through = {
    async query(query: string) {
      if (!isCut) return pool.query(query)
      late.push(query)
      throw new Error('Query read timeout')
    },
  } as unknown as pg.Pool
  const losses: number[] = []
  const commits = createCommits(through, (ms) => losses.push(ms))
  const mark = () => {
    now += 1_000
    return commits.mark()
  }
  await mark()
  isCut = true
  await expect(mark()).rejects.toThrow('Query read timeout')
  isCut = false
  await mark()
  for (const query of late) await pool.query(query)
  const before = commits.newest
  await mark()
  expect(commits.newest).toBeGreaterThan(before)
  expect(losses).toEqual([])
})

test('a loss that several transactions notice at once counts once', async () => {
  const losses: number[] = []
  const commits = createCommits(pool, (ms) => losses.push(ms))
  await commitTogether(commits, 3)
  await pool.query('delete from commits where writer = $1', [commits.writer])
  const clients = await Promise.all([1, 2, 3].map(() => pool.connect()))
  await Promise.all(clients.map((client) => commits.begin(client)))
  for (const client of clients) {
    await client.query('rollback')
    client.release()
  }
  expect(losses).toHaveLength(1)
})
