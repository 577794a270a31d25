import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test, vi } from 'vitest'
import { createRunner } from '../../src/store/dialects/sqlite/runner.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { approve, oauth2For, startScene } from '../flows/fixtures.ts'
import { gate } from '../gate.ts'
import { freshDatabase, runSql } from '../postgres.ts'
import { type Served, serveProcess } from '../served.ts'

/** A folder on a real disk that can be filled and emptied. */
interface Disk extends AsyncDisposable {
  readonly folder: string
  /** A command that runs the server's command. */
  readonly under?: readonly string[]
  fill(served: Served): void
  free(served: Served): void
}

/** A small file system, which gives ENOSPC when it is full. Needs a user who may mount. */
async function smallDisk(): Promise<Disk | undefined> {
  const root = await mkdtemp(join(tmpdir(), 'gatepass-disk-'))
  const folder = join(root, 'disk')
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    await rm(root, { recursive: true })
    return undefined
  }
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (const size of [65_536, 4_096, 1]) fillBy(file, size)
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast),
    async [Symbol.asyncDispose]() {
      execFileSync('umount', ['-l', folder])
      await rm(root, { recursive: true, force: true })
    },
  }
}

function fillBy(file: number, size: number): void {
  try {
    for (;;) writeSync(file, Buffer.alloc(size))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

/** A resource limit of the server on the size of files, which gives EFBIG. Needs Linux with util-linux. */
async function limitedFiles(): Promise<Disk | undefined> {
  const limit = (served: Served, bytes: string) =>
    execFileSync('prlimit', ['--pid', String(served.pid), `--fsize=${bytes}:unlimited`])
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-disk-'))
  return {
    folder,
    under: ['bash', '-c', 'exec "$0" "$@"'],
    fill: (served) => limit(served, String(statSync(join(folder, 'gatepass.db-wal')).size)),
    free: (served) => limit(served, 'unlimited'),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// outside of a transaction better-sqlite3 reads the rows of a write and does not look whether its commit went well (13.2.0)
test('a write whose rows are read runs in a transaction, so that a full disk is noticed', () => {
  const client = new Database(':memory:')
  client.exec('create table t (a)')
  const run = createRunner(client)
  const insert = {
    text: 'insert into t values (?) returning a',
    values: [1],
    toRow: ([a]: readonly unknown[]) => a,
  }
  expect(() => run(insert)).toThrow('outside of a transaction')
  expect(client.transaction(() => run(insert))()).toEqual([1])
  client.close()
})

const needOf = (user_id: string) => ({
  auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
  user_id,
})

describe.each([
  ['no space left', smallDisk],
  ['files that may not grow', limitedFiles],
])('%s', (_, makeDisk) => {
  test('refuses before any refresh token is sent, still answers requests that write nothing, and recovers', async (context) => {
    const made = await makeDisk()
    if (made === undefined) return context.skip()
    await using disk = made
    await using as = await startFakeAuthorizationServer({ refresh: 'rotate-strict' })
    const path = join(disk.folder, 'gatepass.db')
    await using node = await serveProcess({
      database: `file:${path}`,
      ...(disk.under !== undefined && { under: disk.under }),
    })
    await node.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
    for (const [user, life] of [
      ['fresh', 3600],
      ['expired', 1],
    ] as const) {
      as.behaviour.accessTokenLifetime = life
      const { body } = await node.call('POST', '/v1/auth/authorize', needOf(user))
      const { browser, callback } = await approve(body.url)
      expect((await browser.follow(callback)).status).toBe(200)
    }
    as.behaviour.accessTokenLifetime = 3600
    const token = (user: string) => node.call('POST', '/v1/auth/authorize', needOf(user))
    const before = (await token('fresh')).body.context.token
    await sleep(1_200) // the other one has run out, and last-used times are written

    disk.fill(node)
    const refusal = { status: 503, body: { name: 'store_unavailable' } }
    await vi.waitFor(async () => expect((await node.call('GET', '/ready')).status).toBe(503), 300_000)
    expect(await node.call('GET', '/v1/health')).toMatchObject({ status: 503, body: { healthy: false } })
    expect(await node.call('GET', '/health')).toMatchObject({ status: 200 })
    for (let turn = 0; turn < 3; turn++) {
      expect(await token('fresh')).toMatchObject(refusal) // no release without its audit entry
      expect(await token('expired')).toMatchObject(refusal)
      expect(await token('new')).toMatchObject(refusal)
    }
    expect(as.tokenRequests('refresh_token')).toEqual([])
    const { status, body } = await node.call('GET', '/v1/connections')
    expect({ status, items: body.items.length }).toEqual({ status: 200, items: 2 })
    expect(body.items).toMatchObject([{ status: 'active' }, { status: 'active' }])

    disk.free(node)
    await vi.waitFor(async () => expect((await node.call('GET', '/ready')).status).toBe(200), 300_000)
    expect((await token('fresh')).body.context.token).toBe(before)
    await vi.waitFor(async () => expect((await token('expired')).status).toBe(200), 300_000)
    expect(as.isLive((await token('expired')).body.context.token)).toBe(true)
    expect(as.tokenRequests('refresh_token')).toHaveLength(1)
    expect(as.familyRevoked).toBe(false)
    expect((await token('new')).body.status).toBe('pending')
    await node.stop()
    const client = new Database(path, { readonly: true })
    expect(client.pragma('integrity_check', { simple: true })).toBe('ok')
    client.close()
  })

  test('that begins during a refresh does not lose the rotated token', async (context) => {
    const made = await makeDisk()
    if (made === undefined) return context.skip()
    await using disk = made
    await using as = await startFakeAuthorizationServer({ refresh: 'rotate-strict', accessTokenLifetime: 1 })
    await using node = await serveProcess({
      database: `file:${join(disk.folder, 'gatepass.db')}`,
      ...(disk.under !== undefined && { under: disk.under }),
    })
    await node.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
    const { body } = await node.call('POST', '/v1/auth/authorize', needOf('ada'))
    const { browser, callback } = await approve(body.url)
    expect((await browser.follow(callback)).status).toBe(200)
    await sleep(1_200)
    as.behaviour.accessTokenLifetime = 3600
    const filled = gate()
    as.behaviour.onRefresh = (moment) => {
      if (moment === 'arrived') return undefined
      disk.fill(node)
      filled.open()
      return undefined
    }
    const fetching = node.call('POST', '/v1/auth/authorize', needOf('ada'))
    await filled.opened
    await sleep(300)
    disk.free(node)
    await fetching
    // on a busy machine the rotated token may still wait to be stored
    const token = await vi.waitFor(async () => {
      const answer = await node.call('POST', '/v1/auth/authorize', needOf('ada'))
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return answer.body.context.token
    }, 300_000)
    expect(as.isLive(token)).toBe(true)
    expect(as.tokenRequests('refresh_token')).toHaveLength(1)
  })
})

test('of PostgreSQL: no node is ready while large writes fail, though a small one still finds room', async () => {
  await using database = await freshDatabase()
  await using scene = await startScene({ gatepass: { environment: { GATEPASS_DATABASE_URL: database.url } } })
  await scene.connect()
  const ready = async () => (await scene.call('GET', '/ready')).status
  expect(await ready()).toBe(200)
  // what a server says that cannot make a file longer
  const isLong = { audit_blocks: 'true', facts: 'length(new.value) > 100000' }
  await runSql(
    database.url,
    `create function full_disk() returns trigger language plpgsql as $$
       begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
  )
  for (const [table, condition] of Object.entries(isLong))
    await runSql(
      database.url,
      `create trigger full_disk before insert or update on ${table} for each row when (${condition}) execute function full_disk()`,
    )
  expect(await scene.authorize()).toMatchObject({ status: 503, body: { name: 'store_unavailable' } })
  await expect.poll(ready).toBe(503)
  expect(await scene.gatepass.broker.store.facts.exchange('small', undefined, 'value')).toBe(true)
  for (const table of Object.keys(isLong)) await runSql(database.url, `drop trigger full_disk on ${table}`)
  await expect.poll(ready).toBe(200)
  expect((await scene.authorize()).body.status).toBe('completed')
  const { rows } = await runSql(database.url, "select count(*)::int as kept from facts where name = 'space'")
  expect(rows).toEqual([{ kept: 0 }])
})
