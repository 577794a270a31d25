import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { disconnectClient } from '../../flows/mcp-clients.ts'
import type { OpenedPageSession } from '../../flows/page-session.ts'
import { endSession } from '../../http/connect/session-login.ts'
import { bodyLimit } from '../../http/endpoint/body-limit.ts'
import type { OwnPagePart, OwnPageUser, PageRoutes } from '../../http/page-routes.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { wordsFor } from '../../http/pages/texts/language-of.ts'
import { PORTAL_RIGHTS, type PortalRight } from './domain.ts'
import { leftPage } from './page-enter.ts'
import type { PortalFrame } from './page-frame.ts'
import { mePage } from './page-me.ts'
import { type MeNote, noteText, readNote } from './page-notes.ts'
import { portalStyle } from './page-style.ts'
import { clientCard, connectionCards, sharedCard } from './page-view.ts'
import { permissionFor } from './portal-rights.ts'
import { portalView, sharedWithUser } from './portal-view.ts'
import { addMeConnections } from './routes-connections.ts'
import { addMeData } from './routes-data.ts'
import { addEnter } from './routes-enter.ts'
import { addMeLogin, beginMeSession } from './routes-login.ts'
import { asUser, meSession } from './routes-session.ts'

const MAX_FORM_BYTES = 8 * 1024

export const portalRoutes: PageRoutes = {
  paths: ['/me', '/me/*'],
  usersPaths: ['/me', '/me/*'],
  add: addPortal,
  beginSession: beginMeSession,
}

/** The page on which users see what they have connected, and can disconnect it. */
function addPortal(app: OpenAPIHono, broker: Broker, _: unknown, parts: readonly OwnPagePart[]): void {
  const me = meSession(broker)
  app.get(portalStyle.path, portalStyle.serve)
  for (const path of ['/me', '/me/*']) app.use(path, bodyLimit(MAX_FORM_BYTES))
  const login = addMeLogin(app, broker, me)
  addEnter(app, broker, me)

  app.get('/me', async (c) => {
    const session = await me.open(c)
    if (session === undefined) return login.start(c)
    return asUser(c, session.subject, () => showMe(c, session))
  })

  async function showMe(c: Context, session: OpenedPageSession): Promise<Response> {
    const { projectId, subject: userId } = session
    const given = c.req.query('after') ?? ''
    const after = /^conn_\w{1,80}$/.test(given) ? given : undefined
    const view = await portalView(broker, { projectId, userId, ...(after !== undefined && { after }) })
    const shared = after === undefined ? await sharedWithUser(broker, { projectId, userId }) : []
    const frame = await me.frame({ c, session })
    const shown = await Promise.all(parts.map(({ show }) => show(broker, partUser(broker, session, frame))))
    const can = (right: PortalRight) => permissionFor(broker, session, right) !== 'missing'
    const note =
      readNote(broker, session, c.req.query()) ?? (await noteOfConsent(session, c.req.query('auth_id')))
    // a form to reconnect redirects to the connect page, which in `pass` mode redirects to the provider
    const formTo =
      broker.settings.connectPage === 'pass'
        ? view.connections.flatMap(({ entry }) =>
            entry?.provider.authorizationRequest
              ? [new URL(entry.provider.authorizationRequest.endpoint)]
              : [],
          )
        : []
    pageHeaders(c, { hasForm: true, formTo })
    return c.html(
      mePage({
        ...frame,
        connections: await connectionCards(broker, projectId, view.connections, frame.words.language),
        next: view.next && `/me?after=${view.next}`,
        shared: shared.map((one) => sharedCard(broker, one)),
        clients: view.clients.map((consent) => clientCard(broker, consent)),
        first: shown.map(({ first }) => first),
        rest: shown.map(({ rest }) => rest),
        can: {
          disconnect: can('disconnect'),
          connect: can('connect'),
          data: can('export') || can('erase'),
        },
        note: note && noteText(frame.words, note),
      }),
    )
  }

  /** The note of how an authorization of this user ended. `id`: from the URL to which the authorization leads back. */
  async function noteOfConsent(
    { projectId, subject }: OpenedPageSession,
    id: string | undefined,
  ): Promise<MeNote | undefined> {
    if (id === undefined || !/^auth_\w{1,80}$/.test(id)) return undefined
    const found = await broker.store.authorizations.find(id)
    if (found?.projectId !== projectId || found.userId !== subject) return undefined
    if (found.status === 'completed') return { code: 'connected' }
    return found.status === 'failed' ? { code: 'not_connected' } : undefined
  }

  for (const { form } of parts)
    me.form(app, `/me/${form.path}/:id`, async ({ c, session }) => {
      const user = partUser(broker, session, await me.frame({ c, session }))
      const code = await form.send(broker, user, c.req.param('id') ?? '')
      return me.back(c, session, code && { code })
    })

  addMeConnections(app, broker, me)
  addMeData(app, broker, me)

  me.form(app, '/me/applications/:id/end', async ({ c, session }) => {
    if (permissionFor(broker, session, 'disconnect') !== 'given') return me.back(c, session)
    const { projectId, subject } = session
    const id = c.req.param('id') ?? ''
    const own = await broker.store.mcpConsents.findById(projectId, id)
    if (own?.userId !== subject) return me.back(c, session)
    await disconnectClient(broker, { projectId, id, by: 'user' })
    return me.back(c, session, { code: 'client_ended', about: own.clientName })
  })

  me.form(app, '/me/applications/end-all', async ({ c, session }) => {
    if (permissionFor(broker, session, 'disconnect') !== 'given') return me.back(c, session)
    const { projectId, subject } = session
    for (const { id } of await broker.store.mcpConsents.ofUser(projectId, subject))
      await disconnectClient(broker, { projectId, id, by: 'user' })
    return me.back(c, session, { code: 'clients_ended' })
  })

  me.form(app, '/me/logout', async ({ c }) => {
    await me.sessions.end(c)
    await endSession(c, broker)
    pageHeaders(c)
    return c.redirect('/me/left', 303)
  })

  app.get('/me/left', (c) => {
    pageHeaders(c)
    return c.html(leftPage(wordsFor(c), { canLogIn: broker.settings.verifier.kind === 'oidc' }))
  })
}

function partUser(broker: Broker, session: OpenedPageSession, { words, csrf }: PortalFrame): OwnPageUser {
  const { projectId, subject } = session
  const may = PORTAL_RIGHTS.filter((right) => permissionFor(broker, session, right) === 'given')
  return { projectId, userId: subject, may, words, csrf }
}
