import type { Broker } from '../../broker.ts'
import { type Authorization, authorizationAt, type Pending } from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { sha256 } from '../../domain/ids.ts'
import { UnsealError } from '../../store/seal.ts'
import { openAttemptSecrets } from '../attempt-secrets.ts'
import { offeredTo } from '../choose-offered.ts'
import { openHeldGrant } from '../held-grant.ts'

/** What the browser that clicked is shown while a device code is open. */
export type ShownDevice =
  | {
      readonly kind: 'code'
      readonly userCode: string
      readonly verificationUri: string
      readonly expiresAt: EpochSeconds
    }
  /** The account that approved; empty: the provider did not name it. `grantHash`: of the grant that the answer is about. */
  | { readonly kind: 'account'; readonly account: string; readonly grantHash: string }

/** `undefined` for every other browser, and where no code is open. */
export function shownDevice(
  broker: Broker,
  authorization: Authorization,
  browserId: string | undefined,
): ShownDevice | undefined {
  if (!isWithDevice(broker, authorization, browserId)) return undefined
  const { attempt, granted } = authorization
  try {
    if (granted !== undefined) {
      const { name, id } = openHeldGrant(broker, authorization, granted).grant.account
      return { kind: 'account', account: name || id, grantHash: sha256(granted) }
    }
    const { device } = openAttemptSecrets(broker, authorization, attempt)
    if (device === undefined) return undefined
    const { userCode, verificationUri, expiresAt } = device
    return {
      kind: 'code',
      userCode,
      verificationUri,
      expiresAt: Math.min(expiresAt, authorization.expiresAt),
    }
  } catch (error) {
    if (error instanceof UnsealError) return undefined // a click gets a new code
    throw error
  }
}

/** Whether this browser has clicked, and a code is open or its grant waits for the user's answer. */
function isWithDevice(
  broker: Broker,
  authorization: Authorization,
  browserId: string | undefined,
): authorization is Pending & Required<Pick<Pending, 'attempt'>> {
  if (authorization.status !== 'pending') return false
  const { attempt, granted } = authorization
  if (attempt === undefined || browserId === undefined || sha256(browserId) !== attempt.browserHash)
    return false
  if (granted === undefined) return attempt.pollAt !== undefined
  return offeredTo(broker, authorization, browserId) === undefined // else the grant waits for a choice
}

/** How often a page's request reads the authorization: waiters resume only when it has ended. */
const REREAD_MS = 500

/** Waits at most `ms` until the page of the code has something else to show. Returns whether it still waits for that. */
export async function awaitDevice(
  broker: Broker,
  { id, projectId }: Authorization,
  browserId: string | undefined,
  { ms, ...options }: { readonly ms: number; readonly owner: string; readonly signal: AbortSignal },
): Promise<boolean> {
  const end = performance.now() + ms
  for (;;) {
    const found = await broker.store.authorizations.find(id)
    const current = found?.projectId === projectId ? authorizationAt(found, broker.now()) : undefined
    if (current === undefined || !isWithDevice(broker, current, browserId) || current.granted !== undefined)
      return false
    const { waiters } = broker
    const isOver = performance.now() >= end || options.signal.aborted || waiters.closed
    if (isOver || !waiters.hasRoom(options.owner)) return true
    await waiters.wait(id, REREAD_MS, options)
  }
}
