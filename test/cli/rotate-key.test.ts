import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { providerIdentity } from '../../src/flows/get-provider.ts'
import { sealGrant } from '../../src/flows/seal-grant.ts'
import { openBroker } from '../../src/open-broker.ts'
import { readConfig } from '../../src/read-config.ts'
import { openDatabase } from '../../src/store/dialects/sqlite/file.ts'
import { describeTables } from '../../src/store/schema.ts'
import { sqliteKit } from '../../src/store/schema-kit.ts'
import { keyId } from '../../src/store/seal.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { KILL_AT } from '../faults/installation.ts'
import type { KillPoint } from '../faults/kill-at.ts'
import { approve, oauth2For } from '../flows/fixtures.ts'
import { freshDatabase } from '../postgres.ts'
import { type Served, serveProcess } from '../served.ts'
import { defined } from '../store/fixtures.ts'
import { type Installation, install } from './gatepass.ts'

const OLD = Buffer.alloc(32, 1).toString('base64')
const NEW = Buffer.alloc(32, 2).toString('base64')
const idOf = (key: string) => keyId(Buffer.from(key, 'base64'))

let gatepass: Installation
beforeEach(async () => {
  gatepass = await install()
})
afterEach(() => gatepass[Symbol.asyncDispose]())

const run = (keys: readonly string[], ...args: readonly string[]) =>
  gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: keys.join(',') } }, ...args)

describe('rotate-key', () => {
  test.each(['sqlite', 'postgres'])(
    'says what is sealed with which key, seals it anew, and which key can go: %s',
    async (backend) => {
      await using database = backend === 'postgres' ? await freshDatabase() : undefined
      const settings = (keys: readonly string[]) => ({
        env: {
          GATEPASS_MASTER_KEY: keys.join(','),
          ...(database && { GATEPASS_DATABASE_URL: database.url }),
        },
      })
      const run = (keys: readonly string[], ...args: readonly string[]) =>
        gatepass.runHereWith(settings(keys), ...args)
      await run([OLD], 'keys', 'create', '--role', 'admin')
      const one = await run([OLD], 'rotate-key')
      expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('<new>,<old>') })

      const before = await run([NEW, OLD], 'rotate-key', '--status', '--json')
      expect(JSON.parse(before.stdout)).toEqual({
        complete: false,
        key: idOf(NEW),
        left: 2,
        keys: [
          { id: idOf(NEW), role: 'seals', envelopes: 0 },
          { id: idOf(OLD), role: 'opens', envelopes: 2 },
        ],
        servers: [],
      })
      const rotated = await gatepass.runHereWith(settings([NEW, OLD]), 'rotate-key')
      expect(rotated).toMatchObject({ code: 0, stderr: '' })
      expect(rotated.stdout).toContain(`2 re-sealed with key ${idOf(NEW)}`)
      expect(rotated.stdout).toContain(`Nothing needs key ${idOf(OLD)} anymore`)
      const after = await run([NEW], 'rotate-key', '--status')
      expect(after).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Everything is sealed with key ${idOf(NEW)}`),
      })
    },
  )

  test.each(['sqlite', 'postgres'])(
    'refuses while a server runs without the new key in front, names it, and the server goes on: %s',
    async (backend) => {
      await using made = backend === 'postgres' ? await freshDatabase() : undefined
      const database = made?.url ?? `file:${join(gatepass.directory, 'x.db')}`
      const rotate = (...args: readonly string[]) =>
        gatepass.runHereWith(
          { env: { GATEPASS_MASTER_KEY: `${NEW},${OLD}`, GATEPASS_DATABASE_URL: database } },
          ...['rotate-key', ...args],
        )
      const refused = async (...masterKeys: readonly string[]) => {
        await using server = await serveProcess({ database, masterKeys })
        const answer = await rotate()
        expect(answer).toMatchObject({ code: 2, stdout: '' })
        expect(answer.stderr).toMatch(new RegExp(`^[^\\n]+ process ${server.pid}" [^\\n]+\\n$`))
        expect((await server.get('/ready')).status).toBe(200)
        expect((await server.call('GET', '/v1/admin/keys')).status).toBe(200)
        await server.stop() // one that was killed would count for a while
        return answer.stderr
      }
      expect(await refused(OLD)).toContain(`without master key ${idOf(NEW)} (it has ${idOf(OLD)})`)
      // nothing was written with the new key
      const env = { GATEPASS_MASTER_KEY: OLD, GATEPASS_DATABASE_URL: database }
      expect(await gatepass.runHereWith({ env }, 'keys', 'list')).toMatchObject({ code: 0 })
      expect(await refused(OLD, NEW)).toContain(`still seals with master key ${idOf(OLD)}`)

      await using server = await serveProcess({ database, masterKeys: [NEW, OLD] })
      const { stdout } = await rotate('--status', '--json')
      expect(JSON.parse(stdout).servers).toEqual([
        { name: expect.stringMatching(` process ${server.pid}$`), keys: [idOf(NEW), idOf(OLD)] },
      ])
      expect((await rotate()).stdout).toContain(`Nothing needs key ${idOf(OLD)} anymore`)
    },
  )

  test.each([
    ['the old key after it has gone', [OLD], 'not the key this database was sealed with'],
    ['neither', [randomBytes(32).toString('base64')], 'not the key this database was sealed with'],
  ])('with %s: one line, and nothing is changed', async (_, keys, line) => {
    await run([OLD], 'keys', 'create', '--role', 'admin')
    await run([NEW, OLD], 'rotate-key')
    const refused = await gatepass.runHereWith({ env: { GATEPASS_MASTER_KEY: keys.join(',') } }, 'rotate-key')
    expect(refused).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(refused.stderr).toContain(line)
    expect(await run([NEW], 'rotate-key')).toMatchObject({ code: 0 })
  })

  test('doctor says that a rotation is unfinished, and when a key can go', async () => {
    await run([OLD], 'keys', 'create', '--role', 'admin')
    const said = async () => {
      const { checks } = JSON.parse((await run([NEW, OLD], 'doctor', '--json')).stdout)
      return checks.filter(({ name }: { name: string }) => name === 'master key')
    }
    expect(await said()).toContainEqual({
      name: 'master key',
      status: 'warning',
      message: expect.stringMatching(/^an older key than \w+ still seals \d+ values?$/),
      fix: expect.stringContaining('rotate-key'),
    })
    await run([NEW, OLD], 'rotate-key')
    expect(await said()).toContainEqual(
      expect.objectContaining({
        status: 'warning',
        message: expect.stringContaining(`no sealed value needs ${idOf(OLD)}`),
      }),
    )
  })

  test('a key is not given up before the rotation: the start names it', async () => {
    await run([OLD], 'keys', 'create', '--role', 'admin')
    await run([NEW, OLD], 'keys', 'list')
    const early = await run([NEW], 'keys', 'list')
    expect(early).toMatchObject({ code: 2, stdout: '' })
    await run([NEW, OLD], 'rotate-key', '--json')
    expect(await run([NEW], 'keys', 'list')).toMatchObject({ code: 0 })
  })
})

