import { type OpenAPIHono, z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, isSettled } from '../../domain/authorization.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import {
  awaitConnectSession,
  type CurrentSession,
  cancelConnectSession,
  connectionsOf,
  firstIdOf,
  restartConnectSession,
} from '../../flows/connect-session.ts'
import { errorSchema } from '../../operations/schemas/error-schema.ts'
import { wholeNumber } from '../../operations/schemas/fields.ts'
import { inContext } from '../../services/request-context.ts'
import { connectSessionAt, SESSION_RATE, type SessionLimits } from '../connect/session-at.ts'
import { createClientAddress } from '../endpoint/client-address.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'
import { requestHeader } from '../endpoint/request-header.ts'
import { requestId } from '../endpoint/request-id.ts'
import { sendEvents } from '../endpoint/send-events.ts'
import { connectionsToWire, connectSessionSchema } from './connect-sessions.ts'
import { streamStatus } from './status-stream.ts'

const PATH = '/v1/connect_sessions/current'
const tag = 'Connect sessions'
const LONGEST_WAIT_SECONDS = 59
/** How many requests of one session may wait. A page needs one, and a user has few tabs. */
const MAX_WAITS = 4
const PREFLIGHT_SECONDS = 600

const sessionSchema = z.object(connectSessionSchema).openapi('ConnectSession')

/** The endpoints that a page of an application calls with the token of its session, from the origin that the session allows. */
export function addCurrentSession(
  app: OpenAPIHono,
  add: AddEndpoint,
  broker: Broker,
  { charge, countGuess }: SessionLimits,
): void {
  const responses = { 200: { description: 'The status of the session', schema: sessionSchema } }
  const waits = createWaitLimit()
  const clientAddress = createClientAddress(broker.settings)

  for (const path of [PATH, `${PATH}/:what`])
    app.options(path, (c) => {
      allowOrigin(c)
      c.header('access-control-allow-methods', 'GET, POST')
      c.header('access-control-allow-headers', 'authorization')
      c.header('access-control-max-age', String(PREFLIGHT_SECONDS))
      return c.body(null, 204)
    })

  /** Runs `handle` with the session whose token the request has. A page of the allowed origin can read refusals too. */
  async function withSession(
    c: Context,
    handle: (current: CurrentSession) => Promise<Response>,
  ): Promise<Response> {
    c.header('cache-control', 'no-store')
    const token =
      requestHeader(c, 'authorization')
        ?.replace(/^bearer\s+/i, '')
        .trim() ?? ''
    const found = await connectSessionAt(c, broker, token)
    const origin = requestHeader(c, 'origin')
    if (found.outcome !== 'unknown' && origin !== found.session.origin)
      throw new BrokerError(
        'invalid_authorization',
        'Only pages of the allowed_origin of its session may use this token, by fetch.',
      )
    allowOrigin(c)
    if (found.outcome === 'unknown') {
      countGuess(clientAddress(c))
      throw new BrokerError(
        'invalid_authorization',
        'There is no session with this token. It goes into `Authorization: Bearer gps_…`.',
      )
    }
    const { session } = found
    charge({ id: session.id, rateLimit: SESSION_RATE })
    if (found.outcome === 'over')
      throw new BrokerError(
        'invalid_authorization',
        'This session is over. Ask your own server for a new one (POST /v1/connect_sessions).',
      )
    const context = {
      actor: { kind: 'user', id: session.userId },
      purpose: `${c.req.method} ${c.req.path}`,
      onlyUser: session.userId,
      requestId: requestId(c),
    } as const
    return inContext(context, () => handle(found))
  }

  async function toWire(current: CurrentSession): Promise<z.output<typeof sessionSchema>> {
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
  const ownerOf = ({ session }: CurrentSession) => `connect sessions of ${session.projectId}`

  add(
    {
      operationId: 'getCurrentConnectSession',
      method: 'get',
      path: PATH,
      role: 'session',
      tag,
      summary: 'The status of the session',
      description: `For the page. \`wait\` delays the answer until the authorization has ended, for at most that many seconds; then the answer is 200 with the current status.`,
      query: z.object({ wait: wholeNumber({ min: 0, max: LONGEST_WAIT_SECONDS }).default(0) }),
      responses,
    },
    ({ c, query: { wait } }) =>
      withSession(c, async (current) => {
        const leave = wait > 0 ? waits.enter(current.session.id) : undefined
        try {
          const waitSeconds = leave === undefined ? 0 : wait
          const { signal } = c.req.raw
          return c.json(
            await toWire(
              await awaitConnectSession(broker, current, { waitSeconds, owner: ownerOf(current), signal }),
            ),
          )
        } finally {
          leave?.()
        }
      }),
  )

  add(
    {
      operationId: 'streamCurrentConnectSession',
      method: 'get',
      path: `${PATH}/events`,
      role: 'session',
      tag,
      summary: 'The same status as server-sent events',
      description: `For a page that reads them by \`fetch\`: an EventSource can send no token. One \`status\` event now and one when the authorization has ended, or an \`error\` event with a refusal; then the stream ends.`,
      responses: {
        200: {
          description: 'The data of each event is a ConnectSession, or an Error where the event is `error`',
          schema: z.union([sessionSchema, errorSchema]),
          mediaType: 'text/event-stream',
        },
      },
    },
    ({ c }) =>
      withSession(c, async (current) => {
        const { session, authorization } = current
        const json = async (of: CurrentSession) => JSON.stringify(await toWire(of))
        const isOver = authorization === undefined || isSettled(authorization)
        const leave = isOver ? undefined : waits.enter(session.id)
        if (isOver || leave === undefined) {
          const data = await json(current)
          return sendEvents(c, (stream) => stream.writeSSE({ event: 'status', data }))
        }
        const toJson = (status: Authorization) => json({ session, authorization: status })
        return streamStatus(c, broker, {
          first: authorization,
          toJson,
          owner: ownerOf(current),
          onEnd: leave,
        })
      }),
  )

  add(
    {
      operationId: 'cancelCurrentConnectSession',
      method: 'post',
      path: `${PATH}/cancel`,
      role: 'session',
      tag,
      summary: 'Cancel the session for its user',
      description: `The authorization fails with \`access_denied\`. An authorization that has ended does not change.`,
      responses,
    },
    ({ c }) =>
      withSession(c, async (current) => c.json(await toWire(await cancelConnectSession(broker, current)))),
  )

  add(
    {
      operationId: 'restartCurrentConnectSession',
      method: 'post',
      path: `${PATH}/restart`,
      role: 'session',
      tag,
      summary: 'Begin another authorization after a failure',
      description: `Begins another authorization in place of a failed one; the same token opens it. A pending or completed authorization does not change.`,
      responses,
    },
    ({ c }) =>
      withSession(c, async (current) => c.json(await toWire(await restartConnectSession(broker, current)))),
  )
}

/**
 * Lets scripts of the requesting origin read the answer, without cookies. `withSession` checks first that it is the origin
 * of the session; a preflight request has no token, so for it nothing can be checked.
 */
function allowOrigin(c: Context): void {
  const origin = requestHeader(c, 'origin')
  c.header('vary', 'Origin')
  if (origin !== undefined) c.header('access-control-allow-origin', origin)
}

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
