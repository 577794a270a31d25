import { createServer, type Server } from 'node:net'

// The kernel picks ports for `listen(0)` and for outgoing connections from 32,768 upwards (Linux) or higher. Ports below
// are taken only by processes that name them, so a port that is free now is still free when another process binds it.
// `fetch` refuses 10080 (Fetch standard, section 2.9 "Port blocking") and none above it.
const FIRST = 10_100
const PORTS_PER_WORKER = 500
const WORKERS = 10
/** Runs of the tests at the same time on one machine. */
const RUNS = 4
const PORTS_PER_RUN = PORTS_PER_WORKER * WORKERS

const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS
const OUTSIDE_OF_RUNS = FIRST + RUNS * PORTS_PER_RUN
let next = 1 // the first port of a run shows that its ports are taken

/** Takes the ports of one run, until its process ends. Workers get their first one by the environment. */
export async function claimPorts(): Promise<Server> {
  for (let run = 0; run < RUNS; run++) {
    const port = FIRST + run * PORTS_PER_RUN
    const server = await listenOn(port)
    if (server === undefined) continue
    process.env.TEST_FIRST_PORT = String(port)
    return server
  }
  throw new Error(`${RUNS} runs of the tests use this machine already.`)
}

/**
 * A TCP port of 127.0.0.1 for a server whose address must be known before it starts, such as one in another process.
 * Each test worker has a range of ports, and gives each of them once before it gives one again.
 */
export async function freePort(): Promise<number> {
  // read here: the process of vitest claims its ports after it has loaded this file
  const first = Number(process.env.TEST_FIRST_PORT ?? OUTSIDE_OF_RUNS) + worker * PORTS_PER_WORKER
  for (let tries = 0; tries < PORTS_PER_WORKER; tries++) {
    const port = first + next
    next = (next + 1) % PORTS_PER_WORKER
    const server = await listenOn(port)
    if (server === undefined) continue
    await new Promise((resolve) => server.close(resolve))
    return port
  }
  throw new Error(`No port from ${first} to ${first + PORTS_PER_WORKER - 1} is free.`)
}

/** A server on the port, or `undefined` when another has it. */
function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}
