import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { browserCookies } from '../../http/connect/browser-cookies.ts'
import { endingOf, endingResponse } from '../../http/connect/show-authorization.ts'
import { siteOf } from '../../http/connect/site.ts'
import { createClientAddress } from '../../http/endpoint/client-address.ts'
import type { RequestLimits } from '../../http/endpoint/rate-limit.ts'
import { readForm } from '../../http/endpoint/read-form.ts'
import type { PageRoutes } from '../../http/page-routes.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { mayOpenFrom, openConnectSession } from './connect-session.ts'
import { OPENER_SECONDS } from './domain.ts'
import { addEmbedScript } from './routes-script.ts'
import { CURRENT_PATH, connectSessionAt, SESSION_RATE } from './routes-session.ts'

export const embedRoutes: PageRoutes = {
  paths: ['/embed/*'],
  usersPaths: ['/embed/*', CURRENT_PATH, `${CURRENT_PATH}/*`],
  add(app, broker, limits) {
    addOpenSession(app, broker, limits) // /connect/session
    addEmbedScript(app) //                 /embed/v1.js
  },
}

/**
 * Receives the form by which a page of an application opens its connect session, in a popup or in its own tab. Checks the
 * origin that the browser sends, and binds the session to this browser, so that its link does not work in another one.
 */
function addOpenSession(app: OpenAPIHono, broker: Broker, limits: RequestLimits): void {
  const cookies = browserCookies(broker)
  const clientAddress = createClientAddress(broker.settings)

  app.post('/connect/session', async (c) => {
    if (!isTopLevel(c)) return endingResponse(c, { kind: 'refused_request' }, 403)
    const form = await readForm(c)
    const found = await connectSessionAt(c, broker, form.get('session_token') ?? '')
    if (found.outcome === 'unknown') limits.countGuess(clientAddress(c))
    else limits.charge({ id: found.session.id, rateLimit: SESSION_RATE })
    if (found.outcome !== 'live')
      return endingOf(
        c,
        broker,
        found.outcome === 'over' ? found.session : undefined,
        { kind: 'session_over' },
        410,
      )
    const { session, authorization } = found
    if (!mayOpenFrom(broker, session, c.req.header('origin'))) {
      broker.log.warn(
        {
          connectSessionId: session.id,
          origin: c.req.header('origin')?.slice(0, 200),
          allowed: session.origin,
        },
        'a connect session was not opened, because the form came from an origin other than its allowed_origin',
      )
      return endingOf(c, broker, authorization ?? session, { kind: 'other_origin' }, 403)
    }
    const { origin: connectPage } = broker.usersUrl(session.projectId)
    // the cookie that binds the session would not be sent to the connect page
    if (siteOf(c, broker).url.origin !== connectPage) {
      broker.log.warn(
        { connectSessionId: session.id, connectPage },
        'a connect session was not opened, because the form came to a host other than that of its connect page',
      )
      return endingOf(c, broker, authorization ?? session, { kind: 'refused_request' }, 403)
    }
    const openedIn = form.get('opened_in') === 'popup' ? 'popup' : 'tab'
    const value = await openConnectSession(broker, session, openedIn)
    cookies.keepOpener(c, session.id, { value, seconds: OPENER_SECONDS })
    if (authorization === undefined) {
      const window = openedIn === 'popup' ? 'closes' : undefined
      pageHeaders(c, window && { script: 'runs' })
      return endingOf(c, broker, session, { kind: 'completed', window }, 200)
    }
    pageHeaders(c)
    return c.redirect(connectUrl(broker, authorization), 303)
  })
}

/**
 * Whether the answer will be a page of its own and not a frame, which is forbidden. Browsers send `Sec-Fetch-Dest`
 * over https and to loopback hosts only; without the header the request is accepted.
 */
function isTopLevel(c: Context): boolean {
  const destination = c.req.header('sec-fetch-dest')
  return destination === undefined || destination === 'document'
}
