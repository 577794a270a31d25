import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt } from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { recordRefusal } from './authorization-audit.ts'
import { completeAuthorization } from './complete-authorization.ts'

/** How long a browser's second visit waits for the token request that its first visit began. */
const SETTLING_MS = 15_000
/**
 * How often the second visit reads the authorization: waiters resume only when it has ended, and a step that is not the
 * last does not end it.
 */
const POLL_MS = 250

export type FinishOutcome =
  | { readonly outcome: 'not_found' }
  /** Another browser than the one in which the user clicked. Nothing was changed. */
  | { readonly outcome: 'wrong_browser' }
  /** The authorization in its current status, whether or not this visit changed it. */
  | { readonly outcome: 'current'; readonly authorization: Authorization }

/**
 * Handles the browser that opens the `next_uri` of `confirm_user`. The code is redeemed only with both the proof that
 * the caller's page sent this browser and the cookie of the browser that clicked. With the cookie alone, an attacker who
 * clicked another user's link could finish after luring that user to the caller's page; with the proof alone, that user
 * would finish the attacker's flow.
 */
export async function finishConfirmed(
  broker: Broker,
  visit: {
    readonly id: string
    readonly proof: string
    readonly browserId: string | undefined
    /** The project at whose domain the browser is. */
    readonly projectId?: string | undefined
  },
): Promise<FinishOutcome> {
  const { store, now, settings, confirmations, sealer } = broker
  const found = await store.authorizations.find(visit.id)
  if (found === undefined || (visit.projectId ?? found.projectId) !== found.projectId)
    return { outcome: 'not_found' }
  const authorization = authorizationAt(found, now())
  const current = { outcome: 'current', authorization } as const
  if (authorization.status === 'exchanging') return settled(broker, authorization)
  // a change of the verifier setting ends flows that wait for the former one
  if (authorization.status !== 'confirmed' || settings.verifier.kind !== 'caller') return current
  if (!confirmations.isProof(visit.proof, authorization.flowHash)) return current
  const { attempt } = authorization
  if (visit.browserId === undefined || sha256(visit.browserId) !== attempt.browserHash) {
    await recordRefusal(broker, authorization, 'wrong_browser')
    return { outcome: 'wrong_browser' }
  }
  const completed = await completeAuthorization(broker, {
    from: 'confirmed',
    stateHash: attempt.stateHash,
    response: () =>
      new URLSearchParams(
        sealer.open(authorization.response, sealingContext('authorizations', 'response', authorization)),
      ),
  })
  return completed === undefined
    ? settled(broker, authorization)
    : { outcome: 'current', authorization: completed }
}

/** Waits for the result of another request that redeems the code. */
async function settled(broker: Broker, { id }: Authorization): Promise<FinishOutcome> {
  const end = performance.now() + SETTLING_MS
  for (;;) {
    const waited = await broker.waiters.wait(id, POLL_MS)
    const found = waited ?? (await broker.store.authorizations.find(id))
    if (found === undefined) return { outcome: 'not_found' }
    const authorization = authorizationAt(found, broker.now())
    if (authorization.status !== 'exchanging' || broker.waiters.closed || performance.now() >= end)
      return { outcome: 'current', authorization }
  }
}
