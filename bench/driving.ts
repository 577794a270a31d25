import { connectMany, type RawAnswer } from './raw-client.ts'
import { quantile } from './report.ts'
import type { Driven } from './rounds.ts'

/** Whether the load process spins while it has nothing to read, or is put to sleep and woken by each answer. */
export type Generator = 'awake' | 'asleep'

export interface Drive {
  readonly port: number
  readonly connections: number
  readonly ms: number
  readonly generator: Generator
}

export interface Exchange {
  readonly request: Buffer
  isRight(answer: RawAnswer): boolean
}

/**
 * Runs in the load process: sends as many requests as the server answers, one at a time on each connection, and times
 * each. Ends early when `next` has no more. Throws on a wrong answer.
 */
export async function drive(
  { port, connections: count, ms, generator }: Drive,
  next: () => Exchange | undefined,
): Promise<Driven> {
  const connections = await connectMany(port, count)
  const times: number[] = []
  // the server pays for waking a sleeping process, which on a virtual machine costs more than the request itself
  let spinning = generator === 'awake'
  const spin = () => void (spinning && setImmediate(spin))
  spin()
  const begun = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      for (let now = performance.now(); now - begun < ms; ) {
        const exchange = next()
        if (exchange === undefined) break
        const answer = await connection.send(exchange.request)
        if (!exchange.isRight(answer))
          throw new Error(`not the right answer: ${answer.status} ${answer.head} ${answer.body}`)
        const after = performance.now()
        times.push(after - now)
        now = after
      }
    }),
  )
  const seconds = (performance.now() - begun) / 1000
  spinning = false
  for (const connection of connections) connection.close()
  return {
    answered: times.length,
    seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    worst: Math.max(0, ...times.slice(-100_000)),
  }
}
