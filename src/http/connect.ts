import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import type { Broker } from '../broker.ts'
import { type Authorization, at, currentStep } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { randomToken } from '../domain/ids.ts'
import { connectUrl } from '../flows/begin-authorization.ts'
import { findProviderByUid } from '../flows/find-provider.ts'
import { receiveResponse } from '../flows/receive-response.ts'
import { startAttempt } from '../flows/start-attempt.ts'
import { type PageStatus, pageHeaders } from './page-response.ts'
import { connectPage } from './pages/connect-page.ts'
import { type EndingView, endingPage } from './pages/ending-page.ts'

/** What a browser does: the connect page, the click on it, and the way back from the provider. */
export function addConnect(app: OpenAPIHono, broker: Broker): void {
  const secure = broker.settings.publicUrl.protocol === 'https:'
  const browserCookie = secure ? '__Host-gatepass' : 'gatepass'

  /** The browser's id, given to it now if it has none. It only ever tells browsers apart. */
  function bindBrowser(c: Context): string {
    const known = getCookie(c, browserCookie)
    if (known !== undefined && /^[\w-]{43}$/.test(known)) return known
    const id = randomToken()
    setCookie(c, browserCookie, id, { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge: 3600 })
    return id
  }

  async function find(id: string): Promise<Authorization | undefined> {
    const found = await broker.store.authorizations.find(id)
    return found && at(found, broker.now())
  }

  async function start(c: Context, authorization: Authorization): Promise<Response> {
    const browserId = bindBrowser(c)
    try {
      const started = await startAttempt(broker, authorization, browserId)
      if (started.outcome === 'not_startable') return show(c, broker, started.authorization)
      pageHeaders(c)
      return c.redirect(started.authorizationUrl.href, 303)
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      broker.log.warn(
        { authorizationId: authorization.id, reason: error.code, why: error.message },
        'an authorization could not be started',
      )
      return ending(c, { kind: 'problem', message: NOT_SET_UP }, 503)
    }
  }

  app.get('/connect/:id', async (c) => {
    const authorization = await find(c.req.param('id'))
    if (authorization === undefined) return notFound(c)
    // a HEAD, as link checkers send it, opens nothing
    const opens = broker.settings.connectPage === 'pass' && c.req.method === 'GET'
    if (opens && isStartable(authorization)) return start(c, authorization)
    return show(c, broker, authorization)
  })

  app.post('/connect/:id', async (c) => {
    if (!isFromOwnPage(c, broker)) return ending(c, { kind: 'problem', message: FOREIGN_CLICK }, 403)
    const authorization = await find(c.req.param('id'))
    if (authorization === undefined) return notFound(c)
    return isStartable(authorization) ? start(c, authorization) : show(c, broker, authorization)
  })

  app.get('/callback/:uid', async (c) => {
    const query = new URL(c.req.url).searchParams
    const browserId = getCookie(c, browserCookie)
    const received = await receiveResponse(broker, { providerUid: c.req.param('uid'), query, browserId })
    switch (received.outcome) {
      case 'unknown_state':
        return ending(c, { kind: 'unknown_state', message: UNKNOWN_STATE }, 400)
      case 'wrong_provider':
        return ending(c, { kind: 'wrong_provider', message: WRONG_PROVIDER }, 400)
      case 'wrong_browser':
        return ending(c, { kind: 'wrong_browser', message: WRONG_BROWSER }, 403)
      case 'confirm':
        pageHeaders(c)
        return c.redirect(received.verifierUrl.href, 303)
      case 'stands': {
        const { authorization } = received
        if (authorization.status === 'failed' && authorization.reason === 'expired')
          return show(c, broker, authorization)
        const done = authorization.status === 'completed' ? authorization.nextUri : undefined
        // a clean URL: the code does not stay in the address bar, the history or a Referer (RFC 9700 section 4.2)
        pageHeaders(c)
        return c.redirect(done ?? connectUrl(broker, authorization), 303)
      }
    }
  })
}

