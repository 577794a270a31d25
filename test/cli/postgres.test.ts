import { expect, test } from 'vitest'
import { freshDatabase } from '../postgres.ts'
import { install } from './gatepass.ts'

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

test('commands work on PostgreSQL by its URL alone, and none prints its password', async () => {
  await using database = await freshDatabase()
  await using gatepass = await install()
  const { password, pathname, host } = new URL(database.url)
  const env = { GATEPASS_DATABASE_URL: database.url, GATEPASS_MASTER_KEY: MASTER_KEY }
  const run = (...args: string[]) => gatepass.runWith({ env }, ...args)

  const early = await run('keys', 'list')
  expect(early).toMatchObject({ code: 3, stderr: expect.stringContaining('There is no database') })
  const empty = await run('doctor', '--json')
  expect(JSON.parse(empty.stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'database', status: 'warning' }),
  )
  const migrated = await run('migrate', '--json')
  expect(JSON.parse(migrated.stdout)).toEqual({
    database: `postgres://postgres@${host}${pathname}`,
    applied: expect.any(Number),
  })
  const again = await run('migrate')
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('up to date already') })
  const created = await run('keys', 'create', '--role', 'admin', '--json')
  expect(JSON.parse(created.stdout)).toMatchObject({ project: 'default', role: 'admin' })
  const examined = await run('doctor', '--json')
  expect(JSON.parse(examined.stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'database', status: 'ok' }),
  )
  for (const { stdout, stderr } of [early, empty, migrated, again, created, examined])
    expect(stdout + stderr).not.toContain(password)
})

test('a server that is not there is named in one line, without its password', async () => {
  await using gatepass = await install()
  const env = {
    GATEPASS_DATABASE_URL: 'postgres://ada:sesame@127.0.0.1:1/gatepass',
    GATEPASS_MASTER_KEY: MASTER_KEY,
  }
  const { code, stdout, stderr } = await gatepass.runWith({ env }, 'migrate')
  expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
  expect(stderr).toMatch(
    /^[^\n]*postgres:\/\/ada@127\.0\.0\.1:1\/gatepass cannot be opened[^\n]*ECONNREFUSED[^\n]*GATEPASS_DATABASE_URL[^\n]*\n$/,
  )
})
