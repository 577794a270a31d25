import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import { createChangeFeed } from '../../src/store/dialects/sqlite/change-feed.ts'
import { openDatabase } from '../../src/store/dialects/sqlite/file.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import { migratedFile } from '../migrated-file.ts'
import { storeConformance } from './conformance.ts'
import { inProject, type OpenedStore } from './fixtures.ts'

/** Without `file`, the first store creates the database. */
async function openTwice(file?: Buffer): Promise<OpenedStore & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-store-'))
  const path = join(folder, 'gatepass.db')
  if (file !== undefined) await writeFile(path, file)
  const store = openSqliteStore(path)
  const other = openSqliteStore(path)
  return {
    path,
    store,
    other,
    async sql(text) {
      const client = new Database(path)
      client.exec(text)
      client.close()
    },
    async [Symbol.asyncDispose]() {
      await store.close()
      await other.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

storeConformance('sqlite', async () => openTwice(await migratedFile()))

test('is durable: a commit is on the disk before it is answered', async () => {
  await using opened = await openTwice()
  const client = openDatabase(opened.path)
  expect(client.pragma('journal_mode', { simple: true })).toBe('wal')
  expect(client.pragma('synchronous', { simple: true })).toBe(2)
  expect(client.pragma('foreign_keys', { simple: true })).toBe(1)
  client.close()
})

test('can be read and written by its owner alone, with its log, from its creation on', async () => {
  const before = process.umask(0)
  try {
    await using opened = await openTwice()
    await opened.store.projects.ensure('p', 1)
    for (const path of [opened.path, `${opened.path}-wal`, `${opened.path}-shm`])
      expect([path, (await stat(path)).mode & 0o777]).toEqual([path, 0o600])
  } finally {
    process.umask(before)
  }
})

test('waits while another process writes, without holding the event loop', async () => {
  await using opened = await openTwice()
  const blocker = new Database(opened.path)
  blocker.exec('begin immediate')
  const order: string[] = []
  const writing = opened.store.projects.ensure('p', 1).then(() => order.push('written'))
  const ticking = new Promise<void>((resolve) => {
    setTimeout(() => {
      order.push('the event loop ran')
      blocker.exec('commit')
      blocker.close()
      resolve()
    })
  })
  await Promise.all([ticking, writing])
  expect(order).toEqual(['the event loop ran', 'written'])
})

test('reads the changes of other processes again after a read that failed', async () => {
  await using opened = await openTwice()
  const client = openDatabase(opened.path)
  let fails = false
  const feed = createChangeFeed({
    get inTransaction() {
      return client.inTransaction
    },
    prepare(text: string) {
      const statement = client.prepare(text)
      if (!text.includes('min(seq)')) return statement
      const get = () => {
        if (fails) throw new Error('disk I/O error')
        return statement.get()
      }
      return { get }
    },
  } as unknown as Database.Database) // what the feed uses of it
  await inProject(opened.store)
  fails = true
  expect(() => feed.read()).toThrow('disk I/O error')
  fails = false
  expect(feed.read()).toMatchObject({ changes: [{ noun: 'provider' }], missed: false })
  client.close()
})

test('answers store_unavailable when the database cannot be used', async () => {
  await using opened = await openTwice()
  await opened.store.probe()
  const breaker = new Database(opened.path)
  breaker.exec('drop table facts')
  breaker.close()
  await expect(opened.store.facts.find('check')).rejects.toMatchObject({
    code: 'store_unavailable',
    retryAfter: 5,
  })
})

test.each([
  ['is no database', (folder: string) => textFileIn(folder)],
  ['cannot be made', async (folder: string) => join(folder, 'missing', 'gatepass.db')],
])('refuses a file that %s, and names its path', async (_, pathIn) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-store-'))
  const path = await pathIn(folder)
  expect(() => openSqliteStore(path)).toThrow(BrokerError)
  expect(() => openSqliteStore(path)).toThrow(path)
  await rm(folder, { recursive: true })
})

/** Writes a file of another format in the place of the database. */
async function textFileIn(folder: string): Promise<string> {
  const path = join(folder, 'gatepass.db')
  await writeFile(path, await readFile(new URL('../../package.json', import.meta.url)))
  return path
}
