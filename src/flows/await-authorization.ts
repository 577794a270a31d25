import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { mayActFor } from '../services/request-context.ts'
import type { WaitOptions } from '../services/waiters.ts'

/**
 * The project's authorization. Throws `not_found`, also for one of another project, or of a user for whom the request may
 * not act.
 */
export async function getAuthorization(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<Authorization> {
  const authorization = await broker.store.authorizations.find(id)
  if (
    authorization === undefined ||
    authorization.projectId !== projectId ||
    !mayActFor(authorization.userId)
  )
    throw new BrokerError('not_found', `There is no authorization "${id.slice(0, 80)}" in this project.`)
  return authorizationAt(authorization, broker.now())
}

/**
 * The authorization when it has settled, or in its current status after `waitSeconds`, or at once when too many
 * requests wait already. Neither limit is an error.
 */
export async function awaitAuthorization(
  broker: Broker,
  projectId: string,
  id: string,
  { waitSeconds, ...options }: WaitOptions & { readonly waitSeconds: number },
): Promise<Authorization> {
  const authorization = await getAuthorization(broker, projectId, id)
  if (isSettled(authorization) || waitSeconds <= 0) return authorization
  const end = authorization.status === 'exchanging' ? authorization.deadline : authorization.expiresAt
  const ms = Math.min(waitSeconds, end - broker.now()) * 1000
  const settled = await broker.waiters.wait(id, ms, options)
  return settled ?? getAuthorization(broker, projectId, id)
}
