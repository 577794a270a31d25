import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pendingMigrations } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatepass-migrations-'))
  path = join(folder, 'gatepass.db')
})
afterEach(() => rm(folder, { recursive: true }))

test('five processes may open one empty database at once', async () => {
  const paths = Array.from({ length: 8 }, (_, i) => `${path}.${i}`)
  const openers = [1, 2, 3, 4, 5].map(() => startOpener(paths))
  await Promise.all(openers.map(({ ready }) => ready))
  for (const { go } of openers) go()
  const ended = await Promise.all(openers.map((one) => one.ended))
  expect(ended).toEqual(Array(5).fill({ code: 0, stderr: '' }))
  for (const one of paths) expect(pendingMigrations(one)).toBe(0)
})

test('what is there is kept when it is opened again', async () => {
  const before = openSqliteStore(path)
  const project = await before.projects.ensure('kept', 5)
  await before.close()
  const after = openSqliteStore(path)
  expect(await after.projects.find(project.id)).toEqual(project)
  await after.close()
})

test('a database of a newer release is refused and left as it is', async () => {
  await openSqliteStore(path).close()
  const newer = new Database(path)
  newer.prepare("insert into schema_migrations values ('of tomorrow', 1)").run()
  const shape = () => newer.prepare('select sql from sqlite_master order by name').pluck().all()
  const before = shape()
  expect(() => openSqliteStore(path)).toThrow(
    /newer release of Gatepass.*(Start that release|restore a backup)/,
  )
  expect(shape()).toEqual(before)
  newer.close()
})

test('looking how many are pending makes no file', () => {
  expect(pendingMigrations(path)).toBeGreaterThan(0)
  expect(pendingMigrations(path)).toBeGreaterThan(0)
})

/** A process that, once told to go, opens each of the databases and writes to it. */
function startOpener(paths: readonly string[]) {
  const store = fileURLToPath(new URL('../../src/store/sqlite/store.ts', import.meta.url))
  const script = `
    import { openSqliteStore } from ${JSON.stringify(store)}
    process.stdout.write('ready')
    await new Promise((resolve) => process.stdin.once('data', resolve))
    for (const path of process.argv.slice(1)) {
      const store = openSqliteStore(path)
      await store.projects.ensure('shared', 1)
      await store.close()
    }
    process.stdin.destroy()`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, ...paths])
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stderr }))
  })
  const ready = Promise.race([once(child.stdout, 'data'), ended])
  return { ready, ended, go: () => child.stdin.end('go') }
}
