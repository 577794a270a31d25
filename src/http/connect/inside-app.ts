import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { requestHeader } from '../endpoint/request-header.ts'

/**
 * Recognizes a web view inside another app by its User-Agent: Android's WebView sends `wv`, and a web view of iOS lacks
 * the `Safari/` that every browser of iOS sends. An app can change this header; then the page has no hint for its user.
 */
function isInsideApp(userAgent: string): boolean {
  return (
    userAgent.includes('; wv)') ||
    (/\((?:iPhone|iPad|iPod)/.test(userAgent) && !userAgent.includes('Safari/'))
  )
}

/**
 * If the page is shown inside another app: the address that the user can open in a browser instead, because some
 * providers, such as Google, refuse to log users in inside apps. `undefined` if the page is shown in a browser.
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
  return broker.openers.originOf(connectSessionId)
}
