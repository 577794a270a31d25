import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { finishLogin } from '../../flows/login/login.ts'
import type { PageRoutes } from '../page-routes.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { browserCookies } from './browser-cookies.ts'
import { keepSession, returnFromLogin, unknownLogin } from './session-login.ts'
import { showAuthorization } from './show-authorization.ts'
import { startAndRedirect } from './start-and-redirect.ts'

/**
 * Adds the callback of the broker's own login at an issuer. A click on the connect page begins such a login, and so
 * does a page that needs a session. `beginSession` begins that of a feature’s pages.
 */
export function addLogin(app: OpenAPIHono, broker: Broker, beginSession?: PageRoutes['beginSession']): void {
  const { verifier } = broker.settings
  if (verifier.kind !== 'oidc') return
  const cookies = browserCookies(broker)

  app.get('/login/callback', async (c) => {
    const query = new URL(c.req.url).searchParams
    const stateHash = sha256(query.get('state') ?? '')
    const browserId = cookies.idOf(c)
    const kept = cookies.keptLogin(c, stateHash)
    const finished = await finishLogin(broker, verifier, {
      query,
      browserId,
      kept,
      openerOf: cookies.openerOf(c),
    })
    if (finished.outcome === 'unknown_login' || browserId === undefined) return unknownLogin(c)
    switch (finished.outcome) {
      case 'session':
        cookies.endLogin(c, stateHash)
        await keepSession(c, broker, finished.session)
        return returnFromLogin(c, finished.returnTo)
      case 'page_session':
        cookies.endLogin(c, stateHash)
        await beginSession?.(c, broker, finished)
        return returnFromLogin(c, finished.returnTo)
      case 'session_trouble':
        cookies.endLogin(c, stateHash)
        return returnFromLogin(c, finished.returnTo, finished.trouble)
      case 'logged_in': {
        const { authorization, proof, session, start } = finished
        cookies.endLogin(c, stateHash, proof)
        // another user's session in this browser is replaced
        if (cookies.session(c) !== undefined) await keepSession(c, broker, session)
        return startAndRedirect(c, broker, { id: authorization.id, browserId }, start)
      }
      case 'current': {
        const { authorization } = finished
        cookies.endLogin(c, stateHash)
        if (authorization.status === 'failed' && authorization.reason === 'expired')
          return showAuthorization(c, broker, authorization)
        // a clean URL: the code does not stay in the address bar, the history or a Referer (RFC 9700 section 4.2)
        pageHeaders(c)
        return c.redirect(connectUrl(broker, authorization), 303)
      }
      case 'trouble': {
        cookies.endLogin(c, stateHash)
        pageHeaders(c)
        return c.redirect(`${connectUrl(broker, finished.authorization)}?login=${finished.trouble}`, 303)
      }
    }
  })
}
