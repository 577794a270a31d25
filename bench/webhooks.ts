import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminOf } from './admin.ts'
import type { Bench } from './bench.ts'
import { disturbance } from './compared.ts'
import { fetchFrom } from './fetching.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { isQuick, WARM_UP_MS } from './pace.ts'
import { PROVIDER_ID } from './people.ts'
import { type Figure, median, quantile, spread, whole } from './report.ts'
import { medianOf, type Round, repeat } from './rounds.ts'
import { seedOwn } from './seed.ts'

const ROUNDS = 5
/** How many events are written at once beside the fetches, after each pause. */
const EVENTS_AT_ONCE = 10
const PAUSE_MS = 100
const MANY = isQuick ? 500 : 5_000
const MANY_AT_ONCE = 100

/** The receivers of a project, by what they do with an event. */
const SIDES = [
  { name: 'none', receivers: [] },
  { name: 'one that answers', receivers: ['answers'] },
  { name: 'and one that hangs', receivers: ['answers', 'hangs'] },
  { name: 'and one that fails', receivers: ['answers', 'fails'] },
] as const

interface Side {
  readonly name: string
  /** Milliseconds from the timestamp of each of its events to the arrival at the receiver that answers. */
  readonly delays: number[]
  readonly server: Gatepass
  readonly admin: ReturnType<typeof adminOf>
}

/** How much webhooks slow the fetches of tokens, and how soon events arrive beside a receiver that hangs or fails. */
export async function webhooks(bench: Bench): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const receiver = stack.use(await startReceivers())
  const sides: Side[] = []
  for (const [i, { name, receivers }] of SIDES.entries()) {
    const server = stack.use(await startGatepass(await seedOwn(bench, `webhooks-${i}`)))
    const admin = adminOf(server.port)
    const { url, delays } = receiver.of(i)
    for (const path of receivers)
      await admin('POST', '/v1/webhooks', { url: `${url}/${path}`, types: ['connection.created'] })
    await beside(admin, () => fetchFrom(bench.load, server, { ms: WARM_UP_MS / 2 }))
    sides.push({ name, delays, server, admin })
  }
  const repeated = await repeat(
    ROUNDS,
    async () => {
      const rounds: (Round & { readonly delays: readonly number[] })[] = []
      for (const { server, admin, delays } of sides) {
        delays.length = 0
        const round = await beside(admin, () => fetchFrom(bench.load, server))
        rounds.push({ ...round, delays: [...delays] })
      }
      return rounds
    },
    (rounds) => Math.max(...rounds.map(({ others }) => others)),
  )
  const roundsOf = (i: number) => repeated.values.flatMap((rounds) => rounds[i] ?? [])
  const figures = sides.map(({ name }, i): Figure => {
    const own = roundsOf(i)
    const toNone = repeated.values.map((rounds) => (rounds[i]?.cpuMicros ?? 0) / (rounds[0]?.cpuMicros ?? 0))
    return {
      name: `fetch beside ${(1000 / PAUSE_MS) * EVENTS_AT_ONCE} new connections a second, webhooks: ${name}; server CPU per fetch, to "none"; p50, p99`,
      value: `${whole(medianOf(own, ({ cpuMicros }) => cpuMicros))} us, ${spread(toNone, (value) => value.toFixed(2))}; ${medianOf(own, ({ p50 }) => p50).toFixed(1)} ms, ${medianOf(own, ({ p99 }) => p99).toFixed(1)} ms`,
    }
  })
  const delays = sides.slice(1).map(({ name }, i): Figure => {
    const all = roundsOf(i + 1).flatMap((one) => one.delays)
    return {
      name: `  from the change to the receiver that answers, ${name}: p50, p99`,
      value: `${whole(median(all))} ms, ${whole(quantile(all, 0.99))} ms of ${whole(all.length)}`,
    }
  })
  const [, healthy] = sides
  const speed = healthy === undefined ? [] : [await throughput(healthy)]
  return [...figures, ...delays, ...speed, ...disturbance(repeated)]
}

/** Calls `run` while connections are imported, each of which makes an event. */
async function beside<T>(admin: Side['admin'], run: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const importing = (async () => {
    while (!over.signal.aborted) {
      await importMany(admin, EVENTS_AT_ONCE)
      await sleep(PAUSE_MS)
    }
  })()
  try {
    return await run()
  } finally {
    over.abort()
    await importing
  }
}

let users = 0

async function importMany(admin: Side['admin'], count: number): Promise<void> {
  const connections = Array.from({ length: count }, () => ({
    user_id: `webhook-user-${users++}`,
    provider_id: PROVIDER_ID,
    access_token: `token-${users}`,
  }))
  await admin('POST', '/v1/admin/user_connections/import', { connections })
}

/** Measures from the first import until the last event has arrived. */
async function throughput({ admin, delays }: Side): Promise<Figure> {
  delays.length = 0
  const begun = performance.now()
  for (let i = 0; i < MANY; i += MANY_AT_ONCE) await importMany(admin, MANY_AT_ONCE)
  const written = performance.now() - begun
  while (delays.length < MANY) await sleep(5)
  const seconds = (performance.now() - begun) / 1000
  return {
    name: `${whole(MANY)} events to one receiver: a second, from the first change to the last delivery; all changes after`,
    value: `${whole(MANY / seconds)}; ${(written / 1000).toFixed(1)} of ${seconds.toFixed(1)} s`,
  }
}

interface Receivers extends AsyncDisposable {
  /** The receivers of one side: `/answers` answers 204, `/fails` 500, and `/hangs` nothing. */
  of(side: number): Pick<Side, 'delays'> & { readonly url: string }
}

async function startReceivers(): Promise<Receivers> {
  const delaysOf = SIDES.map((): number[] => [])
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const [, side, way] = request.url?.split('/') ?? []
    if (way === 'hangs') return
    if (way === 'fails') return void response.writeHead(500).end()
    response.writeHead(204).end()
    delaysOf[Number(side)]?.push(
      Date.now() - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).timestamp),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    of: (side) => ({ url: `http://127.0.0.1:${port}/${side}`, delays: delaysOf[side] ?? [] }),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
