import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../ports.ts'
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
  expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('already up to date') })
  const created = await run('keys', 'create', '--role', 'admin', '--json')
  expect(JSON.parse(created.stdout)).toMatchObject({ project: 'default', role: 'admin' })
  const examined = await run('doctor', '--json')
  expect(JSON.parse(examined.stdout).checks).toContainEqual(
    expect.objectContaining({ name: 'database', status: 'ok' }),
  )
  for (const { stdout, stderr } of [early, empty, migrated, again, created, examined])
    expect(stdout + stderr).not.toContain(password)
})

/** Something that has the port and is no PostgreSQL. */
async function hangsUp(port: number): Promise<Server> {
  const server = createServer((socket) => socket.end())
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return server
}

test.each([
  // a port of this run, which no other process listens on
  ['is not there', async () => undefined, 'ECONNREFUSED'],
  ['hangs up', hangsUp, 'Connection terminated unexpectedly'],
] as const)('a server that %s is named in one line, without its password', async (_, listen, reason) => {
  const port = await freePort()
  await using gatepass = await install()
  await using stack = new AsyncDisposableStack()
  const server = await listen(port)
  stack.defer(() => void server?.close())
  const env = {
    GATEPASS_DATABASE_URL: `postgres://ada:sesame@127.0.0.1:${port}/gatepass`,
    GATEPASS_MASTER_KEY: MASTER_KEY,
  }
  const { code, stdout, stderr } = await gatepass.runWith({ env }, 'migrate')
  expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
  const lines = stderr.split('\n')
  expect(lines).toEqual([
    expect.stringContaining(`postgres://ada@127.0.0.1:${port}/gatepass cannot be opened`),
    '',
  ])
  expect(stderr).toContain('Check GATEPASS_DATABASE_URL')
  expect(stderr).not.toContain('sesame')
  // a processor that is busy for longer than a connection may take hides the reason
  expect(stderr).toMatch(new RegExp(`\\((?:[^)]*${reason}[^)]*|timeout expired)\\)`))
})
