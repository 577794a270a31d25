import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { OpenedPageSession } from '../../flows/page-session.ts'
import { siteOf } from '../../http/connect/site.ts'
import { readForm } from '../../http/endpoint/read-form.ts'
import { requestId } from '../../http/endpoint/request-id.ts'
import { pageSessions } from '../../http/page-session/page-session.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { wordsFor } from '../../http/pages/texts/language-of.ts'
import { inContext } from '../../services/request-context.ts'
import type { PortalFrame } from './page-frame.ts'
import { type MeNote, noteQuery } from './page-notes.ts'
import { isStillValid } from './portal-rights.ts'

/** A request with a session of `/me`. */
export interface MeRequest {
  readonly c: Context
  readonly session: OpenedPageSession
}

/** What the pages of `/me` share: the session, the check of forms, and the redirect back to `/me`. */
export function meSession(broker: Broker) {
  const sessions = pageSessions(broker, 'me')

  /** Whether the request came to the origin for the project's users: the project's own domain, if it has one. */
  function isSiteOf(c: Context, projectId: string): boolean {
    return siteOf(c, broker).url.origin === broker.usersUrl(projectId).origin
  }

  async function open(c: Context): Promise<OpenedPageSession | undefined> {
    const session = await sessions.open(c)
    // on another origin the user could not reconnect an account: the content security policy forbids the redirect
    if (session === undefined || !isSiteOf(c, session.projectId)) return undefined
    return isStillValid(broker, session) ? session : undefined
  }

  function back(c: Context, session: OpenedPageSession, note?: MeNote): Response {
    pageHeaders(c)
    return c.redirect(note === undefined ? '/me' : `/me?${noteQuery(broker, session, note)}`, 303)
  }

  return {
    sessions,
    isSiteOf,
    open,
    back,
    /** Adds a page that needs a session. Without one it redirects to `/me`, which says how to get a session. */
    page(app: OpenAPIHono, path: string, show: (request: MeRequest) => Promise<Response>): void {
      app.get(path, async (c) => {
        const session = await open(c)
        if (session === undefined) return toStart(c)
        return asUser(c, session.subject, () => show({ c, session }))
      })
    },
    /**
     * Adds the handler of a form on such a page. A form that was not sent from a page of this session changes nothing.
     */
    form(
      app: OpenAPIHono,
      path: string,
      handle: (request: MeRequest & { readonly form: URLSearchParams }) => Promise<Response>,
    ): void {
      app.post(path, async (c) => {
        const session = await open(c)
        if (session === undefined) return toStart(c)
        const form = await readForm(c)
        if (!sessions.isOwnForm(c, session, form)) return back(c, session, { code: 'stale_form' })
        return asUser(c, session.subject, () => handle({ c, session, form }))
      })
    },
    async frame({ c, session }: MeRequest): Promise<PortalFrame> {
      const { projectId, subject, display, returnUrl, lang, csrf } = session
      const brand = await broker.brandOf(projectId)
      return {
        words: wordsFor(c, { language: lang, project: brand.language }),
        brand,
        user: display ?? subject,
        returnUrl,
        csrf,
      }
    },
  }
}

/** Calls `run` on behalf of this user, whom the audit trail names. The request cannot act for another user. */
export function asUser<T>(c: Context, userId: string, run: () => T): T {
  const purpose = `${c.req.method} ${c.req.path.replace(/(conn|mcpc|stap)_\w+/, '{id}')}`
  const actor = { kind: 'user', id: userId } as const
  return inContext({ actor, purpose, requestId: requestId(c), onlyUser: userId }, run)
}

export type MeSession = ReturnType<typeof meSession>

function toStart(c: Context): Response {
  pageHeaders(c)
  return c.redirect('/me', 303)
}
