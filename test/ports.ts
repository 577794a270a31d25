import { createServer } from 'node:net'

// The kernel picks ports for `listen(0)` and for outgoing connections from 32,768 upwards (Linux) or higher. Ports below
// are taken only by processes that name them, so a port that is free now is still free when another process binds it.
const FIRST = 10_000
const PORTS_PER_WORKER = 2_000
const WORKERS = 10

const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS
const first = FIRST + worker * PORTS_PER_WORKER
// so that two runs of the tests on one machine begin at different ports of the range
let next = (process.pid * 31) % PORTS_PER_WORKER

/**
 * A TCP port of 127.0.0.1 for a server whose address must be known before it starts, such as one in another process.
 * Each test worker has a range of ports, and gives each of them once before it gives one again.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < PORTS_PER_WORKER; tries++) {
    const port = first + next
    next = (next + 1) % PORTS_PER_WORKER
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${first} to ${first + PORTS_PER_WORKER - 1} is free.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
