import { createHash } from 'node:crypto'
import type pg from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { AuditLink } from '../../src/store/audit-entries.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { nameOfServer, openPool } from '../../src/store/dialects/postgres/pool.ts'
import type { Store } from '../../src/store/store.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startGatepass } from '../gatepass.ts'
import { approve, providerBody } from '../http/world.ts'
import { type PostgresCluster, runSql, startPostgres } from '../postgres.ts'
import type { Standby } from '../postgres-cluster.ts'
import { until } from '../until.ts'
import { type Address, openAddress } from './address.ts'
import { inProject } from './fixtures.ts'

// A primary, a synchronous standby, and an address that leads to one of them. The store loses its connection while it
// waits for the answer to a COMMIT.

const link: AuditLink = (block) => createHash('sha256').update(JSON.stringify(block)).digest('hex')

interface World {
  readonly primary: PostgresCluster
  readonly standby: Standby
  readonly address: Address
}

/**
 * The write of one audit line: `fail` runs between its COMMIT and the loss of its connection, which is not lost unless
 * `isCut`. `stalled`: the standby receives nothing.
 */
async function writeDuring(
  fail: (world: World, hasAnswer: Promise<void>) => Promise<void>,
  { stalled = false, isCut = true }: { readonly stalled?: boolean; readonly isCut?: boolean } = {},
) {
  await using primary = await startPostgres()
  await using standby = await primary.startStandby()
  await using address = await openAddress(primary.url)
  const store = await openPostgresStore(address.url)
  try {
    const { projectId } = await inProject(store)
    await primary.waitForStandby()
    if (stalled) standby.link.stall()
    const world = { primary, standby, address }
    // a slow machine has as much time for its retries as it needs
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    if (isCut) address.atNextCommit((hasAnswer) => fail(world, hasAnswer))
    const [outcome] = await Promise.allSettled([
      store.audit.append({ projectId, at: 1, lines: ['the line'], link }),
      isCut || fail(world, Promise.resolve()),
    ])
    vi.restoreAllMocks()
    await until(async () => store.projects.find(projectId).then(Boolean, () => false))
    const [first, ...others] = await store.audit.blocks(projectId, { order: 'oldest first', limit: 100 })
    expect(others).toEqual([])
    return { outcome, isStored: first?.text === 'the line' }
  } finally {
    await store.close()
  }
}

/** Nothing was answered that is not stored. */
function expectTruth({ outcome, isStored }: Awaited<ReturnType<typeof writeDuring>>): void {
  if (outcome.status === 'fulfilled') expect(isStored).toBe(true)
  else expect(outcome.reason).toMatchObject({ code: 'store_unavailable' })
}

async function failOver({ primary, standby, address }: World): Promise<void> {
  await primary.stopAtOnce()
  await standby.promote()
  address.leadTo(standby.url)
}

test('a commit that the standby has received before the primary died is answered as done, and done once', async () => {
  const { outcome, isStored } = await writeDuring(async (world, hasAnswer) => {
    await hasAnswer
    await failOver(world)
  })
  expect(outcome.status).toBe('fulfilled')
  expect(isStored).toBe(true)
})

test('a commit that the standby has not received is never answered as done, although its id was given out again', async () => {
  const written = await writeDuring(
    async (world) => {
      const { primary, standby } = world
      const { xid } = await waitingForStandby(primary)
      await failOver(world)
      const next = 'select pg_current_xact_id()::text::bigint as id'
      while (Number((await runSql(standby.url, next)).rows[0]?.id) <= xid);
    },
    { stalled: true },
  )
  expectTruth(written)
})

test('a commit that still waits for the standby when its connection is lost is done once', async () => {
  let resumed: Promise<void> | undefined
  const { outcome, isStored } = await writeDuring(
    async ({ primary, standby }) => {
      await waitingForStandby(primary)
      resumed = (async () => {
        await until(async () => (await activity(primary, "wait_event_type = 'Lock'")).length > 0)
        standby.link.restore()
      })()
    },
    { stalled: true },
  )
  await resumed
  expect(outcome.status).toBe('fulfilled')
  expect(isStored).toBe(true)
})

test('a commit that only the primary has, because its wait for the standby was ended, is not proof', async () => {
  const written = await writeDuring(
    async (world) => {
      const { primary } = world
      const { pid } = await waitingForStandby(primary)
      await runSql(primary.url, 'select pg_terminate_backend($1)', [pid])
      void (async () => {
        await waitingForStandby(primary, pid)
        await failOver(world)
      })()
    },
    { stalled: true },
  )
  expectTruth(written)
})

