import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, isSettled } from '../../domain/authorization.ts'
import { awaitAuthorization } from '../../flows/await-authorization.ts'
import { toWire as errorToWire, toRefusal } from '../endpoint/errors.ts'
import { sendEvents } from '../endpoint/send-events.ts'

const HEARTBEAT_MS = 15_000

export interface StatusStream {
  readonly first: Authorization
  /** The status as JSON. */
  readonly toJson: (authorization: Authorization) => Promise<string>
  /** Waiting requests are counted and limited by owner. */
  readonly owner: string
  readonly onEnd?: () => void
}

/**
 * Sends one `status` event now and one when the authorization has ended, or an `error` event with a refusal. If the owner
 * has too many waiting requests, the stream ends after the first event.
 */
export async function streamStatus(
  c: Context,
  broker: Broker,
  { first, toJson, owner, onEnd = () => {} }: StatusStream,
): Promise<Response> {
  const { id, projectId } = first
  const firstData = await toJson(first).catch((error: unknown) => {
    onEnd()
    throw error
  })
  return sendEvents(c, async (stream) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    stream.onAbort(onEnd)
    try {
      await stream.writeSSE({ event: 'status', data: firstData })
      let current = first
      const { waiters } = broker
      while (!isSettled(current) && !gone.signal.aborted && !waiters.closed && waiters.hasRoom(owner)) {
        current = await awaitAuthorization(broker, projectId, id, {
          waitSeconds: HEARTBEAT_MS / 1000,
          owner,
          signal: gone.signal,
        })
        if (isSettled(current)) await stream.writeSSE({ event: 'status', data: await toJson(current) })
        else await stream.write(': still waiting\n\n')
      }
    } catch (error) {
      const refusal = toRefusal(error, c.req.path, broker.log)
      await stream.writeSSE({ event: 'error', data: JSON.stringify(errorToWire(refusal)) })
    } finally {
      onEnd()
    }
  })
}
