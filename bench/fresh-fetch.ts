import { once } from 'node:events'
import type { Bench } from './bench.ts'
import { startGatepass } from './gatepass.ts'
import { freePort, type Started, startScript, untilHealthy } from './process.ts'
import { connectMany, rawRequest } from './raw-client.ts'
import { type Figure, median, spread, whole } from './report.ts'
import { API_KEY, authorizeBody, databaseIn, USERS, userName } from './seed.ts'

const CONNECTIONS = 32
const ROUNDS = 7
const FURTHER_ROUNDS = 3
const ROUND_MS = 1_500
/** Long enough that nearly every user has been asked for once, and that last-used times are written. */
const WARM_UP_MS = 8_000
const LEAST_RATIO = 0.5

/** A fresh token for a random user, as a ratio to the bare endpoint measured right before and after. */
export async function freshFetch({ folder, load, seeded }: Bench): Promise<Figure[]> {
  await using gatepass = await startGatepass(folder)
  const barePort = await freePort()
  await using bare = startScript('bare-server.ts', [String(barePort)])
  await untilHealthy(barePort, bare)
  await using writer = startScript('other-writer.ts', [databaseIn(folder), seeded.keyId])

  const figure = { module: import.meta.url, load: fetchLoad }
  const measure = async (
    server: Started,
    port: number,
    ms: number,
    generator: Generator = 'awake',
  ): Promise<Round> => {
    const cpuBefore = server.cpuMs()
    const { answered, seconds } = await load.run(figure, { port, ms, generator })
    return { rate: answered / seconds, cpuMicros: ((server.cpuMs() - cpuBefore) * 1000) / answered }
  }
  const order = async (what: 'write' | 'rest') => {
    writer.child.send(what)
    await once(writer.child, 'message')
  }

  await measure(bare, barePort, WARM_UP_MS)
  await measure(gatepass, gatepass.port, WARM_UP_MS)
  const quiet = { bare: [] as Round[], gatepass: [] as Round[] }
  const disturbed = { bare: [] as Round[], gatepass: [] as Round[] }
  const asleep = { bare: [] as Round[], gatepass: [] as Round[] }
  const pair = async (rounds: typeof quiet, generator?: Generator) => {
    rounds.bare.push(await measure(bare, barePort, ROUND_MS, generator))
    rounds.gatepass.push(await measure(gatepass, gatepass.port, ROUND_MS, generator))
  }
  for (let i = 0; i < ROUNDS; i++) await pair(quiet)
  for (let i = 0; i < FURTHER_ROUNDS; i++) await pair(asleep, 'asleep')
  // apart, since every write empties the caches that the quiet rounds are about
  await order('write')
  for (let i = 0; i < FURTHER_ROUNDS; i++) await pair(disturbed)
  await order('rest')

  const ratios = (rounds: typeof quiet) =>
    rounds.gatepass.map(({ rate }, i) => rate / (rounds.bare[i]?.rate ?? Number.NaN))
  const rate = (rounds: Round[]) => whole(median(rounds.map((one) => one.rate)))
  const cpu = (rounds: Round[]) => whole(median(rounds.map((one) => one.cpuMicros)))
  const ratio = ratios(quiet)
  return [
    {
      name: `fresh-token fetch, ${whole(USERS)} users, ${CONNECTIONS} connections: ratio to bare hono`,
      value: spread(ratio, (value) => value.toFixed(2)),
      target: `>= ${LEAST_RATIO}`,
      met: median(ratio) >= LEAST_RATIO,
    },
    { name: '  requests per second: Gatepass, bare', value: `${rate(quiet.gatepass)}, ${rate(quiet.bare)}` },
    {
      name: '  server CPU per request: Gatepass, bare',
      value: `${cpu(quiet.gatepass)} us, ${cpu(quiet.bare)} us`,
    },
    {
      name: '  the same with a load generator that sleeps between answers: ratio',
      value: spread(ratios(asleep), (value) => value.toFixed(2)),
    },
    {
      name: '  server CPU per request then: Gatepass, bare',
      value: `${cpu(asleep.gatepass)} us, ${cpu(asleep.bare)} us`,
    },
    {
      name: '  the same while another process writes every 100 ms: ratio',
      value: spread(ratios(disturbed), (value) => value.toFixed(2)),
    },
    {
      name: '  requests per second, server CPU per request',
      value: `${rate(disturbed.gatepass)}, ${cpu(disturbed.gatepass)} us`,
    },
  ]
}

interface Round {
  readonly rate: number
  readonly cpuMicros: number
}

/** Whether the load process spins while it has nothing to read, or is put to sleep and woken by each answer. */
type Generator = 'awake' | 'asleep'

/** In the load process: as many fetches as go through, each for another random user. */
export { fetchLoad as load }

async function fetchLoad({ port, ms, generator }: { port: number; ms: number; generator: Generator }) {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const requests = Array.from({ length: USERS }, (_, i) =>
    rawRequest(port, {
      method: 'POST',
      path: '/v1/auth/authorize',
      headers,
      body: authorizeBody(userName(i)),
    }),
  )
  const connections = await connectMany(port, CONNECTIONS)
  const begun = performance.now()
  let answered = 0
  let spinning = generator === 'awake'
  // waking a sleeping process is paid for by its waker, the server, and on a virtual machine costs more than the rest
  const spin = () => void (spinning && setImmediate(spin))
  spin()
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - begun < ms) {
        const user = Math.floor(Math.random() * USERS)
        const { status, body } = await connection.send(requests[user] as Buffer) // every index has one
        answered++
        if (status !== 200 || !body.includes(`gho_${userName(user)}x`))
          throw new Error(`not the token of ${userName(user)}: ${status} ${body}`)
      }
      connection.close()
    }),
  )
  spinning = false
  return { answered, seconds: (performance.now() - begun) / 1000 }
}
