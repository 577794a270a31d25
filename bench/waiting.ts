import { API_KEY, authorizeBody } from './people.ts'
import { connectMany, type RawAnswer, type RawConnection, rawRequest } from './raw-client.ts'

const LANES = 32
const WAIT_SECONDS = 59

/** An authorization that the load process has begun. */
export interface Begun {
  readonly id: string
}

/** Begins `count` authorizations, each for a new user. */
export async function beginMany(port: number, count: number, nextUri?: string): Promise<Begun[]> {
  const lanes = await connectMany(port, LANES)
  const run = Math.random().toString(36).slice(2)
  const begun: Begun[] = []
  let next = 0
  await Promise.all(
    lanes.map(async (lane) => {
      while (next < count) {
        const need = authorizeBody(`waiting-${run}-${next++}@example.com`)
        const body = { ...need, ...(nextUri !== undefined && { next_uri: nextUri }) }
        const request = { method: 'POST', path: '/v1/auth/authorize', headers: callerHeaders, body } as const
        const { body: answer } = await lane.send(rawRequest(port, request))
        begun.push({ id: JSON.parse(answer.toString()).id })
      }
      lane.close()
    }),
  )
  return begun
}

/** Long-polls the authorization; the connection is taken until it has settled. */
export function waitFor(port: number, connection: RawConnection, { id }: Begun): Promise<RawAnswer> {
  const path = `/v1/auth/status?id=${id}&wait=${WAIT_SECONDS}`
  return connection.send(rawRequest(port, { method: 'GET', path, headers: callerHeaders }))
}

const callerHeaders = { authorization: `Bearer ${API_KEY}` }
