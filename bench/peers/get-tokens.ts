import { type Draw, drawing } from '../draws.ts'
import { type Drive, drive } from '../driving.ts'
import { CONNECTIONS, type Server } from '../fetching.ts'
import type { LoadProcess } from '../load-process.ts'
import { lasting } from '../pace.ts'
import { rawRequest } from '../raw-client.ts'
import { type Driven, type Round, roundOf } from '../rounds.ts'

/** A user of better-auth: the browser's cookie, and the account whose token is requested. */
export interface Session {
  readonly cookie: string
  readonly accountId: string
}

interface Job extends Drive {
  readonly sessions: readonly Session[]
  readonly draw: Draw
}

/** One round of better-auth's getAccessToken, each for the user of another session. */
export function getTokens(
  load: LoadProcess,
  server: Server,
  { ms, ...options }: Pick<Job, 'ms' | 'sessions' | 'draw'>,
): Promise<Round> {
  const { port } = server
  const job: Job = { ...options, ms: lasting(ms), port, connections: CONNECTIONS, generator: 'awake' }
  return roundOf(server, () => load.run({ module: import.meta.url, load: tokenLoad }, job))
}

export { tokenLoad as load }

function tokenLoad({ sessions, draw, ...job }: Job): Promise<Driven> {
  const made = sessions.map((session, i) => ({
    request: tokenRequest(job.port, session),
    isRight: ({ status, body }: { status: number; body: Buffer }) =>
      status === 200 && body.includes(`gho_user-${i}x`),
  }))
  const next = drawing(draw, made.length)
  return drive(job, () => made[next()])
}

/** The browser's request, with the cookie of its session. */
export function tokenRequest(port: number, { cookie, accountId }: Session): Buffer {
  return rawRequest(port, {
    method: 'POST',
    path: '/api/auth/get-access-token',
    headers: { cookie, origin: `http://127.0.0.1:${port}` },
    body: { accountId },
  })
}
