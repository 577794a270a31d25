import type { Broker } from '../broker.ts'
import { type Authorization, at, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'

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
 * answer is the status it has.
 */
export async function awaitAuthorization(
  broker: Broker,
  projectId: string,
  id: string,
  { waitSeconds, signal }: { readonly waitSeconds: number; readonly signal?: AbortSignal },
): Promise<Authorization> {
  const authorization = await getAuthorization(broker, projectId, id)
  if (isSettled(authorization) || waitSeconds <= 0) return authorization
  const end = authorization.status === 'exchanging' ? authorization.deadline : authorization.expiresAt
  const ms = Math.min(waitSeconds, end - broker.now()) * 1000
  const settled = await broker.waiters.wait(id, ms, signal)
  return settled ?? getAuthorization(broker, projectId, id)
}
