import type { Broker } from '../broker.ts'
import { type Authorization, at, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import type { WaitOptions } from '../services/waiters.ts'

/** The caller's authorization; another project's answers like one that does not exist. Throws `not_found`. */
export async function getAuthorization(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<Authorization> {
  const authorization = await broker.store.authorizations.find(id)
  if (authorization === undefined || authorization.projectId !== projectId)
    throw new BrokerError('not_found', `There is no authorization "${id.slice(0, 80)}" in this project.`)
  return at(authorization, broker.now())
}

/**
 * The authorization as soon as it has settled, or as it stands after `waitSeconds`. Running out is no error: the
 * answer is the status it has, and so is there being no room for one more who waits.
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