const NOT_SET_UP =
  'The provider is not set up completely, so you cannot be sent there. Whoever runs this service finds the reason in its log.'
const FOREIGN_CLICK = 'This did not come from the page you were shown. Open the link again and click there.'
const UNKNOWN_STATE =
  'This answer belongs to no request that is open here: a newer click has taken its place, or it was made up.'
const WRONG_PROVIDER = 'This answer came back by another way than it was asked for, so it was not used.'
const WRONG_BROWSER = 'This was started in another browser than this one.'

/** Whether a click starts a new attempt: also while an earlier one waits for the user to be confirmed. */
function isStartable({ status }: Authorization): boolean {
  return status === 'pending' || status === 'confirming'
}

/** The authorization as its page: the connect page while it is pending, else how it ended. */
async function show(c: Context, broker: Broker, authorization: Authorization): Promise<Response> {
  const names = new Map<string, string>()
  for (const { providerUid } of authorization.steps) {
    const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
    names.set(providerUid, entry?.provider.displayName ?? 'a removed provider')
    if (entry !== undefined && providerUid === currentStep(authorization).providerUid)
      pageHeaders(c, { formTo: new URL(entry.provider.authorizationRequest.endpoint) })
  }
  const { requester, userId, nextUri } = authorization
  const providerName = names.get(currentStep(authorization).providerUid) ?? ''
  const about = { providerName, userId, ...(requester !== undefined && { requester }) }
  switch (authorization.status) {
    case 'pending':
      return c.html(
        connectPage({
          ...about,
          scopes: currentStep(authorization).scopes,
          step: authorization.step,
          steps: authorization.steps.map(({ providerUid, connectionId }) => ({
            providerName: names.get(providerUid) ?? '',
            done: connectionId !== undefined,
          })),
          expiresAt: authorization.expiresAt,
          now: broker.now(),
          action: `/connect/${authorization.id}`,
        }),
      )
    case 'confirming':
      return ending(
        c,
        {
          kind: 'waiting_for_confirmation',
          ...about,
          message: 'Your application is making sure that it is you.',
          again: `/connect/${authorization.id}`,
        },
        200,
      )
    case 'exchanging':
      return ending(c, { kind: 'working', ...about, message: 'This takes a moment.' }, 200)
    case 'completed': {
      const accounts = await Promise.all(
        authorization.steps.map(({ connectionId = '' }) => broker.store.connections.find(connectionId)),
      )
      const account = accounts
        .map((one) => one?.account.name ?? '')
        .filter(Boolean)
        .join(', ')
      const all = [...new Set(names.values())].join(', ')
      const message = `${requester ?? 'Your application'} can now use ${all} for you.`
      return ending(
        c,
        {
          kind: 'completed',
          ...about,
          providerName: all,
          message,
          ...(account !== '' && { account }),
          ...(nextUri !== undefined && { nextUri }),
        },
        200,
      )
    }
    case 'failed': {
      const { reason, message } = authorization
      return ending(c, { kind: 'failed', ...about, reason, message }, reason === 'expired' ? 410 : 200)
    }
  }
}

function notFound(c: Context): Response | Promise<Response> {
  const message =
    'There is no such link, or it was opened long after it ended. Ask your application for a new one.'
  return ending(c, { kind: 'not_found', message }, 404)
}

function ending(c: Context, page: EndingView, status: PageStatus): Response | Promise<Response> {
  if (c.res.headers.get('content-security-policy') === null) pageHeaders(c)
  return c.html(endingPage(page), status)
}

/**
 * Whether a click came from this broker's own page and not from another site's form. Browsers say so in Sec-Fetch-Site;
 * with `Referrer-Policy: no-referrer` they send `Origin: null` even for the page's own form.
 */
function isFromOwnPage(c: Context, broker: Broker): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('origin')
  return origin === undefined || origin === broker.settings.publicUrl.origin
}
