import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { freshDatabase } from '../postgres.ts'
import { type Installation, install } from './gatepass.ts'

const GATEPASS_MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

let gatepass: Installation
beforeEach(async () => {
  gatepass = await install()
})
afterEach(() => gatepass[Symbol.asyncDispose]())

const at = (name: string) => join(gatepass.directory, name)
const run = (database: string, ...args: string[]) =>
  gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY, GATEPASS_DATABASE_URL: database } }, ...args)
const json = async (database: string, ...args: string[]) => {
  const { code, stdout, stderr } = await run(database, ...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Error') })
  return JSON.parse(stdout)
}

/** A backup of an installation with one API key. */
async function makeBackup(): Promise<{ readonly path: string; readonly keyId: string }> {
  const { id: keyId } = await json(`file:${at('old.db')}`, 'keys', 'create', '--role', 'admin')
  await json(`file:${at('old.db')}`, 'backup', '--to', at('backup.db'))
  return { path: at('backup.db'), keyId }
}

describe.each(['sqlite', 'postgres'] as const)('restoring to %s', (backend) => {
  test('brings back what the backup held, marked as restored, and leaves the backup as it was', async () => {
    const { path, keyId } = await makeBackup()
    const before = readFileSync(path)
    await using fresh = backend === 'postgres' ? await freshDatabase() : undefined
    const database = fresh?.url ?? `file:${at('new.db')}`
    const outcome = await gatepass.runWith(
      { env: { GATEPASS_MASTER_KEY, GATEPASS_DATABASE_URL: database } },
      ...['restore', path, '--json'],
    )
    expect(outcome).toMatchObject({ code: 0, stderr: '' })
    const restored = JSON.parse(outcome.stdout)
    expect(restored.taken_at).toMatch(/^\d{4}-/)
    expect(readFileSync(path).equals(before)).toBe(true)
    const { items: keys } = await json(database, 'keys', 'list')
    expect(keys).toMatchObject([{ id: keyId, status: 'active' }])
    const { items: entries } = await json(database, 'audit', 'list', '--action', 'installation.restored')
    expect(entries).toMatchObject([{ subject: `backup of ${restored.taken_at}` }])
    expect(await json(database, 'audit', 'verify')).toMatchObject({ items: [{ faults: [] }] })

    const again = await run(database, 'restore', path)
    expect(again).toMatchObject({ code: 1, stdout: '' })
    expect(again.stderr).toMatch(/^[^\n]+\n$/)
    expect(readdirSync(gatepass.directory).filter((name) => /partial|restore-/.test(name))).toEqual([])
  })
})

test('a copy that carries no mark is marked by restoring it', async () => {
  await makeBackup()
  const client = new Database(at('old.db'))
  client.pragma('wal_checkpoint(truncate)')
  client.close()
  copyFileSync(at('old.db'), at('by-hand.db'))
  await json(`file:${at('new.db')}`, 'restore', at('by-hand.db'))
  const { items } = await json(`file:${at('new.db')}`, 'audit', 'list', '--action', 'installation.restored')
  expect(items).toHaveLength(1)
  if (process.platform !== 'win32') expect(statSync(at('new.db')).mode & 0o077).toBe(0)
})

test('a database that was restored by other means is marked on demand', async () => {
  await makeBackup()
  expect(await json(`file:${at('old.db')}`, 'restore', '--mark')).toMatchObject({ marked: true })
  const { items } = await json(`file:${at('old.db')}`, 'audit', 'list', '--action', 'installation.restored')
  expect(items).toHaveLength(1)
})

test('beside a log or journal of another database nothing is restored', async () => {
  const { path } = await makeBackup()
  for (const left of ['new.db-wal', 'new.db-shm', 'new.db-journal']) {
    writeFileSync(at(left), 'left behind')
    const refused = await run(`file:${at('new.db')}`, 'restore', path)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`${left} is there`)
    rmSync(at(left))
  }
  expect(existsSync(at('new.db'))).toBe(false)
})

test('what is no backup, or not there, is refused and leaves nothing', async () => {
  writeFileSync(at('text.db'), 'this is no database, however long it may be. '.repeat(200))
  const refused = await run(`file:${at('new.db')}`, 'restore', at('text.db'))
  expect(refused).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^[^\n]*damaged[^\n]*\n$/),
  })
  const absent = await run(`file:${at('new.db')}`, 'restore', at('nowhere.db'))
  expect(absent).toMatchObject({ code: 3, stdout: '' })
  expect(await run(`file:${at('new.db')}`, 'restore')).toMatchObject({ code: 2, stdout: '' })
  expect(existsSync(at('new.db'))).toBe(false)
  expect(readdirSync(gatepass.directory)).toEqual(['text.db'])
})

test('a file with triggers or views is refused: they would act for as long as the installation lives', async () => {
  const { path } = await makeBackup()
  const client = new Database(path)
  client.exec('create trigger keep before update of revoked_at on api_keys begin select raise(ignore); end')
  client.close()
  expect(await run(`file:${at('new.db')}`, 'restore', path)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('triggers or views of another program: keep'),
  })
  expect(existsSync(at('new.db'))).toBe(false)
})