describe('under load', () => {
  /** More than the batches that are sealed when the command is killed. */
  const USERS = 300
  const REFRESHED_USERS = 3
  const LOADERS = 3
  /** Pause of a loader between two fetches, which leaves processor time to the rotation. */
  const PAUSE_MS = 50
  /** Shorter than a rotation, so that these tokens are refreshed several times during it. */
  const LIFE_SECONDS = 2

  let folder: string
  let database: string
  let as: FakeAuthorizationServer
  let nodes: Served[]

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatepass-rotation-'))
    database = `file:${join(folder, 'gatepass.db')}`
    as = await startFakeAuthorizationServer({ refresh: 'rotate-strict', accessTokenLifetime: LIFE_SECONDS })
    nodes = []
  })
  afterEach(async () => {
    for (const node of nodes) await node[Symbol.asyncDispose]()
    await as.close()
    await rm(folder, { recursive: true, force: true })
  })

  const needOf = (user_id: string) => ({
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id,
  })

  async function seed(): Promise<void> {
    const [node] = nodes
    await node?.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
    await Promise.all(
      Array.from({ length: REFRESHED_USERS }, async (_, i) => {
        const { browser, callback } = await approve(
          (await defined(node).call('POST', '/v1/auth/authorize', needOf(`refreshed ${i}`))).body.url,
        )
        expect((await browser.follow(callback)).status).toBe(200)
      }),
    )
    const config = readConfig(
      {
        GATEPASS_DATABASE_URL: database,
        GATEPASS_MASTER_KEY: OLD,
        GATEPASS_USER_VERIFIER: 'open',
        GATEPASS_PUBLIC_URL: 'http://localhost',
      },
      'serve',
    )
    const nothing = () => {}
    const log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
    const broker = await openBroker(config, { log })
    const { id: projectId } = defined(await broker.store.projects.findByName('default'))
    const entry = defined(await broker.store.providers.findById(projectId, 'demo'))
    const client = openDatabase(join(folder, 'gatepass.db'))
    drizzle(client).transaction((tx) => {
      for (let i = 0; i < USERS; i++) {
        const place = { id: newId('conn'), projectId, userId: `held ${i}`, providerUid: entry.uid }
        const account = { id: `held ${i}`, name: `held ${i}` }
        const grant = sealGrant(
          broker,
          { ...place, account },
          {
            accessToken: `token of held ${i}`,
            userInfo: {},
            refreshToken: `refresh token of held ${i}`,
            tokenType: 'bearer',
            scopes: ['read'],
            expiresIn: 3600,
          },
        )
        const rest = {
          isDefault: true,
          generation: 1,
          unansweredRefreshes: 0,
          createdAt: 1,
          consentedAt: 1,
          withheldScopes: {},
        } as const
        tx.insert(describeTables(sqliteKit).connections)
          .values({
            ...place,
            ...grant,
            ...rest,
            accountId: account.id,
            accountName: account.name,
            status: 'active',
            providerIdentity: providerIdentity(broker, entry),
          })
          .run()
      }
    })
    client.close()
    await broker.close()
  }

  /** Tries the other node when one is down, as a load balancer does. Returns the first response. */
  async function fetchToken(
    userId: string,
  ): Promise<{ status: number; body: { context?: { token: string } } }> {
    for (;;) {
      const [first, second] = Math.random() < 0.5 ? nodes : [...nodes].reverse()
      for (const node of [first, second])
        try {
          return await defined(node).call('POST', '/v1/auth/authorize', needOf(userId))
        } catch (error) {
          if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error
        }
      await sleep(5)
    }
  }

  async function roll(...masterKeys: readonly string[]): Promise<void> {
    for (const i of nodes.keys()) {
      await nodes[i]?.stop()
      nodes[i] = await serveProcess({ database, masterKeys })
    }
  }

  test('no fetch fails while the key is changed on two nodes; afterwards the new key alone opens everything', async () => {
    for (const _ of [1, 2]) nodes.push(await serveProcess({ database, masterKeys: [OLD] }))
    await seed()
    const failed: unknown[] = []
    let answered = 0
    let isOver = false
    const load = Array.from({ length: LOADERS }, async (_, loader) => {
      for (let turn = 0; !isOver; turn++) {
        const isRefreshed = turn % 4 === 0
        const user = isRefreshed ? `refreshed ${loader}` : `held ${(turn * LOADERS + loader) % USERS}`
        const { status, body } = await fetchToken(user)
        const token = body.context?.token
        const isRight = isRefreshed ? token !== undefined : token === `token of ${user}`
        if (status !== 200 || !isRight) failed.push({ user, status, body })
        answered++
        await sleep(PAUSE_MS)
      }
    })

    await roll(OLD, NEW)
    await roll(NEW, OLD)
    const atStart = answered
    // killed in the middle of it, and run again
    const first = await interrupted(10)
    const rotated = await gatepass.runWith(
      { env: { GATEPASS_DATABASE_URL: database, GATEPASS_MASTER_KEY: `${NEW},${OLD}` } },
      ...['rotate-key', '--batch', '100', '--json'],
    )
    expect(rotated, rotated.stderr).toMatchObject({ code: 0 })
    const during = answered - atStart
    await roll(NEW)
    isOver = true
    await Promise.all(load)

    expect(failed.slice(0, 3)).toEqual([])
    expect(during).toBeGreaterThan(0)
    const { complete, resealed, removable_keys, unreadable } = JSON.parse(rotated.stdout)
    expect({ complete, removable_keys, unreadable }).toEqual({
      complete: true,
      removable_keys: [idOf(OLD)],
      unreadable: [],
    })
    expect(first).toBeGreaterThan(0)
    expect(resealed).toBeLessThanOrEqual(2 * USERS + 4 * REFRESHED_USERS - first)
    expect(as.familyRevoked).toBe(false)

    for (let i = 0; i < USERS; i += 20)
      await Promise.all(
        Array.from({ length: 20 }, async (_, j) => {
          const user = `held ${i + j}`
          expect((await fetchToken(user)).body.context?.token).toBe(`token of ${user}`)
        }),
      )
    for (let i = 0; i < REFRESHED_USERS; i++) expect((await fetchToken(`refreshed ${i}`)).status).toBe(200)
    const status = await gatepass.runHereWith(
      { env: { GATEPASS_DATABASE_URL: database, GATEPASS_MASTER_KEY: NEW } },
      ...['rotate-key', '--status', '--json'],
    )
    expect(JSON.parse(status.stdout)).toMatchObject({ complete: true, left: 0, keys: [{ id: idOf(NEW) }] })
  })

  /** Kills the command with SIGKILL in the middle of its sixth batch of access tokens; returns how many rows it has sealed. */
  async function interrupted(batch: number): Promise<number> {
    const point: KillPoint = {
      when: 'before',
      statement: `update "connections" set "access" = `,
      skip: 5 * batch + 1,
    }
    await gatepass.runWith(
      {
        env: {
          GATEPASS_DATABASE_URL: database,
          GATEPASS_MASTER_KEY: `${NEW},${OLD}`,
          NODE_OPTIONS: `--import ${KILL_AT}`,
          TEST_KILL_AT: JSON.stringify(point),
        },
      },
      ...['rotate-key', '--batch', String(batch)],
    )
    const client = openDatabase(join(folder, 'gatepass.db'))
    try {
      const count = client
        .prepare<[string], number>('select count(*) from connections where substr(access, 4, 8) = ?')
        .pluck()
        .get(idOf(NEW))
      expect(count).toBeGreaterThanOrEqual(5 * batch)
      expect(count).toBeLessThan(USERS)
      return defined(count) - REFRESHED_USERS
    } finally {
      client.close()
    }
  }
})
