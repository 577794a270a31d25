import { createHash } from 'node:crypto'
import { createServer, type Socket, connect as tcpConnect } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { AuditLink } from '../../src/store/audit-entries.ts'
import { RETRY_MS } from '../../src/store/dialects/postgres/failures.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase, type PostgresCluster, runSql, startPostgres } from '../postgres.ts'
import { until } from '../until.ts'
import { inProject, putTool, tool } from './fixtures.ts'

const link: AuditLink = (block) => createHash('sha256').update(JSON.stringify(block)).digest('hex')

/** With the last one, however long it took, the test fails if calls did. */
const MOST_RESTARTS = 20

test('reads and writes during a restart of PostgreSQL wait for it, and then succeed', async () => {
  await using cluster = await startPostgres()
  const store = await openPostgresStore(cluster.url)
  try {
    const { projectId } = await inProject(store)
    // a restart that takes longer than calls wait, as it may on a busy machine, shows nothing
    for (let restarts = 1, isShown = false; !isShown; restarts++) {
      await cluster.stop()
      const stoppedAt = performance.now()
      const calls = [store.projects.find(projectId), store.projects.ensure(`written ${restarts}`, 1)]
      const answering = Promise.allSettled(calls)
      await new Promise((resolve) => setTimeout(resolve, 300))
      await cluster.start()
      const isQuick = performance.now() - stoppedAt < RETRY_MS / 2
      const answers = await answering
      isShown = isQuick || restarts === MOST_RESTARTS || answers.every(({ status }) => status === 'fulfilled')
      const expected = [{ value: { id: projectId } }, { value: { name: `written ${restarts}` } }]
      if (isShown) expect(answers).toMatchObject(expected)
    }
    await untilReceivingChanges(store)
  } finally {
    await store.close()
  }
})

test('while PostgreSQL is stopped for longer, calls fail with store_unavailable within 20 s; then they succeed', async () => {
  await using cluster = await startPostgres()
  const store = await openPostgresStore(cluster.url)
  try {
    await cluster.stop()
    const before = performance.now()
    const calls = await Promise.allSettled([
      store.projects.findByName('p'),
      store.projects.ensure('p', 1),
      store.facts.find('check'),
      store.probe(),
    ])
    expect(performance.now() - before).toBeLessThan(20_000)
    for (const call of calls)
      expect(call).toMatchObject({ reason: { code: 'store_unavailable', retryAfter: 5 } })
    const missed = store.catchUp()
    expect(store.catchUp()).not.toBe(missed)
    await cluster.start()
    expect(await store.projects.ensure('p', 1)).toMatchObject({ name: 'p' })
    await untilReceivingChanges(store)
  } finally {
    await store.close()
  }
})

test('each write that was answered during restarts is stored once, and other calls fail with store_unavailable', async () => {
  await using cluster = await startPostgres()
  const store = await openPostgresStore(cluster.url)
  try {
    const { projectId } = await inProject(store)
    const answered: string[] = []
    const unknown: string[] = []
    let goesOn = true
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; goesOn; i++) {
        const line = `${writer}/${i}`
        try {
          await store.audit.append({ projectId, at: 1, lines: [line], link })
          answered.push(line)
        } catch (error) {
          expect(error).toMatchObject({ code: 'store_unavailable' })
          unknown.push(line)
        }
      }
    })
    const someAreAnswered = async () => {
      const enough = answered.length + 15
      await until(() => answered.length >= enough)
    }
    for (let round = 0; round < 3; round++) {
      await someAreAnswered()
      await restart(cluster)
    }
    await someAreAnswered()
    goesOn = false
    await Promise.all(writers)
    const blocks = await store.audit.blocks(projectId, { order: 'oldest first', limit: 1_000_000 })
    const kept = blocks.map(({ text }) => text)
    expect(new Set(kept).size).toBe(kept.length)
    expect(answered.filter((line) => !kept.includes(line))).toEqual([])
    expect(kept.filter((line) => !answered.includes(line) && !unknown.includes(line))).toEqual([])
    expect(answered.length).toBeGreaterThan(50)
  } finally {
    await store.close()
  }
})

test.each([
  ['before it arrives', 'before'],
  ['after it was done, before the answer', 'after'],
] as const)('a commit whose connection is lost %s is done exactly once', async (_, when) => {
  await using database = await freshDatabase()
  await using proxy = await startProxy(new URL(database.url))
  const store = await openPostgresStore(proxy.url)
  try {
    const { projectId } = await inProject(store)
    // a slow machine has as much time for its retries as it needs
    vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    for (let i = 0; i < 5; i++) {
      proxy.cutAtCommit(when)
      await store.audit.append({ projectId, at: 1, lines: [`line ${i}`], link })
    }
    expect(proxy.cuts).toBe(5)
    const blocks = await store.audit.blocks(projectId, { order: 'oldest first', limit: 100 })
    expect(blocks.map(({ text }) => text)).toEqual([0, 1, 2, 3, 4].map((i) => `line ${i}`))
  } finally {
    vi.restoreAllMocks()
    await store.close()
  }
})

