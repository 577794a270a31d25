import type { LoadProcess } from './load-process.ts'
import type { Started } from './process.ts'
import { connectMany, rawRequest } from './raw-client.ts'
import { median, whole } from './report.ts'
import { API_KEY, authorizeBody, USERS, userName } from './seed.ts'

export const CONNECTIONS = 32
export const ROUND_MS = 1_500
/** Long enough that nearly every user has been asked for once, and that last-used times are written. */
export const WARM_UP_MS = 8_000

/** Who is asked for tokens. */
export type Server = Pick<Started, 'cpuMs'> & { readonly port: number }

export interface Round {
  readonly answered: number
  /** Requests per second. */
  readonly rate: number
  readonly cpuMicros: number
}

/** Whether the load process spins while it has nothing to read, or is put to sleep and woken by each answer. */
export type Generator = 'awake' | 'asleep'

export interface RoundOptions {
  readonly ms?: number
  readonly generator?: Generator
  readonly users?: number
  /** All users in turn, beginning with this one; absent: users at random. */
  readonly inTurnFrom?: number
}

/** One round of fetches. The token in each answer is checked. */
export async function fetchFrom(
  load: LoadProcess,
  server: Server,
  { ms = ROUND_MS, generator = 'awake', users = USERS, inTurnFrom }: RoundOptions = {},
): Promise<Round> {
  const cpuBefore = server.cpuMs()
  const { answered, seconds } = await load.run(
    { module: import.meta.url, load: fetchLoad },
    { port: server.port, ms, generator, users, ...(inTurnFrom !== undefined && { inTurnFrom }) },
  )
  return { answered, rate: answered / seconds, cpuMicros: ((server.cpuMs() - cpuBefore) * 1000) / answered }
}

/** Requests per second as a ratio, round by round: those of one number were measured right after each other. */
export function ratios(rounds: readonly Round[], to: readonly Round[]): number[] {
  return rounds.map(({ rate }, i) => rate / (to[i]?.rate ?? Number.NaN))
}

export function rateOf(rounds: readonly Round[]): string {
  return whole(median(rounds.map(({ rate }) => rate)))
}

/** In microseconds. */
export function cpuOf(rounds: readonly Round[]): string {
  return whole(median(rounds.map(({ cpuMicros }) => cpuMicros)))
}

/** In the load process: as many fetches as go through. */
export { fetchLoad as load }

async function fetchLoad({
  port,
  ms,
  generator,
  users,
  inTurnFrom,
}: Required<Omit<RoundOptions, 'inTurnFrom'>> &
  Pick<RoundOptions, 'inTurnFrom'> & { readonly port: number }) {
  const headers = { authorization: `Bearer ${API_KEY}` }
  const requests = Array.from({ length: users }, (_, i) =>
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
  let next = inTurnFrom ?? 0
  const nextUser = () => (inTurnFrom === undefined ? Math.floor(Math.random() * users) : next++ % users)
  let spinning = generator === 'awake'
  // waking a sleeping process is paid for by its waker, the server, and on a virtual machine costs more than the rest
  const spin = () => void (spinning && setImmediate(spin))
  spin()
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() - begun < ms) {
        const user = nextUser()
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
