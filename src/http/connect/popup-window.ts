import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, isSettled } from '../../domain/authorization.ts'
import type { EndingView } from '../pages/ending-page.ts'
import { browserCookies } from './browser-cookies.ts'

/**
 * Returns how the popup that an application's page opened closes after the authorization has ended; `undefined` in
 * any other window. After a failure that the user did not choose the popup stays open, so that the user can read the
 * reason.
 */
export async function popupWindow(
  c: Context,
  broker: Broker,
  authorization: Authorization,
): Promise<EndingView['window']> {
  if (!isSettled(authorization)) return undefined
  const openedIn = await broker.openers.openedIn(authorization, browserCookies(broker).openerOf(c))
  if (openedIn !== 'popup') return undefined
  return endedByChoice(authorization) ? 'closes' : 'has a button'
}

/** Whether the authorization ended as its user chose, by consent or by refusal, which needs no explanation. */
export function endedByChoice(authorization: Authorization): boolean {
  return (
    authorization.status === 'completed' ||
    (authorization.status === 'failed' && authorization.reason === 'access_denied')
  )
}
