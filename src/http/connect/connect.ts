import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type Authorization, authorizationAt } from '../../domain/authorization.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { awaitAuthorization } from '../../flows/await-authorization.ts'
import { cancelAuthorization } from '../../flows/cancel-authorization.ts'
import { chooseOffered, offeredTo } from '../../flows/choose-offered.ts'
import { endingUri } from '../../flows/ending-uri.ts'
import { finishConfirmed } from '../../flows/finish-confirmed.ts'
import { carryFormResponse } from '../../flows/form-response.ts'
import { LOGIN_TROUBLES } from '../../flows/identify-user.ts'
import { hasLoggedIn } from '../../flows/login/login-proof.ts'
import { receiveResponse } from '../../flows/receive-response.ts'
import { startAttempt } from '../../flows/start-attempt.ts'
import { mayClick } from '../../services/openers.ts'
import { callbackPath } from '../../services/users-origin.ts'
import { readForm } from '../endpoint/read-form.ts'
import { CHOICE_FIELD } from '../pages/choose-page.ts'
import { IDENTITY_FIELD, VALUE_PREFIX } from '../pages/connect-page.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { browserCookies } from './browser-cookies.ts'
import { addDevice, isOfDevice } from './device.ts'
import { isFromOwnPage } from './own-page.ts'
import { endedByChoice, popupWindow } from './popup-window.ts'
import { endSession, sessionOf } from './session-login.ts'
import {
  endingOf,
  isStartable,
  linkNotFound,
  openedElsewhere,
  showAuthorization,
} from './show-authorization.ts'
import { siteOf } from './site.ts'
import { sendToLogin, startAndRedirect } from './start-and-redirect.ts'
import { answerAtWrongSite } from './wrong-site.ts'

/** How long a page waits for a code that is being redeemed. Reverse proxies have longer timeouts. */
const MAX_WAIT_SECONDS = 20

