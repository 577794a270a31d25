import { drawing } from './draws.ts'
import { type Drive, drive } from './driving.ts'
import type { Server } from './fetching.ts'
import type { LoadProcess } from './load-process.ts'
import { lasting } from './pace.ts'
import { type RawRequest, rawRequest } from './raw-client.ts'
import { type Driven, type Round, roundOf } from './rounds.ts'

/** Requests that the load process draws at random. */
export interface Calls extends Omit<Drive, 'port'> {
  readonly requests: readonly RawRequest[]
  /** What every answer must hold. */
  readonly expects: string
  readonly status?: number
}

/** One round of calls. Each answer is checked. */
export function callsTo(load: LoadProcess, server: Server, calls: Calls): Promise<Round> {
  const job: CallJob = { ...calls, ms: lasting(calls.ms), port: server.port }
  return roundOf(server, () => load.run({ module: import.meta.url, load: callLoad }, job))
}

type CallJob = Calls & Drive

export { callLoad as load }

function callLoad({ requests, expects, status: expected = 200, ...job }: CallJob): Promise<Driven> {
  const isRight = ({ status, head, body }: { status: number; head: string; body: Buffer }) =>
    status === expected && (body.includes(expects) || head.includes(expects))
  const made = requests.map((request) => ({ request: rawRequest(job.port, request), isRight }))
  const next = drawing('uniform', made.length)
  return drive(job, () => made[next()])
}
