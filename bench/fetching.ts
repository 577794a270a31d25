import { type Draw, drawing } from './draws.ts'
import { type Drive, drive, type Exchange, type Generator } from './driving.ts'
import type { LoadProcess } from './load-process.ts'
import { lasting } from './pace.ts'
import * as people from './people.ts'
import type { Started } from './process.ts'
import { rawRequest } from './raw-client.ts'
import { type Driven, type Round, roundOf } from './rounds.ts'

export const CONNECTIONS = 32
export const ROUND_MS = 1_500
/** Up to this many users, all requests are built before the first is sent; for more users each when it is drawn. */
const MADE_BEFORE = 50_000

/** The server that is asked for tokens. */
export type Server = Pick<Started, 'cpuMs'> & { readonly port: number }

export interface FetchOptions {
  readonly ms?: number
  readonly connections?: number
  readonly generator?: Generator
  readonly users?: number
  readonly draw?: Draw
  /** The URL of another release's `people.ts`, for a server of that release. */
  readonly people?: string
}

/** One round of fetches. The token in each answer is checked. */
export function fetchFrom(
  load: LoadProcess,
  server: Server,
  {
    ms = ROUND_MS,
    connections = CONNECTIONS,
    generator = 'awake',
    users = people.USERS,
    draw = 'uniform',
    people: whose,
  }: FetchOptions = {},
): Promise<Round> {
  const { port } = server
  const job: FetchJob = {
    port,
    connections,
    ms: lasting(ms),
    generator,
    users,
    draw,
    people: whose,
  }
  return roundOf(server, () => load.run({ module: import.meta.url, load: fetchLoad }, job))
}

interface FetchJob extends Drive {
  readonly users: number
  readonly draw: Draw
  readonly people: string | undefined
}

/** The exports that the bench of another release has too. */
type People = Pick<typeof people, 'API_KEY' | 'accessSecrets' | 'authorizeBody' | 'userName'>

export { fetchLoad as load }

async function fetchLoad({ users, draw, people: module, ...job }: FetchJob): Promise<Driven> {
  const whose: People = module === undefined ? people : await import(module)
  const tokenOf =
    module === undefined ? people.accessToken : (user: string) => whose.accessSecrets(user).accessToken
  const made = Array.from({ length: users > MADE_BEFORE ? 0 : users }, (_, i) => exchange(i))
  const next = drawing(draw, users)
  return drive(job, () => {
    const user = next()
    return made[user] ?? exchange(user)
  })

  function exchange(index: number): Exchange {
    const user = whose.userName(index)
    const begin = tokenOf(user).slice(0, 40)
    return {
      request: rawRequest(job.port, {
        method: 'POST',
        path: '/v1/auth/authorize',
        headers: { authorization: `Bearer ${whose.API_KEY}` },
        body: whose.authorizeBody(user),
      }),
      isRight: ({ status, body }) => status === 200 && body.includes(begin),
    }
  }
}
