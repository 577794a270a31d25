import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import type { LoginTrouble } from '../../flows/identify-user.ts'
import type { BegunLogin } from '../../flows/login/login-state.ts'
import {
  beginSessionLogin,
  CONFIRMED_PATH,
  type FinishedLogin,
  finishConfirmedLogin,
  finishOpenLogin,
  OPEN_PATH,
} from '../../flows/login/session-login.ts'
import { endPageSession } from '../../flows/page-session.ts'
import { beginSession, type IdentifiedUser, openSession, type UserSession } from '../../flows/user-session.ts'
import { userIdText } from '../../operations/schemas/fields.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { readForm } from '../endpoint/read-form.ts'
import { openLoginPage } from '../pages/open-login-page.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { wordsFor } from '../pages/texts/language-of.ts'
import { browserCookies } from './browser-cookies.ts'
import { isFromOwnPage } from './own-page.ts'
import { endingResponse } from './show-authorization.ts'
import { siteOf } from './site.ts'

/** The user who has logged in in this browser. */
export function sessionOf(c: Context, broker: Broker, projectId: string): Promise<UserSession | undefined> {
  return openSession(broker, projectId, browserCookies(broker).session(c), siteOf(c, broker).url)
}

/** Begins the session of a user who has logged in. It replaces the session that the browser had. */
export async function keepSession(c: Context, broker: Broker, user: IdentifiedUser): Promise<void> {
  const cookies = browserCookies(broker)
  cookies.keepSession(c, await beginSession(broker, user, cookies.session(c)))
}

/** Ends the session of this browser, also for those who have copied its cookie. */
export async function endSession(c: Context, broker: Broker): Promise<void> {
  const cookies = browserCookies(broker)
  await endPageSession(broker, cookies.session(c))
  cookies.forgetSession(c)
}

/**
 * Sends the browser to log in, and afterwards to `returnTo`, a path of this server. If the login fails, that path
 * gets the query parameter `login` with the reason.
 *
 * @param how.prompt the issuer asks for the user again, even if it has a session of its own.
 */
export async function sendToSessionLogin(
  c: Context,
  broker: Broker,
  how: { readonly projectId: string; readonly returnTo: string; readonly prompt?: 'login' | undefined },
): Promise<Response> {
  return sendToLoginPage(c, broker, how.returnTo, (browserId) =>
    beginSessionLogin(broker, { ...how, browserId, at: siteOf(c, broker).url }),
  )
}

/** Begins a login and redirects the browser to it. If no login can begin, redirects to `returnTo` with the reason. */
export async function sendToLoginPage(
  c: Context,
  broker: Broker,
  returnTo: string,
  begin: (browserId: string) => Promise<BegunLogin>,
): Promise<Response> {
  const cookies = browserCookies(broker)
  try {
    const login = await begin(cookies.bind(c))
    cookies.setLogin(c, login)
    pageHeaders(c)
    return c.redirect(login.loginUrl.href, 303)
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    broker.log.warn({ reason: error.reason, why: error.message }, 'a user could not be sent to log in')
    return returnFromLogin(c, returnTo, 'unavailable')
  }
}

export function returnFromLogin(c: Context, returnTo: string, trouble?: LoginTrouble): Response {
  pageHeaders(c)
  const before = returnTo.includes('?') ? '&' : '?'
  return c.redirect(trouble === undefined ? returnTo : `${returnTo}${before}login=${trouble}`, 303)
}

export function unknownLogin(c: Context): Response | Promise<Response> {
  return endingResponse(c, { kind: 'unknown_login' }, 403)
}

/**
 * Adds the last step of a login for a session without an issuer: the return from the caller's page that has confirmed
 * the user, or in development the page that asks for a user id.
 */
export function addSessionLogin(app: OpenAPIHono, broker: Broker): void {
  const { verifier, development } = broker.settings
  const cookies = browserCookies(broker)

  /** The login that this browser keeps under the hash of a state or a flow id. */
  function keptBy(c: Context, stateHash: string) {
    const browserId = cookies.idOf(c)
    return browserId === undefined ? undefined : { browserId, kept: cookies.keptLogin(c, stateHash) }
  }

  async function finish(c: Context, stateHash: string, finished: FinishedLogin | undefined) {
    if (finished === undefined) return unknownLogin(c)
    cookies.endLogin(c, stateHash)
    await keepSession(c, broker, finished.session)
    return returnFromLogin(c, finished.returnTo)
  }

  if (verifier.kind === 'caller')
    app.get(CONFIRMED_PATH, (c) => {
      const flowHash = c.req.query('flow') ?? ''
      const confirmation = c.req.query('confirmation') ?? ''
      const browser = keptBy(c, flowHash)
      return finish(
        c,
        flowHash,
        browser && finishConfirmedLogin(broker, { ...browser, flowHash, confirmation }),
      )
    })

  if (verifier.kind === 'open' && development) {
    app.get(OPEN_PATH, (c) => {
      pageHeaders(c, { hasForm: true })
      return c.html(openLoginPage({ state: c.req.query('state') ?? '', words: wordsFor(c) }))
    })
    app.post(OPEN_PATH, async (c) => {
      if (!isFromOwnPage(c, broker)) return unknownLogin(c)
      const form = await readForm(c)
      const state = form.get('state') ?? ''
      const userId = userIdText.safeParse(form.get('user_id')?.trim())
      if (!userId.success) {
        pageHeaders(c, { hasForm: true })
        return c.html(openLoginPage({ state, isRefused: true, words: wordsFor(c) }), 400)
      }
      const stateHash = sha256(state)
      const browser = keptBy(c, stateHash)
      return finish(
        c,
        stateHash,
        browser && finishOpenLogin(broker, { ...browser, state, userId: userId.data }),
      )
    })
  }
}
