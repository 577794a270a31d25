import { setTimeout as sleep } from 'node:timers/promises'
import { drawing } from './draws.ts'
import { executeFor, proxyFor } from './execute.ts'
import { accessToken, authorizeBody, userName } from './people.ts'
import { connectMany, type RawAnswer, type RawRequest, rawRequest } from './raw-client.ts'
import { CALLER } from './tool-side.ts'

const CLIENTS = 16
/** The average pause of a client between two requests, in milliseconds. Each pause is random. */
const PAUSE_MS = 25

export interface SoakJob {
  readonly port: number
  readonly users: number
  readonly ms: number
}

/** Milliseconds that each request took, by kind, and the wrong answers. */
export interface SoakTimes {
  readonly fetches: readonly number[]
  readonly others: readonly number[]
  /** The first wrong answer to each kind of request, as a sentence. */
  readonly wrong: readonly string[]
}

/** In the load process: callers of different kinds, who ask for users by Zipf's law. */
export async function load({ port, users, ms }: SoakJob): Promise<SoakTimes> {
  const draw = drawing('zipf', users)
  const [fetches, others]: number[][] = [[], []]
  const wrong = new Map<string, string>()
  const connections = await connectMany(port, CLIENTS)
  const until = performance.now() + ms
  await Promise.all(
    connections.map(async (connection, client) => {
      for (let turn = client; performance.now() < until; turn++) {
        await sleep(Math.random() * 2 * PAUSE_MS)
        const { kind, request, isRight } = next(turn, userName(draw()))
        const begun = performance.now()
        const answer = await connection.send(rawRequest(port, request))
        ;(kind === 'fetch' ? fetches : others)?.push(performance.now() - begun)
        if (!isRight(answer) && !wrong.has(kind))
          wrong.set(kind, `${kind}: ${answer.status} ${answer.body.toString('utf8', 0, 200)}`)
      }
    }),
  )
  for (const connection of connections) connection.close()
  return { fetches: fetches ?? [], others: others ?? [], wrong: [...wrong.values()] }
}

interface Step {
  readonly kind: 'fetch' | 'run' | 'proxy' | 'begin'
  readonly request: RawRequest
  isRight(answer: RawAnswer): boolean
}

/** Of twenty requests, fifteen fetch, two run a tool, two go through the proxy, and one begins an authorization. */
function next(turn: number, user: string): Step {
  const holds =
    (text: string) =>
    ({ status, body }: RawAnswer) =>
      status === 200 && body.includes(text)
  switch (turn % 20) {
    case 3:
    case 13:
      return { kind: 'run', request: executeFor(user), isRight: holds('Hello, Ada!') }
    case 7:
    case 17:
      return { kind: 'proxy', request: proxyFor(user), isRight: holds('"login":"ada"') }
    case 10: {
      const body = authorizeBody(`new-${process.pid}-${performance.now()}@example.com`)
      return { kind: 'begin', request: authorize(body), isRight: holds('"pending"') }
    }
    default:
      return {
        kind: 'fetch',
        request: authorize(authorizeBody(user)),
        isRight: holds(accessToken(user).slice(0, 40)),
      }
  }
}

function authorize(body: object): RawRequest {
  return { method: 'POST', path: '/v1/auth/authorize', headers: CALLER, body }
}
