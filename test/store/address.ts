import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { LISTENER } from '../../src/store/dialects/postgres/announcements.ts'

/** An address that leads to one server or another, as that of a database which fails over. */
export interface Address extends AsyncDisposable {
  readonly url: string
  /** Leads new connections to this server; those that read changes to another one, if it is given. */
  leadTo(server: string, forChanges?: string): void
  /** Closes all connections, or those that read changes. */
  cut(which?: 'changes'): void
  /** Passes no more data of the connections that are open, and does not tell that their server has closed them. */
  silence(): void
  /** Closes the connection that begins the next transaction, before the server has it. */
  cutNextBegin(): void
  /** Holds the answer to the next COMMIT, runs `fail`, and closes the connection then. */
  atNextCommit(fail: (hasAnswer: Promise<void>) => Promise<void>): void
}

export async function openAddress(first: string): Promise<Address> {
  let target = new URL(first)
  let forChanges: URL | undefined
  const sockets = new Set<Socket>()
  const listeners = new Set<Socket>()
  const silences: (() => void)[] = []
  let isBeginCut = false
  let atCommit: ((hasAnswer: Promise<void>) => Promise<void>) | undefined
  const server = createServer(async (near) => {
    near.on('error', () => {})
    const [startup] = (await once(near, 'data').catch(() => [])) as [Buffer?]
    if (startup === undefined) return
    const isListener = startup.includes(LISTENER)
    const { port } = isListener ? (forChanges ?? target) : target
    if (isListener) listeners.add(near)
    const far = connect(Number(port), '127.0.0.1')
    far.write(startup)
    const { promise: hasAnswer, resolve: answered } = Promise.withResolvers<void>()
    let isHeld = false
    let isSilent = false
    silences.push(() => {
      isSilent = true
    })
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
    }
    near.on('close', end)
    far.on('close', () => isHeld || isSilent || end())
    near.on('data', (data: Buffer) => {
      if (isSilent) return
      if (isBeginCut && data.includes('begin;')) {
        isBeginCut = false
        end()
        return
      }
      far.write(data)
      const fail = data.includes('commit\0') ? atCommit : undefined
      if (fail === undefined) return
      atCommit = undefined
      isHeld = true
      void fail(hasAnswer).finally(end)
    })
    far.on('data', (data: Buffer) => {
      if (isHeld) answered()
      else if (!isSilent) near.write(data)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const own = server.address()
  if (own === null || typeof own === 'string') throw new Error('no port was given')
  const url = new URL(first)
  url.port = String(own.port)
  return {
    url: url.href,
    leadTo(other, otherForChanges) {
      target = new URL(other)
      forChanges = otherForChanges === undefined ? undefined : new URL(otherForChanges)
    },
    cut(which) {
      for (const socket of which === 'changes' ? listeners : sockets) socket.destroy()
    },
    silence() {
      for (const silence of silences) silence()
    },
    cutNextBegin() {
      isBeginCut = true
    },
    atNextCommit(fail) {
      atCommit = fail
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