test('a commit whose wait for the standby was cancelled is not believed, although the server answers it', async () => {
  const written = await writeDuring(
    async (world) => {
      const { primary } = world
      const { pid } = await waitingForStandby(primary)
      await runSql(primary.url, 'select pg_cancel_backend($1)', [pid])
      await until(
        async () => (await activity(primary, `pid = ${pid} and wait_event = 'SyncRep'`)).length === 0,
      )
      await failOver(world)
    },
    { stalled: true, isCut: false },
  )
  expectTruth(written)
})

test('a call whose connection to the former primary answers nothing ends when the address leads to another server', async () => {
  await using primary = await startPostgres()
  await using standby = await primary.startStandby()
  await using address = await openAddress(primary.url)
  const endless = new URL(address.url)
  endless.searchParams.set('query_timeout', '2000000000') // without it, a call ends after 12 seconds
  const store = await openPostgresStore(endless.href)
  try {
    const { projectId } = await inProject(store)
    await primary.waitForStandby()
    await store.projects.ensure('another', 1)
    address.silence()
    const call = store.projects.find(projectId).then(
      (found) => found?.id,
      ({ code }) => code,
    )
    await failOver({ primary, standby, address })
    address.cut('changes')
    expect([projectId, 'store_unavailable']).toContain(await call)
    await until(async () => store.projects.find(projectId).then(Boolean, () => false))
  } finally {
    await store.close()
  }
})

test('connections to the server that took over are kept when those to the former one are closed', async () => {
  await using former = await startPostgres()
  await using current = await former.startStandby()
  await using address = await openAddress(former.url)
  const { pool, leaveOthers } = openPool(address.url)
  const answer = (client: pg.PoolClient) =>
    client.query('select 1').then(
      () => 'answered',
      () => 'closed',
    )
  const toFormer = await pool.connect()
  await current.promote()
  address.leadTo(current.url)
  const toCurrent = await pool.connect()
  leaveOthers(await nameOfServer(toCurrent))
  expect(await Promise.all([toFormer, toCurrent].map(answer))).toEqual(['closed', 'answered'])
  for (const client of [toFormer, toCurrent]) client.release(true)
  await pool.end()
})

describe('a server that takes no writes', () => {
  /** A connection that is kept stays open: the pool does not close it because it is not used. */
  function keepIdleConnections(): void {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
  }
  /** Now and then the store opens a connection for itself, which is refused too. */
  const untilNoneIsOpen = (store: Store) =>
    expect.poll(() => store.figures().connections).toMatchObject({ used: 0, idle: 0 })

  test('is refused at the start, with the reason', async () => {
    await using primary = await startPostgres()
    await (await openPostgresStore(primary.url)).close()
    await using standby = await primary.startStandby()
    await expect(openPostgresStore(standby.url)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('it is a standby in recovery'),
    })
  })

  test('answers no read when the address leads to it later, and no connection to it is kept', async () => {
    await using primary = await startPostgres()
    await using address = await openAddress(primary.url)
    keepIdleConnections()
    const store = await openPostgresStore(address.url)
    const { projectId } = await inProject(store)
    await using standby = await primary.startStandby()
    try {
      address.leadTo(standby.url)
      address.cut()
      await expect(store.projects.find(projectId)).rejects.toMatchObject({ code: 'store_unavailable' })
      await untilNoneIsOpen(store)
      address.leadTo(primary.url)
      await until(async () => store.projects.find(projectId).then(Boolean, () => false))
    } finally {
      await store.close()
    }
  })

  test('loses the connections that were opened before, once it has refused a write', async () => {
    await using primary = await startPostgres()
    keepIdleConnections()
    const store = await openPostgresStore(primary.url)
    try {
      await inProject(store)
      await runSql(primary.url, 'alter system set default_transaction_read_only = on')
      await runSql(primary.url, 'select pg_reload_conf()')
      await until(
        async () =>
          (await runSql(primary.url, 'show transaction_read_only')).rows[0]?.transaction_read_only === 'on',
      )
      await expect(store.projects.ensure('another', 1)).rejects.toMatchObject({ code: 'store_unavailable' })
      await untilNoneIsOpen(store)
    } finally {
      await store.close()
    }
  })
})

