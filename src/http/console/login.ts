import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { isLoopbackHost } from '../../domain/confidential-url.ts'
import { BrokerError } from '../../domain/errors.ts'
import { sha256 } from '../../domain/ids.ts'
import {
  chooseProject,
  isKeyOf,
  logInWithKey,
  openConsoleSession,
} from '../../flows/console/console-session.ts'
import { type DeveloperLink, ENTER_PATH } from '../../flows/console/developer-link.ts'
import { beginConsoleLogin, CONSOLE_CALLBACK, finishConsoleLogin } from '../../flows/console/issuer-login.ts'
import { endPageSession } from '../../flows/page-session.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { inContext } from '../../services/request-context.ts'
import { browserCookies } from '../connect/browser-cookies.ts'
import { isFromOwnPage } from '../connect/own-page.ts'
import { hostNameOf } from '../connect/site.ts'
import { createClientAddress } from '../endpoint/client-address.ts'
import { STATUS } from '../endpoint/errors.ts'
import { createAddressLimit } from '../endpoint/rate-limit.ts'
import { readForm } from '../endpoint/read-form.ts'
import { pageSessions } from '../page-session/page-session.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { confirmPage, enterPage, LOGIN_PROBLEMS, loginPage } from './login-page.ts'
import { type ConsoleRoutes, safeNext } from './routes.ts'

/**
 * How many logins from one address may fail before the page says so by 429. A valid key is accepted even then, as in the
 * API: its 256 bits cannot be guessed at any rate, and a client that fails on purpose must not lock out those who share
 * its proxy.
 */
const FAILURES = { burst: 20, perSecond: 20 / 60 }

/** How many links the terminal prints when a page asks for one. */
const PRINTS = { burst: 5, perSecond: 1 / 10 }

/** Development only: links that log in, and the terminal that prints them. */
export interface PrintedLinks {
  readonly link: DeveloperLink
  readonly print: (url: string) => void
}

