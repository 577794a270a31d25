import fs, { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, expect, test, vi } from 'vitest'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import type { Store } from '../../src/store/store.ts'

interface Opened extends AsyncDisposable {
  readonly store: Store
  readonly folder: string
  readonly path: string
  /** The commits in the log file, whether they are on the disk or not. */
  readonly log: string
}

async function open(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-power-'))
  const path = join(folder, 'gatepass.db')
  const store = openSqliteStore(path)
  return {
    store,
    folder,
    path,
    log: `${path}-wal`,
    async [Symbol.asyncDispose]() {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

afterEach(() => vi.restoreAllMocks())

type Sync = (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => void

/**
 * Replaces `fdatasync` for this file. Stores that earlier test files left in this process may still write: they keep the
 * real one.
 */
function replaceSync(file: string, replacement: (real: Sync) => Sync): void {
  const real: Sync = fs.fdatasync
  const replaced = replacement(real)
  const { dev, ino } = statSync(file)
  vi.spyOn(fs, 'fdatasync').mockImplementation((descriptor, done) => {
    const of = fs.fstatSync(descriptor)
    const sync = of.dev === dev && of.ino === ino ? replaced : real
    sync(descriptor, done)
  })
}

/** Holds back every sync of the log from now on: the test lets the disk finish them one by one. */
function slowDisk(log: string) {
  const waiting: (() => void)[] = []
  let isOver = false
  replaceSync(log, (real) => (descriptor, done) => {
    if (isOver) real(descriptor, done)
    else waiting.push(() => real(descriptor, done))
  })
  const release = () => {
    isOver = true
    for (const finish of waiting.splice(0)) finish()
  }
  return { waiting, release, [Symbol.dispose]: release }
}

/** Waits long enough for any write that does not wait for the disk. */
async function someTurns(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
}

test('a write is not answered before its commit is on the disk, and the event loop goes on meanwhile', async () => {
  await using opened = await open()
  using disk = slowDisk(opened.log)
  const { waiting, release } = disk
  const answered: string[] = []
  const write = async (name: string) => {
    await opened.store.projects.ensure(name, 1)
    answered.push(name)
  }
  const first = write('first')
  await someTurns()
  expect([waiting.length, answered]).toEqual([1, []])
  // reads go on, and later writes gather
  expect(await opened.store.projects.list()).toMatchObject([{ name: 'first' }])
  const later = [write('second'), write('third')]
  await someTurns()
  expect([waiting.length, answered]).toEqual([1, []])

  waiting.shift()?.()
  await first
  await vi.waitFor(() => expect(waiting).toHaveLength(1), 300_000)
  expect(answered).toEqual(['first'])
  release()
  await Promise.all(later)
  expect(answered).toEqual(['first', 'second', 'third'])
})

test('every answered write is there after a power cut that loses the part of the log that was not synced', async () => {
  await using opened = await open()
  let onDisk = 0
  replaceSync(opened.log, (real) => (descriptor, done) => {
    const { size } = fs.fstatSync(descriptor)
    real(descriptor, (error) => {
      onDisk = size
      done(error)
    })
  })
  for (let i = 0; i < 20; i++) {
    const names = Array.from({ length: 5 }, (_, j) => `project ${i} ${j}`)
    await Promise.all(names.map((name) => opened.store.projects.ensure(name, 1)))
    const copy = join(opened.folder, 'after.db')
    copyFileSync(opened.path, copy)
    writeFileSync(`${copy}-wal`, readFileSync(opened.log).subarray(0, onDisk))
    const client = new Database(copy)
    const kept = client.prepare('select name from projects').pluck().all()
    client.close()
    expect(kept).toEqual(expect.arrayContaining(names))
  }
})

test('after a sync that failed, every write fails with store_unavailable until the program is started again', async () => {
  await using opened = await open()
  await opened.store.projects.ensure('before', 1)
  replaceSync(opened.log, () => (_, done) => done(new Error('EIO: i/o error')))
  const refused = { code: 'store_unavailable' }
  await expect(opened.store.projects.ensure('first', 1)).rejects.toMatchObject(refused)
  await expect(opened.store.projects.ensure('second', 1)).rejects.toMatchObject(refused)
  await expect(opened.store.probe()).rejects.toMatchObject(refused)
  await opened.store.close()
  vi.restoreAllMocks()
  const again = openSqliteStore(opened.path)
  await again.projects.ensure('third', 1)
  await again.close()
})

test('the log is checkpointed while writes never pause, and does not grow without limit', async () => {
  await using opened = await open()
  const text = 'x'.repeat(10_000)
  const writer = async (projectId: string) => {
    for (let at = 0; at < 7_000; at++)
      await opened.store.audit.append({ projectId, at, lines: [text], link: () => `${at}` })
  }
  await Promise.all(['a', 'b', 'c', 'd'].map(writer))
  const written = 4 * 7_000 * text.length
  expect(statSync(opened.path).size).toBeGreaterThan(written / 2)
  expect(statSync(opened.log).size).toBeLessThan(written / 2)
})

test('a log that grew while a reader held old pages is checkpointed and shrinks after the reader has ended', async () => {
  await using opened = await open()
  const append = (bytes: number) =>
    opened.store.audit.append({ projectId: 'a', at: 1, lines: ['x'.repeat(bytes)], link: () => '' })
  const reader = new Database(opened.path, { readonly: true })
  reader.exec('begin')
  reader.prepare('select count(*) from projects').get()
  for (let i = 0; i < 100; i++) await append(1_000_000)
  const grown = statSync(opened.log).size
  expect(grown).toBeGreaterThan(100_000_000)
  reader.exec('commit')
  reader.close()
  // a checkpoint, and then a commit that finds all of the log copied
  for (let i = 0; i < 3_000 && statSync(opened.log).size >= grown; i++) {
    await append(100_000)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(statSync(opened.log).size).toBeLessThan(grown / 1.4)
})
