import type { Broker } from '../broker.ts'
import { type Authorization, at } from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'
import { recordRefusal } from './authorization-audit.ts'
import { completeAuthorization } from './complete-authorization.ts'
import { attemptPlace } from './start-attempt.ts'

/** How long a browser that comes twice waits for the exchange that its first visit began. */
const SETTLING_MS = 15_000
/** How often it looks whether that exchange has ended a step that is not the last. */
const LOOK_MS = 250

export type FinishOutcome =
  | { readonly outcome: 'not_found' }
  /** Not the browser in which the user clicked. Nothing was changed or spent. */
  | { readonly outcome: 'wrong_browser' }
  /** Where the authorization stands now, whether this visit moved it or it was there before. */
  | { readonly outcome: 'stands'; readonly authorization: Authorization }

/**
 * The browser opens the address that `confirm_user` answered. The code is redeemed when two things come together: the
 * proof that the caller's page sent this browser, and the cookie of the browser that clicked. With the cookie alone,
 * whoever clicked a link that was not theirs could finish after making its owner visit the caller's page; with the
 * proof alone, that owner would.
 */
export async function finishConfirmed(
  broker: Broker,
  visit: { readonly id: string; readonly proof: string; readonly browserId: string | undefined },
): Promise<FinishOutcome> {
  const { store, now, settings, confirmations, sealer } = broker
  const found = await store.authorizations.find(visit.id)
  if (found === undefined) return { outcome: 'not_found' }
  const authorization = at(found, now())
  const stands = { outcome: 'stands', authorization } as const
  if (authorization.status === 'exchanging') return settled(broker, authorization)
  // while it is under way, only under the verifier that it was begun under
  if (authorization.status !== 'confirmed' || settings.verifier.kind !== 'caller') return stands
  if (!confirmations.isProof(visit.proof, authorization.flowHash)) return stands
  const { attempt } = authorization
  if (visit.browserId === undefined || sha256(visit.browserId) !== attempt.browserHash) {
    await recordRefusal(broker, authorization, 'wrong_browser')
    return { outcome: 'wrong_browser' }
  }
  const completed = await completeAuthorization(broker, {
    from: 'confirmed',
    stateHash: attempt.stateHash,
    response: () =>
      new URLSearchParams(sealer.open(authorization.response, attemptPlace(authorization, 'response'))),
  })
  return completed === undefined
    ? settled(broker, authorization)
    : { outcome: 'stands', authorization: completed }
}

/** The same visit is being carried out by another request: its result is this one's too. */
async function settled(broker: Broker, { id }: Authorization): Promise<FinishOutcome> {
  const end = performance.now() + SETTLING_MS
  for (;;) {
    const waited = await broker.waiters.wait(id, LOOK_MS)
    const found = waited ?? (await broker.store.authorizations.find(id))
    if (found === undefined) return { outcome: 'not_found' }
    const authorization = at(found, broker.now())
    if (authorization.status !== 'exchanging' || broker.waiters.closed || performance.now() >= end)
      return { outcome: 'stands', authorization }
  }
}
