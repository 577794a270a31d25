import { createHash } from 'node:crypto'
import { createServer, type Socket, connect as tcpConnect } from 'node:net'
import { expect, test } from 'vitest'
import type { AuditLink } from '../../src/store/audit-entries.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase, type PostgresCluster, startPostgres } from '../postgres.ts'
import { inProject, tool } from './fixtures.ts'

const link: AuditLink = (block) => createHash('sha256').update(JSON.stringify(block)).digest('hex')

test('a restart is waited for by what comes meanwhile, and all goes on', async () => {
  await using cluster = await startPostgres()
  const store = await openPostgresStore(cluster.url)
  try {
    const { projectId } = await inProject(store)
    await cluster.stop()
    const reading = store.projects.find(projectId)
    const writing = store.projects.ensure('written meanwhile', 1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    await cluster.start()
    expect(await reading).toMatchObject({ id: projectId })
    expect(await writing).toMatchObject({ name: 'written meanwhile' })
    await hears(store)
  } finally {
    await store.close()
  }
})

test('one that is away for longer is told as such, in bounded time, until it is back', async () => {
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
    await hears(store)
  } finally {
    await store.close()
  }
})

test('what was answered during restarts is kept, once, and nothing else fails than the calls', async () => {
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
    for (let i = 0; i < 5; i++) {
      proxy.cutAtCommit(when)
      await store.audit.append({ projectId, at: 1, lines: [`line ${i}`], link })
    }
    expect(proxy.cuts).toBe(5)
    const blocks = await store.audit.blocks(projectId, { order: 'oldest first', limit: 100 })
    expect(blocks.map(({ text }) => text)).toEqual([0, 1, 2, 3, 4].map((i) => `line ${i}`))
  } finally {
    await store.close()
  }
})

test('a connection that died without a word is noticed within seconds', async () => {
  await using database = await freshDatabase()
  await using proxy = await startProxy(new URL(database.url))
  const store = await openPostgresStore(proxy.url)
  try {
    await hears(store)
    proxy.freeze()
    const frozenAt = performance.now()
    await until(() => !isHearing(store))
    expect(performance.now() - frozenAt).toBeLessThan(20_000)
    proxy.thaw()
    await hears(store)
  } finally {
    await store.close()
  }
})

test('on a server that delivers no notifications, changes are heard by reading at intervals', async () => {
  await using database = await freshDatabase()
  await using proxy = await startProxy(new URL(database.url))
  proxy.dropNotifications()
  const store = await openPostgresStore(proxy.url)
  try {
    expect(isHearing(store)).toBe(true)
    const writer = await openPostgresStore(database.url)
    const heard = new Promise<void>((resolve) => store.onChange(({ noun }) => noun === 'tool' && resolve()))
    const { projectId } = await inProject(writer)
    await writer.tools.put(tool({ projectId }))
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

function isHearing(store: Store): boolean {
  const before = store.catchUp()
  return store.catchUp() === before
}

async function hears(store: Store): Promise<void> {
  await until(() => isHearing(store))
}

async function until(done: () => boolean): Promise<void> {
  const end = performance.now() + 15_000
  while (!done()) {
    if (performance.now() > end) throw new Error('it did not come to that within 15 s')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

interface Proxy extends AsyncDisposable {
  readonly url: string
  readonly cuts: number
  /** Cuts the next connection that sends a COMMIT. */
  cutAtCommit(when: 'before' | 'after'): void
  /** Passes nothing on any more, without closing anything: as a network does that is gone. */
  freeze(): void
  thaw(): void
  /** As a pooler does that lends its connections by transaction: LISTEN is taken, nothing comes of it. */
  dropNotifications(): void
}

/** Between the store and the server, to lose connections at the worst moment. */
async function startProxy(target: URL): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let cut: 'before' | 'after' | undefined
  let cuts = 0
  let isFrozen = false
  let dropsNotifications = false

  const server = createServer((client) => {
    const upstream = tcpConnect(Number(target.port), target.hostname)
    let cutsAnswer = false
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    client.on('close', end)
    upstream.on('close', end)
    client.on('data', (data: Buffer) => {
      if (isFrozen) return
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

/** The same length, another channel. */
function withoutListen(data: Buffer): Buffer {
  const at = data.indexOf('listen gatepass')
  if (at >= 0) data.write('listen gatepasx', at)
  return data
}
