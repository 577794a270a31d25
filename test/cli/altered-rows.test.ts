import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findAlteredRows } from '../../src/services/altered-rows.ts'
import { type GatepassOptions, startGatepass } from '../gatepass.ts'
import { startWorld } from '../http/world.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { type Installation, install } from './gatepass.ts'

// Commands report rows that another program has written, and keep the rows of Gatepass valid.

const KEY = Buffer.alloc(32, 7).toString('base64')
const NEW_KEY = Buffer.alloc(32, 8).toString('base64')

let gatepass: Installation
let folder: string
let postgres: FreshDatabase | undefined
beforeEach(async () => {
  gatepass = await install()
  folder = await mkdtemp(join(tmpdir(), 'gatepass-altered-'))
})
afterEach(async () => {
  await gatepass[Symbol.asyncDispose]()
  await postgres?.[Symbol.asyncDispose]()
  postgres = undefined
  await rm(folder, { recursive: true, force: true })
})

const file = (name: string) => `file:${join(folder, name)}`

async function write(url: string, sql: string): Promise<void> {
  if (!url.startsWith('file:')) {
    expect((await runSql(url, sql)).rowCount).toBeGreaterThan(0)
    return
  }
  const client = new Database(url.slice('file:'.length))
  expect(client.prepare(sql).run().changes).toBeGreaterThan(0)
  client.close()
}

const run = (database: string, ...args: readonly string[]) =>
  gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: KEY, GATEPASS_DATABASE_URL: database } }, ...args)

describe.each(['sqlite', 'postgres'] as const)('rows written into %s by hand', (backend) => {
  test('are named by doctor and by audit verify, which fail until they are gone', async () => {
    postgres = backend === 'postgres' ? await freshDatabase() : undefined
    const url = postgres?.url ?? file('gatepass.db')
    const { id } = JSON.parse((await run(url, 'keys', 'create', '--role', 'caller', '--json')).stdout)
    const rowsCheck = async () => {
      const { code, stdout } = await run(url, 'doctor', '--json')
      const { checks } = JSON.parse(stdout)
      return {
        code,
        found: checks.filter(({ message }: { message: string }) =>
          message.includes('a program other than Gatepass'),
        ),
      }
    }
    expect((await rowsCheck()).found).toEqual([])
    const whole = await run(url, 'audit', 'verify', '--json')
    expect(whole, whole.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(whole.stdout)).toMatchObject({ items: [{ faults: [], altered_rows: [] }] })

    await write(url, "update api_keys set role = 'admin'")
    expect(await rowsCheck()).toEqual({
      code: 1,
      found: [
        {
          name: 'database',
          status: 'failed',
          message: expect.stringContaining(`ignored: api_keys ${id}.`),
          fix: expect.any(String),
        },
      ],
    })
    const verdict = await run(url, 'audit', 'verify', '--json')
    expect(verdict.code).toBe(1)
    expect(JSON.parse(verdict.stdout)).toMatchObject({
      items: [{ faults: [], altered_rows: [`api_keys ${id}`] }],
    })
    const shown = await gatepass.runWith(
      { env: { GATEPASS_MASTER_KEY: KEY, GATEPASS_DATABASE_URL: url } },
      ...['audit', 'verify'],
    )
    expect(shown.code).toBe(1)
    expect(shown.stdout).toContain(`api_keys ${id} was written by a program other than Gatepass`)
    expect(shown.stderr.split('\n').at(-2)).toMatch(/^Rows that grant access were written by/)

    await write(url, 'delete from api_keys')
    expect((await rowsCheck()).found).toEqual([])
    expect((await run(url, 'audit', 'verify')).code).toBe(0)
  })
})

describe('rows that Gatepass has written are believed after', () => {
  /** Each returns where the installation is afterwards. */
  const ways: readonly [string, (from: string) => Promise<{ url: string; masterKey?: string }>][] = [
    [
      'moving to PostgreSQL',
      async (from) => {
        postgres = await freshDatabase()
        await done(from, 'migrate', '--from', from, '--to', postgres.url)
        return { url: postgres.url }
      },
    ],
    [
      'moving to PostgreSQL and back',
      async (from) => {
        postgres = await freshDatabase()
        await done(from, 'migrate', '--from', from, '--to', postgres.url)
        await done(from, 'migrate', '--from', postgres.url, '--to', file('back.db'))
        return { url: file('back.db') }
      },
    ],
    [
      'a backup and its restoring',
      async (from) => {
        await done(from, 'backup', '--to', join(folder, 'backup.db'))
        await done(file('restored.db'), 'restore', join(folder, 'backup.db'))
        return { url: file('restored.db') }
      },
    ],
    [
      'a change of the master key',
      async (from) => {
        const rotated = await gatepass.runHereWith(
          { env: { GATEPASS_MASTER_KEY: `${NEW_KEY},${KEY}`, GATEPASS_DATABASE_URL: from } },
          'rotate-key',
        )
        expect(rotated, rotated.stderr).toMatchObject({ code: 0 })
        return { url: from, masterKey: NEW_KEY }
      },
    ],
  ]
  const done = async (database: string, ...args: readonly string[]) => {
    const outcome = await run(database, ...args)
    expect(outcome, outcome.stderr).toMatchObject({ code: 0 })
  }

  test.each(ways)('%s, and those written there by hand are not', async (_, move) => {
    const options = { databasePath: join(folder, 'gatepass.db') }
    await using world = await startWorld({ gatepass: options })
    await world.connect('ada')
    const rule = { id: 'no-bob', effect: 'deny', match: { users: ['bob'] } }
    expect((await world.call('POST', '/v1/admin/policies', rule)).status).toBe(201)
    const key = await world.gatepass.makeKey('caller')
    await world.gatepass.close()

    const { url, masterKey = KEY } = await move(file('gatepass.db'))
    const there: GatepassOptions = {
      environment: { GATEPASS_DATABASE_URL: url, GATEPASS_MASTER_KEY: masterKey },
    }
    {
      await using moved = await startGatepass(there)
      expect(await findAlteredRows(moved.broker)).toEqual([])
      expect((await moved.call('GET', '/v1/tools', undefined, { key })).status).toBe(200)
      expect((await moved.call('GET', '/v1/admin/auth_providers/demo')).status).toBe(200)
      expect((await moved.call('GET', '/v1/workers/demo')).body).toMatchObject({
        acceptance: { accepted: { providers: [{ id: 'demo', scopes: ['read'] }] } },
      })
      const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
      expect((await moved.call('POST', '/v1/auth/authorize', need)).body.status).toBe('completed')
    }
    await write(url, "update workers set uri = 'https://evil.example'")
    await using moved = await startGatepass(there)
    expect(await findAlteredRows(moved.broker)).toMatchObject([{ table: 'workers', id: 'demo' }])
  })
})
