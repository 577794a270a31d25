import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A TCP proxy on loopback, whose connections can be cut, stalled and delayed. */
export interface Link {
  readonly port: number
  /** Closes all connections; new ones are accepted. */
  cut(): void
  /** Holds all bytes until `restore`. */
  stall(): void
  /** Leads new connections to another port. */
  leadTo(port: number): void
  delay(ms: number): void
  restore(): void
  close(): Promise<void>
}

export async function openLink(first: number): Promise<Link> {
  let port = first
  const sockets = new Set<Socket>()
  let delayMs = 0
  let stalled: { readonly over: Promise<void>; readonly end: () => void } | undefined

  /** Passes chunks on in their order, each after the delay. */
  function pass(from: Socket, to: Socket): void {
    let last = Promise.resolve()
    from.on('data', (chunk) => {
      const due = delayMs > 0 ? sleep(delayMs, undefined, { ref: false }) : undefined
      last = last.then(async () => {
        await due
        await stalled?.over
        if (!to.destroyed) to.write(chunk)
      })
    })
    from.on('end', () => {
      last = last.then(() => void to.end())
    })
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
  }

  const server = createServer((client) => {
    const backend = connect(port, '127.0.0.1')
    for (const one of [client, backend]) {
      one.setNoDelay(true)
      sockets.add(one)
    }
    pass(client, backend)
    pass(backend, client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  const restore = () => {
    delayMs = 0
    stalled?.end()
    stalled = undefined
  }
  return {
    port: address.port,
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    stall() {
      const { promise, resolve } = Promise.withResolvers<void>()
      stalled ??= { over: promise, end: resolve }
    },
    leadTo(other) {
      port = other
    },
    delay(ms) {
      delayMs = ms
    },
    restore,
    async close() {
      for (const socket of sockets) socket.destroy()
      restore()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
