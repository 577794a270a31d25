import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { LOGIN_TROUBLES } from '../../flows/identify-user.ts'
import { beginLogin, type PageLogin } from '../../flows/login/login.ts'
import { beginPageSession, LONGEST_SECONDS } from '../../flows/page-session.ts'
import { verifierName } from '../../flows/user-session.ts'
import { isFromOwnPage } from '../../http/connect/own-page.ts'
import { sendToLoginPage } from '../../http/connect/session-login.ts'
import { endingOf } from '../../http/connect/show-authorization.ts'
import { siteOf } from '../../http/connect/site.ts'
import { pageSessions } from '../../http/page-session/page-session.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { wordsFor } from '../../http/pages/texts/language-of.ts'
import { outsidePage } from './page-enter.ts'
import { PORTAL_PATH, portalProject } from './portal-link.ts'
import { RIGHTS_OF_LOGIN } from './portal-rights.ts'
import { DATA_PATH } from './routes-data.ts'
import { asUser, type MeSession } from './routes-session.ts'

const LOGIN_PATH = '/me/login'

/** The login at the issuer for `/me`. Without an issuer there is only the caller's one-time link. */
export function addMeLogin(app: OpenAPIHono, broker: Broker, { isSiteOf, open }: MeSession) {
  const { verifier } = broker.settings

  /** `confirms`: the issuer must authenticate the user again, although the browser has a session of `/me`. */
  async function logIn(
    c: Context,
    { projectId, returnTo, confirms }: { projectId: string; returnTo: string; confirms: boolean },
  ): Promise<Response> {
    if (verifier.kind !== 'oidc') return outside(c)
    const session = { projectId, returnTo, page: 'me', ...(confirms && { confirms }) } as const
    return sendToLoginPage(c, broker, returnTo, (browserId) =>
      beginLogin(
        broker,
        verifier,
        { session },
        {
          browserId,
          at: siteOf(c, broker).url,
          // with `max_age` the issuer has to say when the user logged in (OpenID Connect Core section 2)
          ...(confirms ? { prompt: 'login', maxAge: 0 } : { maxAge: LONGEST_SECONDS.me }),
        },
      ),
    )
  }

  /** The project whose own domain the request came to; at the public URL the project that the request names. */
  async function projectAt(c: Context, named?: string): Promise<string> {
    return siteOf(c, broker).projectId ?? portalProject(broker, named)
  }

  function outside(c: Context): Response | Promise<Response> {
    pageHeaders(c)
    return c.html(outsidePage(wordsFor(c)), 403)
  }

  app.post(LOGIN_PATH, async (c) => {
    if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' })) return outside(c)
    const session = await open(c)
    return logIn(c, {
      projectId: session?.projectId ?? (await projectAt(c, c.req.query('project'))),
      returnTo: session === undefined ? inProject(PORTAL_PATH, c) : DATA_PATH,
      confirms: session !== undefined,
    })
  })

  return {
    /** Answers a browser that has no session. */
    async start(c: Context): Promise<Response> {
      if (verifier.kind !== 'oidc') return outside(c)
      const projectId = await projectAt(c, c.req.query('project'))
      if (!isSiteOf(c, projectId)) {
        pageHeaders(c)
        return c.redirect(new URL(PORTAL_PATH, broker.usersUrl(projectId)).href, 303)
      }
      const trouble = LOGIN_TROUBLES.find((reason) => reason === c.req.query('login'))
      if (trouble === undefined)
        return logIn(c, { projectId, returnTo: inProject(PORTAL_PATH, c), confirms: false })
      pageHeaders(c, { hasForm: true, formTo: [new URL(verifier.issuer)] })
      const status = trouble === 'unavailable' ? 503 : 200
      const again = inProject(LOGIN_PATH, c)
      return endingOf(c, broker, { projectId }, { kind: `login_${trouble}`, again }, status)
    },
  }
}

/** The path with the project that the browser asked for, if it named one. */
function inProject(path: string, c: Context): string {
  const project = c.req.query('project')
  return project === undefined ? path : `${path}?${new URLSearchParams({ project })}`
}

/** Begins the session of a user who has logged in at the issuer. */
export async function beginMeSession(
  c: Context,
  broker: Broker,
  { projectId, userId, authTime }: PageLogin,
): Promise<void> {
  const sessions = pageSessions(broker, 'me')
  const begun = await asUser(c, userId, () =>
    beginPageSession(broker, {
      kind: 'me',
      projectId,
      subject: userId,
      may: RIGHTS_OF_LOGIN,
      authority: verifierName(broker.settings.verifier),
      authTime,
      replaces: sessions.token(c),
      audit: broker.audit.of(projectId, { action: 'portal.entered', userId, reason: 'login' }),
    }),
  )
  sessions.keep(c, begun)
}
