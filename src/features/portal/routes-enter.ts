import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { isFromOwnPage } from '../../http/connect/own-page.ts'
import { siteOf } from '../../http/connect/site.ts'
import { readForm } from '../../http/endpoint/read-form.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { wordsFor } from '../../http/pages/texts/language-of.ts'
import type { PortalTicket } from './domain.ts'
import { enterPage, goneLinkPage } from './page-enter.ts'
import { ENTER_PATH, enterPortal, findPortalTicket, PORTAL_PATH } from './portal-link.ts'
import { asUser, type MeSession } from './routes-session.ts'

/** The pages of a caller's one-time link: a button spends the link and begins the session. */
export function addEnter(app: OpenAPIHono, broker: Broker, { sessions, isSiteOf }: MeSession): void {
  function gone(c: Context): Response | Promise<Response> {
    pageHeaders(c)
    return c.html(goneLinkPage(wordsFor(c)), 410)
  }

  /** Whether the request came to the domain of a project that is not the ticket's. */
  function isForeign(c: Context, ticket: PortalTicket): boolean {
    return (siteOf(c, broker).projectId ?? ticket.projectId) !== ticket.projectId
  }

  app.get(ENTER_PATH, async (c) => {
    const ticket = c.req.query('ticket') ?? ''
    const found = await findPortalTicket(broker, ticket)
    if (found === undefined || isForeign(c, found)) return gone(c)
    const { projectId, userId, userDisplay, lang } = found
    if (!isSiteOf(c, projectId)) {
      const there = new URL(`${ENTER_PATH}?ticket=${encodeURIComponent(ticket)}`, broker.usersUrl(projectId))
      pageHeaders(c)
      return c.redirect(there.href, 303)
    }
    pageHeaders(c, { hasForm: true })
    const brand = await broker.brandOf(projectId)
    const words = wordsFor(c, { language: lang, project: brand.language })
    return c.html(enterPage({ words, brand, user: userDisplay ?? userId, ticket }))
  })

  app.post(ENTER_PATH, async (c) => {
    // login CSRF: another site could otherwise log its visitor in as a user of its own choice
    if (!isFromOwnPage(c, broker, { withoutHeaders: 'refused' })) return gone(c)
    const ticket = (await readForm(c)).get('ticket')
    const found = await findPortalTicket(broker, ticket)
    // a page that was opened before the project had its domain does not spend the link, which leads to the domain now
    if (found === undefined || !isSiteOf(c, found.projectId)) return gone(c)
    const begun = await asUser(c, found.userId, () =>
      enterPortal(broker, ticket, { replaces: sessions.token(c) }),
    )
    if (begun === undefined) return gone(c)
    sessions.keep(c, begun)
    pageHeaders(c)
    return c.redirect(PORTAL_PATH, 303)
  })
}
