import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { type FreshDatabase, freshDatabase } from '../postgres.ts'

// A pooler in front of PostgreSQL, which lends server connections to its clients for a session or for a transaction.

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
})

test.each(['last', 'first'] as const)(
  'a pooler that lends by transaction (the %s idle connection) is refused at the start with the reason',
  async (order) => {
    await using pooler = await startPooler(new URL(database.url), { lends: 'transaction', order })
    await expect(openPostgresStore(pooler.url)).rejects.toThrow(/pooler in transaction mode/)
  },
)

test('a pooler that lends by session is accepted', async () => {
  await using pooler = await startPooler(new URL(database.url), { lends: 'session', order: 'last' })
  const store = await openPostgresStore(pooler.url)
  try {
    expect(await store.projects.ensure('default', 1)).toMatchObject({ name: 'default' })
  } finally {
    await store.close()
  }
})

test('a server without a pooler is accepted', async () => {
  const store = await openPostgresStore(database.url)
  await store.close()
})

interface Backend {
  readonly socket: Socket
  client?: Socket | undefined
}

const READY_FOR_QUERY = 0x5a // 'Z', with the state of the transaction: 'I' is none

/** A minimal pooler: clients log in at the server, and share the connections that are logged in. */
async function startPooler(
  target: URL,
  { lends, order }: { readonly lends: 'session' | 'transaction'; readonly order: 'first' | 'last' },
): Promise<AsyncDisposable & { readonly url: string }> {
  const sockets = new Set<Socket>()
  const idle: Backend[] = []
  const waiting: (() => void)[] = []

  const server = createServer((client) => {
    /** Until it has logged in, a client keeps its own connection. */
    let lent: Backend | undefined = { socket: connect(Number(target.port), target.hostname), client }
    let isLoggedIn = false
    const asked: Buffer[] = []
    const backend = lent
    for (const socket of [client, backend.socket]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    backend.socket.on('data', (data) => {
      backend.client?.write(data)
      const isIdle = data.length >= 6 && data.at(-6) === READY_FOR_QUERY && data.at(-1) === 'I'.charCodeAt(0)
      if (!isIdle) return
      if (backend === lentOf.get(backend.client ?? client)?.backend)
        lentOf.get(backend.client ?? client)?.loggedIn()
      if (lends === 'session') return
      lentOf.get(backend.client ?? client)?.giveBack()
      backend.client = undefined
      idle.push(backend)
      waiting.shift()?.()
    })
    const giveBack = () => {
      lent = undefined
      if (asked.length > 0) send()
    }
    lentOf.set(client, {
      get backend() {
        return lent
      },
      loggedIn() {
        isLoggedIn = true
      },
      giveBack,
    })
    const send = () => {
      lent ??= order === 'last' ? idle.pop() : idle.shift()
      if (lent === undefined) return void waiting.push(send)
      lent.client = client
      for (const data of asked.splice(0)) lent.socket.write(data)
      return undefined
    }
    client.on('data', (data: Buffer) => {
      if (isLoggedIn && data[0] === 'X'.charCodeAt(0))
        client.end() // the client leaves, its connection to the server stays open
      else {
        asked.push(data)
        send()
      }
    })
    client.on('close', () => {
      if (lends === 'session') backend.socket.destroy()
    })
  })
  const lentOf = new Map<
    Socket,
    { readonly backend: Backend | undefined; loggedIn(): void; giveBack(): void }
  >()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const url = new URL(target)
  url.port = String(address.port)
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
