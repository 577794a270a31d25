import { createServer, type Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import type { AnyJson } from '../../any-json.ts'
import { startFakeAuthorizationServer } from '../../fake-authorization-server.ts'
import { type DatabaseKind, type Installation, install } from '../../faults/installation.ts'
import { repetitions } from '../../faults/repetitions.ts'
import { oauth2For } from '../../flows/fixtures.ts'
import { freePort } from '../../ports.ts'
import { until } from '../../until.ts'

// Two processes deliver events to a receiver that fails, hangs and dies; the processes are killed meanwhile.

/** Connections that one request imports. */
const AT_ONCE = 50
/** Every 17th request fails, and every 197th is not answered, if its event arrives for the first time. */
const [FAILS, HANGS] = [17, 197]
/** A process is killed beside every third import, and the receiver with every second process. */
const KILL_EVERY = 3
/** How long a process holds a delivery that it has begun. */
const LEASE_SECONDS = 30

/** Ten thousand take some six minutes: `EVENTS=10000 npm run test:all -- test/features/webhooks/faults.test.ts`. */
const EVENTS = Number(process.env.EVENTS ?? repetitions({ few: 210, many: 2_000 }))

interface Taken {
  readonly id: string
  readonly key: string
  readonly sequence: number
}

/** A receiver that verifies each request with the npm package, and can be killed and started on its port again. */
async function startReceiver() {
  const port = await freePort()
  const taken: Taken[] = []
  const seen = new Set<string>()
  let [requests, forged, secret] = [0, 0, '']
  let server: Server | undefined

  async function start(): Promise<void> {
    const fresh = createServer(async (req, res) => {
      const chunks: Buffer[] = []
      for await (const chunk of req as AsyncIterable<Buffer>) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      const id = String(req.headers['webhook-id'])
      let event: AnyJson
      try {
        event = new Webhook(secret).verify(body, req.headers as Record<string, string>)
      } catch {
        forged++
        return void res.writeHead(400).end()
      }
      const isNew = !seen.has(id)
      seen.add(id)
      requests++
      if (isNew && requests % HANGS === 0) return
      if (isNew && requests % FAILS === 0) return void res.writeHead(500).end()
      taken.push({ id, key: event.data.id, sequence: event.data.sequence })
      res.writeHead(204).end()
    })
    await new Promise<void>((resolve) => fresh.listen(port, '127.0.0.1', resolve))
    server = fresh
  }

  async function kill(): Promise<void> {
    const old = server
    server = undefined
    if (old === undefined) return
    const closed = new Promise((resolve) => old.close(resolve))
    old.closeAllConnections()
    await closed
  }

  await start()
  return {
    url: `http://127.0.0.1:${port}/`,
    taken,
    start,
    kill,
    get forged() {
      return forged
    },
    verifyWith(given: string) {
      secret = given
    },
    [Symbol.asyncDispose]: kill,
  }
}

/** Imports, again and again until a running node takes the import. */
async function importPersistently(installation: Installation, body: object): Promise<void> {
  await until(async () => {
    const answer = await installation
      .call('POST', '/v1/admin/user_connections/import', body)
      .catch(() => undefined)
    return answer?.status === 200
  })
}

async function deliveriesUnderKills(kind: DatabaseKind, count: number): Promise<void> {
  const as = await startFakeAuthorizationServer({})
  try {
    await using installation = await install(kind)
    await using receiver = await startReceiver()
    const start = () => installation.start({ nodeArgs: [] })
    await start()
    await start()
    await installation.call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
    const hook = await installation.call('POST', '/v1/webhooks', { url: receiver.url })
    receiver.verifyWith(hook.body.secret)

    let [kills, killedAt] = [0, 0]
    async function killOne(): Promise<void> {
      const isReceiverToo = ++kills % 2 === 0
      if (isReceiverToo) await receiver.kill()
      const [first] = installation.nodes
      const next = start()
      await first?.kill()
      killedAt = Date.now() / 1000
      await next
      if (isReceiverToo) await receiver.start()
    }

    // of each connection as many events as there are rounds: its import, then other scopes each time
    const rounds = 10
    const users = Array.from({ length: Math.ceil(count / rounds) }, (_, i) => `user-${i}`)
    let imports = 0
    let killing = Promise.resolve()
    for (let round = 1; round <= rounds; round++)
      for (let i = 0; i < users.length; i += AT_ONCE) {
        if (++imports % KILL_EVERY === 0) killing = killing.then(killOne)
        await importPersistently(installation, {
          replace: true,
          connections: users.slice(i, i + AT_ONCE).map((user_id) => ({
            user_id,
            provider_id: 'demo',
            access_token: `token-${user_id}-${round}`,
            account: { id: user_id },
            scopes: [`scope-${round}`],
          })),
        })
      }
    await killing
    expect(kills).toBeGreaterThan(1)
    // the leases of dead processes end now, and not after 30 seconds
    await installation.sql(
      `update deliveries set due_at = 0 where state = 'waiting' and lease_owner is not null
        and due_at <= ${Math.floor(killedAt) + LEASE_SECONDS}`,
    )

    const written = await installation.sql('select id from events')
    expect(written.length).toBeGreaterThanOrEqual(users.length * rounds)
    await until(async () => {
      // pauses between attempts and probes double up to minutes: the test ends them
      await installation.sql(
        "update deliveries set due_at = 0 where state = 'waiting' and due_at is not null and lease_owner is null",
      )
      await installation.sql('update webhooks set probe_at = 0 where probe_at is not null')
      await sleep(500)
      const [left] = await installation.sql(
        "select count(*) as waiting from deliveries where state = 'waiting'",
      )
      return Number(left?.waiting) === 0
    })
    const delivered = new Set(receiver.taken.map(({ id }) => id))
    expect(written.filter(({ id }) => !delivered.has(String(id)))).toEqual([])
    expect(receiver.forged).toBe(0)
    for (const events of Map.groupBy(receiver.taken, ({ key }) => key).values()) {
      const sequences = events.map(({ sequence }) => sequence)
      // an event may arrive again, but only before the next one
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
      expect([...new Set(sequences)]).toEqual(Array.from(new Set(sequences), (_, i) => i + 1))
    }
  } finally {
    await as.close()
  }
}

describe('two processes that are killed, and a receiver that fails, hangs and dies', () => {
  test(
    'deliver each event at least once, and those of one connection in order, on SQLite',
    () => deliveriesUnderKills('SQLite', EVENTS),
    600_000,
  )

  test(
    'deliver each event at least once, and those of one connection in order, on PostgreSQL',
    () => deliveriesUnderKills('PostgreSQL', EVENTS),
    600_000,
  )
})
