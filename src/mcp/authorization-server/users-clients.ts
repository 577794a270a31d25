import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { LOGIN_TROUBLES } from '../../flows/identify-user.ts'
import { clientRights, disconnectClient } from '../../flows/mcp-clients.ts'
import { isFromOwnPage } from '../../http/connect/own-page.ts'
import { endSession, sendToSessionLogin, sessionOf } from '../../http/connect/session-login.ts'
import { linkNotFound, wordsAndBrand } from '../../http/connect/show-authorization.ts'
import { siteOf } from '../../http/connect/site.ts'
import { bodyLimit } from '../../http/endpoint/body-limit.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { csrfToken, isCsrfToken } from '../../services/csrf-token.ts'
import { loginTroublePage } from './login-trouble-page.ts'
import type { AuthorizationServerParts } from './parts.ts'
import { CLIENTS_PATH } from './paths.ts'
import { usersClientsPage } from './users-clients-page.ts'

const MAX_FORM_BYTES = 8 * 1024
/** The name of the form in its token (csrf-token.ts), the same for all buttons of the page. */
const FORM = 'clients'

/** Adds the page on which users see the MCP clients that act for them, and disconnect them. */
export function addUsersClients(
  app: OpenAPIHono,
  broker: Broker,
  { projectId }: AuthorizationServerParts,
): void {
  app.use(CLIENTS_PATH, bodyLimit(MAX_FORM_BYTES))
  // the page is served at the public URL only, as the consent page is, because the session cookie belongs to that host
  app.use(CLIENTS_PATH, async (c, next) => {
    const site = siteOf(c, broker)
    if (site.projectId === undefined) return next()
    if (site.projectId !== projectId) return linkNotFound(c)
    pageHeaders(c)
    return c.redirect(new URL(CLIENTS_PATH, broker.settings.publicUrl).href, 303)
  })

  app.get(CLIENTS_PATH, async (c) => {
    const session = await sessionOf(c, broker, projectId)
    if (session === undefined) {
      const trouble = LOGIN_TROUBLES.find((reason) => reason === c.req.query('login'))
      if (trouble === undefined) return sendToSessionLogin(c, broker, { projectId, returnTo: CLIENTS_PATH })
      pageHeaders(c, { hasForm: true, formTo: [broker.settings.publicUrl] })
      const look = await wordsAndBrand(c, broker, { projectId })
      return c.html(loginTroublePage({ trouble, action: CLIENTS_PATH, ...look }))
    }
    const { userId } = session
    const approvals = await broker.store.mcpConsents.ofUser(projectId, userId)
    const clients = approvals.map((approval) => ({ ...approval, may: clientRights(broker, approval) }))
    pageHeaders(c, { hasForm: true })
    const look = await wordsAndBrand(c, broker, { projectId })
    const csrf = csrfToken(broker, 'form', FORM, userId)
    return c.html(usersClientsPage({ ...look, userId, clients, csrf, action: CLIENTS_PATH }))
  })

  app.post(CLIENTS_PATH, async (c) => {
    pageHeaders(c)
    const form = new URLSearchParams(await c.req.text())
    const session = await sessionOf(c, broker, projectId)
    if (!isFromOwnPage(c, broker) || session === undefined) return c.redirect(CLIENTS_PATH, 303)
    if (isCsrfToken(form, csrfToken(broker, 'form', FORM, session.userId))) {
      if (form.get('decision') === 'logout') {
        await endSession(c, broker)
        return c.redirect('/', 303)
      }
      const id = form.get('id') ?? ''
      const own = await broker.store.mcpConsents.ofUser(projectId, session.userId)
      if (own.some((consent) => consent.id === id))
        await disconnectClient(broker, { projectId, id, by: 'user' })
    }
    return c.redirect(CLIENTS_PATH, 303)
  })
}