/** Lets operators log in to the console, confirm their login, choose a project, and log out. */
export function addConsoleLogin(
  app: OpenAPIHono,
  broker: Broker,
  routes: ConsoleRoutes,
  { links }: { readonly links?: PrintedLinks | undefined } = {},
): void {
  const sessions = pageSessions(broker, 'console')
  const cookies = browserCookies(broker)
  const { issuer } = broker.settings.dashboard
  const clientAddress = createClientAddress(broker.settings)
  const countFailure = createAddressLimit(FAILURES)
  const formTo = issuer === undefined ? [] : [new URL(issuer.issuer)]

  /** A page at another host name may have been rebound to this address, so no link is printed or accepted there. */
  const isElsewhere = (c: Context) => !isLoopbackHost(hostNameOf(c.req.header('host')))
  const hasLinks = (c: Context) => links !== undefined && !isElsewhere(c)

  function show(
    c: Context,
    next: string,
    problem?: string,
    status: 200 | 400 | 401 | 403 | 410 | 429 | 503 = 200,
    done?: string,
  ) {
    pageHeaders(c, { hasForm: true, formTo })
    return c.html(
      loginPage({
        next,
        hasLinks: hasLinks(c),
        ...(done !== undefined && { done }),
        ...(issuer !== undefined && { issuerHost: new URL(issuer.issuer).host }),
        ...(problem !== undefined && { problem }),
      }),
      status,
    )
  }

  app.get('/dashboard/login', async (c) => {
    const next = safeNext(c.req.query('next'))
    if ((await openConsoleSession(broker, sessions.token(c))) !== undefined) return redirect(c, next)
    return show(c, next)
  })

  /** Login by key. The form has no session and no CSRF token yet, so only its origin is checked. */
  app.post('/dashboard/login', async (c) => {
    const form = await readForm(c)
    const next = safeNext(form.get('next'))
    if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' }))
      return show(c, next, LOGIN_PROBLEMS.foreign, 403)
    if (form.get('how') === 'issuer') return toIssuer(c, next)
    return withKey(c, form, async (key) => {
      sessions.keep(c, await logInWithKey(broker, key, { replaces: sessions.token(c) }))
      return redirect(c, next)
    })
  })

  /** Runs a login with the form's key; its refusals are shown on the login page, and counted. */
  async function withKey(
    c: Context,
    form: URLSearchParams,
    run: (key: string) => Promise<Response>,
  ): Promise<Response> {
    const next = safeNext(form.get('next'))
    try {
      return await run(form.get('key')?.trim() ?? '')
    } catch (error) {
      if (!(error instanceof BrokerError) || STATUS[error.code] >= 500) throw error
      const seconds = countFailure(clientAddress(c))
      if (seconds > 0) return show(c, next, LOGIN_PROBLEMS.too_many, 429)
      const refused = error.code === 'insufficient_role'
      return show(c, next, error.message, refused ? 403 : 401)
    }
  }

  if (links !== undefined) addLinks(links)

  function addLinks({ link, print }: PrintedLinks): void {
    const mayPrint = createAddressLimit(PRINTS)

    app.get(ENTER_PATH, async (c) => {
      if (isElsewhere(c)) return show(c, '', LOGIN_PROBLEMS.other_host, 403)
      const ticket = c.req.query('ticket') ?? ''
      const next = safeNext(c.req.query('next'))
      if (!link.isValid(ticket)) return show(c, next, LOGIN_PROBLEMS.gone, 410)
      pageHeaders(c, { hasForm: true })
      return c.html(enterPage(ticket, next))
    })

    app.post(ENTER_PATH, async (c) => {
      const form = await readForm(c)
      const next = safeNext(form.get('next'))
      if (isElsewhere(c)) return show(c, '', LOGIN_PROBLEMS.other_host, 403)
      if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' }))
        return show(c, next, LOGIN_PROBLEMS.foreign, 403)
      const begun = await link.enter(form.get('ticket') ?? '', { replaces: sessions.token(c) })
      if (begun === undefined) return show(c, next, LOGIN_PROBLEMS.gone, 410)
      sessions.keep(c, begun)
      return redirect(c, next)
    })

    app.post('/dashboard/link', async (c) => {
      const next = safeNext((await readForm(c)).get('next'))
      if (isElsewhere(c)) return show(c, '', LOGIN_PROBLEMS.other_host, 403)
      if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' }))
        return show(c, next, LOGIN_PROBLEMS.foreign, 403)
      if (mayPrint(clientAddress(c)) > 0) return show(c, next, LOGIN_PROBLEMS.printed, 429)
      print(link.renew(next))
      return show(c, next, undefined, 200, 'A new link is in the terminal in which Gatepass runs.')
    })
  }

  async function toIssuer(c: Context, returnTo: string, confirms?: string): Promise<Response> {
    if (issuer === undefined) return show(c, returnTo, LOGIN_PROBLEMS.no_issuer, 400)
    try {
      const login = await beginConsoleLogin(broker, issuer, {
        browserId: cookies.bind(c),
        returnTo,
        confirms,
      })
      cookies.setLogin(c, login)
      pageHeaders(c)
      return c.redirect(login.loginUrl.href, 303)
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error
      broker.log.warn({ reason: error.reason, why: error.message }, 'an operator could not be sent to log in')
      return show(c, returnTo, LOGIN_PROBLEMS.unavailable, 503)
    }
  }

  if (issuer !== undefined)
    app.get(CONSOLE_CALLBACK, async (c) => {
      const query = new URL(c.req.url).searchParams
      const stateHash = sha256(query.get('state') ?? '')
      const token = sessions.token(c)
      const finished = await finishConsoleLogin(broker, issuer, {
        query,
        browserId: cookies.idOf(c),
        kept: cookies.keptLogin(c, stateHash),
        replaces: token,
        shownProjectId: (await openConsoleSession(broker, token))?.project.id,
      })
      if (finished.outcome === 'unknown_login') return show(c, '', LOGIN_PROBLEMS.unknown_login, 403)
      cookies.endLogin(c, stateHash)
      if (finished.outcome === 'trouble') {
        const status = finished.trouble === 'unavailable' ? 503 : 403
        return show(c, '', LOGIN_PROBLEMS[finished.trouble], status)
      }
      sessions.keep(c, finished.begun)
      return redirect(c, finished.returnTo)
    })

  routes.page('/confirm', (on) => {
    const next = safeNext(on.query('next'))
    if (on.session.isRecent) return on.go(next)
    pageHeaders(on.c, { hasForm: true, formTo })
    return on.c.html(confirmPage(on.session, { next, hasLinks: hasLinks(on.c), issuerHost: formTo[0]?.host }))
  })

  routes.form(
    '/confirm',
    async (on, form) => {
      const { c, session } = on
      const next = safeNext(form.get('next'))
      const { opened } = session
      if (opened.authority !== 'key') return toIssuer(c, next, opened.subject)
      const presented = form.get('key')?.trim() ?? ''
      if (!isKeyOf(session, presented)) {
        const tooMany = countFailure(clientAddress(c)) > 0
        pageHeaders(c, { hasForm: true, formTo })
        const problem = tooMany ? LOGIN_PROBLEMS.too_many : LOGIN_PROBLEMS.other_key
        return c.html(confirmPage(session, { next, hasLinks: hasLinks(c), problem }), tooMany ? 429 : 403)
      }
      // a new token, as at every login
      sessions.keep(c, await logInWithKey(broker, presented, { replaces: sessions.token(c) }))
      return on.go(next)
    },
    { readonly: true, ofSession: true },
  )

  routes.form(
    '/project',
    async (on, form) => {
      await chooseProject(broker, on.session, form.get('project') ?? '')
      return on.go('')
    },
    { readonly: true, ofSession: true },
  )

  routes.form(
    '/logout',
    async ({ c, session }) => {
      const { opened } = session
      const audit = inContext({ actor: session.actor, purpose: 'POST /dashboard/logout' }, () =>
        broker.audit.of(opened.projectId, { action: 'console.logged_out', subject: opened.subject }),
      )
      await endPageSession(broker, sessions.token(c), audit)
      sessions.forget(c)
      return redirect(c, '/login')
    },
    { readonly: true, ofSession: true },
  )

  function redirect(c: Context, to: string): Response {
    pageHeaders(c)
    return c.redirect(`/dashboard${to}`, 303)
  }
}