/** Adds the routes of an authorization: the connect page, the click on it, and the callback from the provider. */
export function addConnect(app: OpenAPIHono, broker: Broker): void {
  const cookies = browserCookies(broker)

  async function find(id: string): Promise<Authorization | undefined> {
    const found = await broker.store.authorizations.find(id)
    return found && authorizationAt(found, broker.now())
  }

  async function start(
    c: Context,
    authorization: Authorization,
    { typed, identity }: Partial<SentForm> = {},
  ): Promise<Response> {
    const browserId = cookies.bind(c)
    const loginProof = cookies.loginProof(c)
    const sessionUser = (await sessionOf(c, broker, authorization.projectId))?.userId
    const finish = (finished: Authorization) => redirectToResult(c, finished, browserId)
    return startAndRedirect(c, broker, { id: authorization.id, browserId, typed, finish }, () =>
      startAttempt(broker, authorization, {
        browserId,
        loginProof,
        sessionUser,
        given: typed,
        shownIdentity: identity,
        openerOf: cookies.openerOf(c),
      }),
    )
  }

  /** Stores what the browser chose of what was offered to it after its approval. */
  async function choose(c: Context, authorization: Authorization, chosen: string): Promise<Response> {
    const outcome = await chooseOffered(broker, authorization, {
      chosen,
      browserId: cookies.idOf(c),
      sessionUser: (await sessionOf(c, broker, authorization.projectId))?.userId,
      openerOf: cookies.openerOf(c),
    })
    return outcome.outcome === 'wrong_browser'
      ? endingOf(c, broker, authorization, { kind: 'wrong_browser' }, 403)
      : redirectToResult(c, outcome.authorization)
  }

  /** The issuer at which the user of this browser must log in first; `undefined` when no login is needed. */
  async function loginNeeded(c: Context, authorization: Authorization): Promise<string | undefined> {
    const { verifier } = broker.settings
    if (verifier.kind !== 'oidc' || (await sessionOf(c, broker, authorization.projectId)) !== undefined)
      return undefined
    const browserId = cookies.idOf(c) ?? ''
    return hasLoggedIn(broker, verifier, authorization, browserId, cookies.loginProof(c))
      ? undefined
      : verifier.issuer
  }

  /** Waits while the code is being redeemed, so that the page shows the result. */
  async function awaitExchange(c: Context, authorization: Authorization): Promise<Authorization> {
    if (authorization.status !== 'exchanging') return authorization
    const { id, projectId } = authorization
    const how = { waitSeconds: MAX_WAIT_SECONDS, owner: 'connect pages', signal: c.req.raw.signal }
    return awaitAuthorization(broker, projectId, id, how)
  }

  async function isOfAnotherUser(c: Context, { projectId, userId }: Authorization): Promise<boolean> {
    const session = await sessionOf(c, broker, projectId)
    return session !== undefined && session.userId !== userId
  }

  function anotherUsersLink(c: Context, authorization: Authorization): Promise<Response> {
    const { verifier } = broker.settings
    const formTo = verifier.kind === 'oidc' ? [new URL(verifier.issuer)] : []
    pageHeaders(c, { hasForm: true, formTo })
    const again = `/connect/${authorization.id}?login=again`
    const view = { kind: 'another_user', reason: 'user_mismatch', again } as const
    return endingOf(c, broker, authorization, view, 403)
  }

  /**
   * Answers an authorization response that was not accepted. At the domain of a project the page has the look of that
   * project, else the look of the project whose redirect URI was called.
   */
  async function responseNotAccepted(
    c: Context,
    providerUid: string,
    kind: 'unknown_state' | 'wrong_provider' | 'wrong_browser',
    status: 400 | 403,
  ): Promise<Response> {
    const { projectId } = siteOf(c, broker)
    const of = projectId === undefined ? await broker.store.providers.findByUid(providerUid) : { projectId }
    return endingOf(c, broker, of, { kind }, status)
  }

  /**
   * Ends this browser's session, which is another user's. If users log in at an issuer, begins a login with
   * `prompt=login`, because the issuer may have a session of the other user too.
   */
  async function logInAgain(c: Context, authorization: Authorization): Promise<Response> {
    const { verifier } = broker.settings
    await endSession(c, broker)
    if (verifier.kind === 'oidc')
      return sendToLogin(c, broker, { verifier, authorization }, cookies.bind(c), 'login')
    pageHeaders(c)
    return c.redirect(connectUrl(broker, authorization), 303)
  }

  /**
   * Redirects to the caller's `next_uri` if the authorization is completed or its user has refused. Otherwise, and in
   * a popup, redirects to the page of the authorization, which shows the result.
   */
  async function redirectToResult(
    c: Context,
    authorization: Authorization,
    browserId: string | undefined = cookies.idOf(c),
  ): Promise<Response> {
    // a clean URL: the code does not stay in the address bar, the history or a Referer (RFC 9700 section 4.2)
    pageHeaders(c)
    // a popup is not sent to the caller: the page that opened the popup shows the result
    const isPopup = (await popupWindow(c, broker, authorization)) !== undefined
    const nextUri =
      isPopup || !endedByChoice(authorization) ? undefined : endingUri(broker, authorization, browserId)
    return c.redirect(nextUri ?? connectUrl(broker, authorization), 303)
  }

  app.get('/connect/:id', async (c) => {
    const authorization = await find(c.req.param('id'))
    if (authorization === undefined) return linkNotFound(c)
    const moved = answerAtWrongSite(c, broker, authorization)
    if (moved !== undefined) return moved
    if (c.req.method === 'GET' && isStartable(authorization))
      broker.uses.used('links', authorization.id, broker.now())
    if (isStartable(authorization) && !(await mayClick(broker, authorization, cookies.openerOf(c))))
      return openedElsewhere(c, broker, authorization)
    if (authorization.connectSessionId !== undefined) cookies.limitOpeners(c, authorization.connectSessionId)
    // another user's link does not end the session of this browser: the page only offers to log in as that other user
    if (isStartable(authorization) && (await isOfAnotherUser(c, authorization)))
      return anotherUsersLink(c, authorization)
    const trouble = LOGIN_TROUBLES.find((reason) => reason === c.req.query('login'))
    // a HEAD request, as link checkers send it, starts no attempt
    const skipsPage =
      broker.settings.connectPage === 'pass' &&
      c.req.method === 'GET' &&
      trouble === undefined &&
      offeredTo(broker, authorization, cookies.idOf(c)) === undefined
    if (skipsPage && isStartable(authorization) && !(await isOfDevice(broker, authorization)))
      return start(c, authorization)
    const shown = c.req.method === 'GET' ? await awaitExchange(c, authorization) : authorization
    return showAuthorization(c, broker, shown, { trouble, loginAt: await loginNeeded(c, shown) })
  })

  app.post('/connect/:id', async (c) => {
    const authorization = await find(c.req.param('id'))
    const moved = authorization && answerAtWrongSite(c, broker, authorization)
    if (moved !== undefined) return moved
    if (!isFromOwnPage(c, broker)) return endingOf(c, broker, authorization, { kind: 'foreign_click' }, 403)
    if (authorization === undefined) return linkNotFound(c)
    if (!isStartable(authorization)) return showAuthorization(c, broker, authorization)
    if (c.req.query('login') === 'again') return logInAgain(c, authorization)
    const form = await readSentForm(c)
    const { chosen } = form
    return chosen === undefined ? start(c, authorization, form) : choose(c, authorization, chosen)
  })

  app.post('/connect/:id/cancel', async (c) => {
    const authorization = await find(c.req.param('id'))
    const moved = authorization && answerAtWrongSite(c, broker, authorization)
    if (moved !== undefined) return moved
    if (!isFromOwnPage(c, broker)) return endingOf(c, broker, authorization, { kind: 'foreign_click' }, 403)
    if (authorization === undefined) return linkNotFound(c)
    if (isStartable(authorization) && !(await mayClick(broker, authorization, cookies.openerOf(c))))
      return openedElsewhere(c, broker, authorization)
    if (isStartable(authorization) && (await isOfAnotherUser(c, authorization)))
      return anotherUsersLink(c, authorization)
    const browserId = cookies.bind(c)
    const cancelled = await cancelAuthorization(broker, authorization, browserId)
    if (cancelled.outcome !== 'held_elsewhere') return redirectToResult(c, cancelled.authorization, browserId)
    return endingOf(c, broker, authorization, { kind: 'held_elsewhere' }, 403)
  })

  addDevice(app, broker, {
    find,
    sessionUserOf: async (c, { projectId }) => (await sessionOf(c, broker, projectId))?.userId,
    async refuse(c, authorization) {
      const moved = authorization && answerAtWrongSite(c, broker, authorization)
      if (moved !== undefined) return moved
      if (!isFromOwnPage(c, broker)) return endingOf(c, broker, authorization, { kind: 'foreign_click' }, 403)
      return authorization === undefined ? linkNotFound(c) : undefined
    },
    redirect: (c, { id }, browserId, answer) =>
      startAndRedirect(
        c,
        broker,
        { id, browserId: browserId ?? '', finish: (ended) => redirectToResult(c, ended, browserId) },
        answer,
      ),
  })

  app.get('/callback/:uid', async (c) => {
    const query = new URL(c.req.url).searchParams
    const browserId = cookies.idOf(c)
    const { projectId } = siteOf(c, broker)
    const providerUid = c.req.param('uid')
    const received = await receiveResponse(broker, {
      providerUid,
      query,
      browserId,
      projectId,
      keptState: cookies.state(c),
    })
    switch (received.outcome) {
      case 'begun_at_provider':
        pageHeaders(c)
        return c.redirect(received.path, 303)
      case 'installed':
        return start(c, received.authorization, { typed: received.given })
      case 'unknown_state':
      case 'wrong_provider':
        return responseNotAccepted(c, providerUid, received.outcome, 400)
      case 'wrong_browser':
        return responseNotAccepted(c, providerUid, received.outcome, 403)
      case 'confirm':
        pageHeaders(c)
        return c.redirect(received.verifierUrl.href, 303)
      case 'current': {
        const { authorization } = received
        const isExpired = authorization.status === 'failed' && authorization.reason === 'expired'
        if (isExpired && endingUri(broker, authorization, browserId) === undefined)
          return showAuthorization(c, broker, authorization)
        return redirectToResult(c, authorization)
      }
    }
  })

  // the browser sends no cookies with a form from another site, but it does with the redirected request
  app.post('/callback/:uid', async (c) => {
    const providerUid = c.req.param('uid')
    const form = await readForm(c)
    const query = await carryFormResponse(broker, { providerUid, form })
    if (query === undefined) return responseNotAccepted(c, providerUid, 'unknown_state', 400)
    pageHeaders(c)
    const callback = new URL(callbackPath(providerUid), siteOf(c, broker).url)
    callback.search = query.toString()
    return c.redirect(callback.href, 303)
  })

  app.get('/connect/:id/finish', async (c) => {
    const id = c.req.param('id')
    // a HEAD request, as link checkers send it, redeems no code
    if (c.req.method !== 'GET') return c.body(null, 405, { allow: 'GET' })
    const proof = c.req.query('confirmation') ?? ''
    const { projectId } = siteOf(c, broker)
    const finished = await finishConfirmed(broker, { id, proof, browserId: cookies.idOf(c), projectId })
    switch (finished.outcome) {
      case 'not_found':
        return linkNotFound(c)
      case 'wrong_browser':
        return endingOf(c, broker, await find(id), { kind: 'confirmed_elsewhere' }, 403)
      case 'current':
        return redirectToResult(c, finished.authorization)
    }
  })
}

interface SentForm {
  /** The values, by the variable's name. */
  readonly typed: Readonly<Record<string, string>>
  /** The identity of the provider for which the form was made. */
  readonly identity: string | undefined
  /** The installation that was chosen. */
  readonly chosen: string | undefined
}

async function readSentForm(c: Context): Promise<SentForm> {
  const type = c.req.header('content-type') ?? ''
  const isForm = /^application\/x-www-form-urlencoded\b/.test(type)
  const form = isForm ? await readForm(c) : new URLSearchParams()
  const typed = Object.fromEntries(
    [...form].flatMap(([name, value]) =>
      name.startsWith(VALUE_PREFIX) ? [[name.slice(VALUE_PREFIX.length), value] as const] : [],
    ),
  )
  return {
    typed,
    identity: form.get(IDENTITY_FIELD) ?? undefined,
    chosen: form.get(CHOICE_FIELD) ?? undefined,
  }
}
