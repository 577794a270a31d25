import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, isSettled } from '../../domain/authorization.ts'
import { sessionOpenedBy } from '../../flows/connect-session.ts'
import type { EndingView } from '../pages/ending-page.ts'
import { browserCookies } from './browser-cookies.ts'

/**
 * How the window of an ended authorization goes away, if an application's page has opened it: `undefined` in every other
 * window. A failure that the user did not choose is left open to be read.
 */
export async function popupWindow(
  c: Context,
  broker: Broker,
  authorization: Authorization,
): Promise<EndingView['window']> {
  if (!isSettled(authorization)) return undefined
  const session = await sessionOpenedBy(broker, authorization, browserCookies(broker).openerOf(c))
  if (session?.openedIn !== 'popup') return undefined
  const isExpected = authorization.status === 'completed' || authorization.reason === 'access_denied'
  return isExpected ? 'closes' : 'has a button'
}