test('a write whose server was killed before its COMMIT is stored once or refused, although others have had its id since', async () => {
  await using cluster = await startPostgres()
  await using proxy = await startProxy(new URL(cluster.url))
  const store = await openPostgresStore(proxy.url)
  try {
    const { projectId } = await inProject(store)
    for (let i = 0; i < 3; i++) {
      proxy.holdCommit(async () => {
        const { rows } = await runSql(
          cluster.url,
          'select max(backend_xid::text::bigint) as id from pg_stat_activity where backend_xid is not null',
        )
        await cluster.stopAtOnce()
        await cluster.start()
        const next = 'select pg_current_xact_id()::text::bigint as id' // each is committed under a new id
        while (Number((await runSql(cluster.url, next)).rows[0]?.id) < Number(rows[0]?.id));
      })
      const line = `line ${i}`
      const written = store.audit.append({ projectId, at: 1, lines: [line], link })
      const [outcome] = await Promise.allSettled([written])
      await until(async () => store.projects.find(projectId).then(Boolean, () => false))
      const blocks = await store.audit.blocks(projectId, { order: 'oldest first', limit: 100 })
      const stored = blocks.filter(({ text }) => text === line)
      if (outcome?.status === 'fulfilled') expect(stored).toHaveLength(1)
      else expect(outcome?.reason).toMatchObject({ code: 'store_unavailable' })
      expect(stored.length).toBeLessThanOrEqual(1)
    }
  } finally {
    await store.close()
  }
})

test.each([
  ['warning', 'closes'],
  ['notice', 'keeps'],
] as const)('after a %s at the commit it %s the connection', async (severity, what) => {
  await using database = await freshDatabase()
  const store = await openPostgresStore(database.url)
  try {
    await runSql(
      database.url,
      `create table backends (pid integer);
       create function say() returns trigger language plpgsql as
         $$ begin insert into backends values (pg_backend_pid()); raise ${severity} 'said'; return null; end $$;
       create constraint trigger say after insert on projects deferrable initially deferred
         for each row execute function say()`,
    )
    for (const name of ['one', 'two', 'three'])
      expect(await store.projects.ensure(name, 1)).toMatchObject({ name })
    await until(async () => {
      const { rows } = await runSql(
        database.url,
        'select exists (select from pg_stat_activity a where a.pid = b.pid) as open from backends b',
      )
      expect(rows).toHaveLength(3)
      return rows.every(({ open }) => open === (what === 'keeps'))
    })
  } finally {
    await store.close()
  }
})

test('a connection that died without being closed is noticed within seconds', async () => {
  await using database = await freshDatabase()
  await using proxy = await startProxy(new URL(database.url))
  const store = await openPostgresStore(proxy.url)
  try {
    await untilReceivingChanges(store)
    proxy.freeze()
    const frozenAt = performance.now()
    await until(() => !receivesChanges(store))
    expect(performance.now() - frozenAt).toBeLessThan(20_000)
    proxy.thaw()
    await untilReceivingChanges(store)
  } finally {
    await store.close()
  }
})

test('with a server that delivers no notifications, a node reads the changes at intervals', async () => {
  await using database = await freshDatabase()
  await using proxy = await startProxy(new URL(database.url))
  proxy.dropNotifications()
  const store = await openPostgresStore(proxy.url)
  try {
    expect(receivesChanges(store)).toBe(true)
    const writer = await openPostgresStore(database.url)
    const heard = new Promise<void>((resolve) => store.onChange(({ noun }) => noun === 'tool' && resolve()))
    const { projectId } = await inProject(writer)
    await putTool(writer, tool({ projectId }))
    await heard
    await writer.close()
  } finally {
    await store.close()
  }
})

async function restart(cluster: PostgresCluster): Promise<void> {
  await cluster.stop()
  await cluster.start()
}

function receivesChanges(store: Store): boolean {
  const before = store.catchUp()
  return store.catchUp() === before
}

async function untilReceivingChanges(store: Store): Promise<void> {
  await until(() => receivesChanges(store))
}

interface Proxy extends AsyncDisposable {
  readonly url: string
  readonly cuts: number
  /** Cuts the next connection that sends a COMMIT. */
  cutAtCommit(when: 'before' | 'after'): void
  /** Holds the next COMMIT, runs `fail`, and closes its connection then. */
  holdCommit(fail: () => Promise<void>): void
  /** Passes nothing on any more and closes nothing, as a broken network does. */
  freeze(): void
  thaw(): void
  /** LISTEN is answered, but no notification arrives, as with a pooler that lends connections by transaction. */
  dropNotifications(): void
}

/** A TCP proxy between the store and the server, which can cut connections at a COMMIT. */
async function startProxy(target: URL): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let cut: 'before' | 'after' | undefined
  let hold: (() => Promise<void>) | undefined
  let cuts = 0
  let isFrozen = false
  let dropsNotifications = false

  const server = createServer((client) => {
    const upstream = tcpConnect(Number(target.port), target.hostname)
    let cutsAnswer = false
    let isHeld = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    client.on('close', end)
    upstream.on('close', () => isHeld || end())
    client.on('data', (data: Buffer) => {
      if (isFrozen) return
      if (hold !== undefined && data.includes('commit\0')) {
        void hold().finally(end)
        hold = undefined
        isHeld = true
        return
      }
      if (cut !== undefined && data.includes('commit\0')) {
        const when = cut
        cut = undefined
        cuts++
        if (when === 'before') return end()
        cutsAnswer = true
      }
      upstream.write(dropsNotifications ? withoutListen(data) : data)
    })
    upstream.on('data', (data: Buffer) => {
      if (isFrozen) return
      if (cutsAnswer) return end()
      client.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const url = new URL(target)
  url.port = String(address.port)
  return {
    url: url.href,
    get cuts() {
      return cuts
    },
    cutAtCommit(when) {
      cut = when
    },
    holdCommit(fail) {
      hold = fail
    },
    freeze() {
      isFrozen = true
    },
    thaw() {
      isFrozen = false
    },
    dropNotifications() {
      dropsNotifications = true
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Renames the channel of LISTEN to another of the same length. */
function withoutListen(data: Buffer): Buffer {
  const at = data.indexOf('listen gatepass')
  if (at >= 0) data.write('listen gatepasx', at)
  return data
}
