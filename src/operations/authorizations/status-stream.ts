import type { Broker } from '../../broker.ts'
import { type Authorization, isSettled } from '../../domain/authorization.ts'
import { BrokerError } from '../../domain/errors.ts'
import { awaitAuthorization } from '../../flows/await-authorization.ts'
import { EventStream } from '../answer.ts'
import { approvalToWire } from './authorization-wire.ts'

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
export async function statusStream(
  broker: Broker,
  { first, toJson, owner, onEnd = () => {} }: StatusStream,
): Promise<EventStream> {
  const { id, projectId } = first
  const firstData = await toJson(first).catch((error: unknown) => {
    onEnd()
    throw error
  })
  return new EventStream(async ({ event, write, signal }) => {
    signal.addEventListener('abort', onEnd)
    try {
      await event('status', firstData)
      let current = first
      const { waiters } = broker
      while (!isSettled(current) && !signal.aborted && !waiters.closed && waiters.hasRoom(owner)) {
        current = await awaitAuthorization(broker, projectId, id, {
          waitSeconds: HEARTBEAT_MS / 1000,
          owner,
          signal,
        })
        if (isSettled(current)) await event('status', await toJson(current))
        else await write(': still waiting\n\n')
      }
    } finally {
      onEnd()
    }
  })
}

/** The same for an approval: an id that is unknown is refused before the stream begins. */
export async function approvalStream(
  { approvals, waiters }: Broker,
  { projectId, id, owner }: { readonly projectId: string; readonly id: string; readonly owner: string },
): Promise<EventStream> {
  const first = await approvals?.get(projectId, id)
  if (approvals === undefined || first === undefined)
    throw new BrokerError('not_found', `There is no approval "${id.slice(0, 80)}" in this project.`)
  return new EventStream(async ({ event, write, signal }) => {
    let current = first
    await event('status', JSON.stringify(approvalToWire(current)))
    while (current.status === 'pending' && !signal.aborted && !waiters.closed && waiters.hasRoom(owner)) {
      current = await approvals.wait(projectId, id, { waitSeconds: HEARTBEAT_MS / 1000, owner, signal })
      if (current.status !== 'pending') await event('status', JSON.stringify(approvalToWire(current)))
      else await write(': still waiting\n\n')
    }
  })
}
