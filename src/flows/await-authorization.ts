import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { isApprovalId } from '../services/call-approvals.ts'
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

/** The state of an authorization or an approval, for those who wait for it. */
export interface ConsentStatus {
  readonly status: 'pending' | 'completed' | 'failed'
  /** Only where it `failed`. */
  readonly reason?: string | undefined
  readonly message?: string | undefined
}

/** Waits like `awaitAuthorization`, for an authorization or for the approval of a call. */
export async function awaitConsent(
  broker: Broker,
  projectId: string,
  id: string,
  options: WaitOptions & { readonly waitSeconds: number },
): Promise<ConsentStatus> {
  if (isApprovalId(id) && broker.approvals !== undefined) return broker.approvals.wait(projectId, id, options)
  const authorization = await awaitAuthorization(broker, projectId, id, options)
  if (!isSettled(authorization)) return { status: 'pending' }
  return authorization.status === 'failed' ? authorization : { status: 'completed' }
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
