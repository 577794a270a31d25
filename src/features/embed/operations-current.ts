import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { isSettled } from '../../domain/authorization.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { EventStream } from '../../operations/answer.ts'
import { statusStream } from '../../operations/authorizations/status-stream.ts'
import { errorSchema } from '../../operations/schemas/error-schema.ts'
import { wholeNumber } from '../../operations/schemas/fields.ts'
import {
  awaitConnectSession,
  type CurrentSession,
  cancelConnectSession,
  connectionsOf,
  firstIdOf,
  restartConnectSession,
} from './connect-session.ts'
import { defineSessionOperation } from './operations-define.ts'
import { connectionsToWire, connectSessionSchema } from './wire.ts'

// What a page of an application does with the token of its session. `routes-endpoints.ts` checks the token
// and the origin of the page.

const PATH = '/v1/connect_sessions/current'
const tag = 'Connect sessions'
const LONGEST_WAIT_SECONDS = 59
/** How many requests of one session may wait. A page needs one, and a user has few tabs. */
const MAX_WAITS = 4

const sessionSchema = z.object(connectSessionSchema).openapi('ConnectSession')
const answer = 'The status of the session'

export const getCurrentConnectSession = defineSessionOperation({
  id: 'getCurrentConnectSession',
  method: 'get',
  path: PATH,
  tag,
  summary: 'The status of the session',
  description: `For the page. \`wait\` delays the answer until the authorization has ended, for at most that many seconds; then the answer is 200 with the current status.`,
  query: z.object({ wait: wholeNumber({ min: 0, max: LONGEST_WAIT_SECONDS }).default(0) }),
  answer,
  output: sessionSchema,
  async run(broker, { query: { wait }, session: current, request }) {
    const leave = wait > 0 ? waitsOf(broker).enter(current.session.id) : undefined
    try {
      const waitSeconds = leave === undefined ? 0 : wait
      const { signal } = request
      const now = await awaitConnectSession(broker, current, { waitSeconds, owner: ownerOf(current), signal })
      return await toWire(broker, now)
    } finally {
      leave?.()
    }
  },
})

export const streamCurrentConnectSession = defineSessionOperation({
  id: 'streamCurrentConnectSession',
  method: 'get',
  path: `${PATH}/events`,
  tag,
  summary: 'The same status as server-sent events',
  description: `For a page that reads them by \`fetch\`: an EventSource can send no token. One \`status\` event now and one when the authorization has ended, or an \`error\` event with a refusal; then the stream ends.`,
  answer: 'The data of each event is a ConnectSession, or an Error where the event is `error`',
  output: z.union([sessionSchema, errorSchema]),
  mediaType: 'text/event-stream',
  async run(broker, { session: current }) {
    const { session, authorization } = current
    const json = async (of: CurrentSession) => JSON.stringify(await toWire(broker, of))
    const isOver = authorization === undefined || isSettled(authorization)
    const leave = isOver ? undefined : waitsOf(broker).enter(session.id)
    if (isOver || leave === undefined) {
      const data = await json(current)
      return new EventStream((events) => events.event('status', data))
    }
    return statusStream(broker, {
      first: authorization,
      toJson: (status) => json({ session, authorization: status }),
      owner: ownerOf(current),
      onEnd: leave,
    })
  },
})

export const cancelCurrentConnectSession = defineSessionOperation({
  id: 'cancelCurrentConnectSession',
  method: 'post',
  path: `${PATH}/cancel`,
  tag,
  summary: 'Cancel the session for its user',
  description: `The authorization fails with \`access_denied\`. An authorization that has ended does not change.`,
  answer,
  output: sessionSchema,
  run: async (broker, { session }) => toWire(broker, await cancelConnectSession(broker, session)),
})

export const restartCurrentConnectSession = defineSessionOperation({
  id: 'restartCurrentConnectSession',
  method: 'post',
  path: `${PATH}/restart`,
  tag,
  summary: 'Begin another authorization after a failure',
  description: `Begins another authorization in place of a failed one; the same token opens it. A pending or completed authorization does not change.`,
  answer,
  output: sessionSchema,
  run: async (broker, { session }) => toWire(broker, await restartConnectSession(broker, session)),
})

async function toWire(broker: Broker, current: CurrentSession): Promise<z.output<typeof sessionSchema>> {
  const { session, authorization } = current
  const common = {
    id: session.id,
    auth_id: firstIdOf(session),
    expires_at: toTimestamp(session.expiresAt),
  }
  if (authorization?.status === 'failed') {
    const { reason, message } = authorization
    return { ...common, status: 'failed', reason, message }
  }
  if (authorization !== undefined && authorization.status !== 'completed')
    return { ...common, status: 'pending' }
  return { ...common, status: 'completed', ...connectionsToWire(await connectionsOf(broker, current)) }
}

/** The waits of all sessions of a project count as those of one key. */
function ownerOf({ session }: CurrentSession): string {
  return `connect sessions of ${session.projectId}`
}

const waitsOf = perBroker(createWaitLimit)

/** Limits the requests of one session that wait in this process. */
function createWaitLimit() {
  const waiting = new Map<string, number>()
  return {
    /** Returns the function that ends the wait; `undefined` when the session has too many. */
    enter(id: string): (() => void) | undefined {
      const count = waiting.get(id) ?? 0
      if (count >= MAX_WAITS) return undefined
      waiting.set(id, count + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = (waiting.get(id) ?? 1) - 1
        if (left > 0) waiting.set(id, left)
        else waiting.delete(id)
      }
    },
  }
}