test('a revoked key is refused, although the changes are read from a former primary that goes on answering', async () => {
  await using primary = await startPostgres()
  await using address = await openAddress(primary.url)
  await using writer = await startGatepass({ environment: { GATEPASS_DATABASE_URL: primary.url } })
  await using former = await primary.startStandby()
  await former.promote()
  address.leadTo(primary.url, former.url)
  await using deaf = await startGatepass({ environment: { GATEPASS_DATABASE_URL: address.url } })
  const { id, key } = (await writer.call('POST', '/v1/admin/keys', { role: 'caller' })).body
  const listed = async () => (await deaf.call('GET', '/v1/connections', undefined, { key })).status
  expect(await listed()).toBe(200)
  expect((await writer.call('DELETE', `/v1/admin/keys/${id}`)).status).toBe(204)
  await until(async () => (await listed()) === 401)
})

test('a database that has lost commits is noticed: an entry and a metric, doubted refresh tokens, higher event numbers', async () => {
  await using primary = await startPostgres()
  await using address = await openAddress(primary.url)
  const as = await startFakeAuthorizationServer({ refresh: 'rotate-strict', accessTokenLifetime: 600 })
  await using _ = { [Symbol.asyncDispose]: () => as.close() }
  await using gatepass = await startGatepass({ environment: { GATEPASS_DATABASE_URL: address.url } })
  const { call } = gatepass
  expect((await call('POST', '/v1/admin/auth_providers', providerBody('demo', as))).status).toBe(201)
  const hook = { url: `${as.url}/hooks`, enabled: false }
  expect((await call('POST', '/v1/webhooks', hook)).status).toBe(201)
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  await approve((await call('POST', '/v1/auth/authorize', need)).body.url)
  const [{ id }] = (await call('GET', '/v1/connections?user_id=ada')).body.items
  await using standby = await primary.startStandby()
  await until(async () => (await runSql(standby.url, 'select 1 from connections')).rowCount === 1)

  standby.link.stall()
  expect((await call('POST', `/v1/connections/${id}/token`)).status).toBe(200)
  await failOver({ primary, standby, address })

  const audited = async () =>
    (await call('GET', '/v1/admin/audit?action=installation.commits_lost')).body.items?.length === 1
  await until(audited)
  const { body: metrics } = await call('GET', '/metrics')
  expect(metrics).toMatch(/^gatepass_database_losses_total 1$/m)
  const { rows } = await runSql(standby.url, 'select unanswered_refreshes from connections')
  expect(rows).toEqual([{ unanswered_refreshes: 1 }])
  expect((await call('DELETE', `/v1/connections/${id}`)).status).toBeLessThan(300)
  const { rows: events } = await runSql(
    standby.url,
    `select key_seq::int from events where key = '${id}' order by key_seq`,
  )
  expect(events[0]?.key_seq).toBe(1)
  expect(events[1]?.key_seq).toBeGreaterThan(1_000_000_000)
})

test('a loss is noticed although the row of the lost commit is not written again', async () => {
  await using primary = await startPostgres()
  await using address = await openAddress(primary.url)
  const store = await openPostgresStore(address.url)
  const losses: unknown[] = []
  store.onLoss((loss) => losses.push(loss))
  try {
    const { projectId } = await inProject(store)
    await using standby = await primary.startStandby()
    const isCopied = 'select 1 from projects where id = $1'
    await until(async () => (await runSql(standby.url, isCopied, [projectId])).rowCount === 1)
    standby.link.stall()
    const lost = await store.projects.ensure('lost', 1)
    await failOver({ primary, standby, address })
    address.cutNextBegin() // so the process gives the row up
    await until(async () => store.projects.ensure('another', 1).then(Boolean, () => false))
    await until(() => losses.length > 0)
    expect(await store.projects.find(lost.id)).toBeUndefined()
    expect(losses).toEqual([{ seconds: expect.toSatisfy(Number.isFinite) }])
  } finally {
    await store.close()
  }
})

/** The backend whose commit is on the primary's disk and waits for that of the standby. */
async function waitingForStandby(
  primary: PostgresCluster,
  otherThan = 0,
): Promise<{ readonly pid: number; readonly xid: number }> {
  for (;;) {
    const found = await activity(primary, `wait_event = 'SyncRep' and pid <> ${otherThan}`)
    const [first] = found
    if (first !== undefined) return first
  }
}

async function activity(primary: PostgresCluster, where: string) {
  const { rows } = await runSql(
    primary.url,
    `select pid, backend_xid::text::bigint as xid from pg_stat_activity where ${where}`,
  )
  return rows.map(({ pid, xid }) => ({ pid: Number(pid), xid: Number(xid) }))
}
