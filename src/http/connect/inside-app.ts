import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { requestHeader } from '../endpoint/request-header.ts'

/**
 * Marks of a browser inside another app: Android's WebView says `wv`, and an iOS app's web view lacks the `Safari/` that
 * every browser of iOS sends. Apps can hide it, and then the page has no hint.
 */
function isInsideApp(userAgent: string): boolean {
  return (
    userAgent.includes('; wv)') ||
    (/\((?:iPhone|iPad|iPod)/.test(userAgent) && !userAgent.includes('Safari/'))
  )
}

/**
 * What the user can open in a browser instead, where the page is shown inside another app: some providers, Google among
 * them, refuse to log users in there. `undefined` in a browser.
 */
export async function addressForBrowser(
  c: Context,
  broker: Broker,
  authorization: Authorization,
): Promise<string | undefined> {
  if (!isInsideApp(requestHeader(c, 'user-agent') ?? '')) return undefined
  const { connectSessionId } = authorization
  if (connectSessionId === undefined) return connectUrl(broker, authorization)
  // the link of a session works in no other browser: the user begins again at the application
  return (await broker.store.connectSessions.find(connectSessionId))?.origin
}
