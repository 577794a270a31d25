import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { eraseUser } from '../../flows/erase-user.ts'
import { streamedBody } from '../../http/endpoint/streamed-body.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import { dataPage, erasedPage, erasePage } from './page-data.ts'
import { permissionFor } from './portal-rights.ts'
import { sharedWithUser } from './portal-view.ts'
import type { MeSession } from './routes-session.ts'
import { userData } from './user-data.ts'

export const DATA_PATH = '/me/data'

/** Lets users download and delete what is stored about them. Both need a recent login, or a link that allows them. */
export function addMeData(app: OpenAPIHono, broker: Broker, me: MeSession): void {
  const { verifier } = broker.settings
  const formTo = verifier.kind === 'oidc' ? [new URL(verifier.issuer)] : []

  me.page(app, DATA_PATH, async (request) => {
    const { c, session } = request
    pageHeaders(c, { hasForm: true, formTo })
    return c.html(
      dataPage({
        ...(await me.frame(request)),
        mayExport: permissionFor(broker, session, 'export'),
        mayErase: permissionFor(broker, session, 'erase'),
      }),
    )
  })

  me.form(app, '/me/export', async ({ c, session }) => {
    if (permissionFor(broker, session, 'export') !== 'given') return redirectToData(c)
    const { projectId, subject: userId } = session
    const pieces = userData(broker, { projectId, userId })
    // the generator writes the audit entry before the first piece, so a download without an entry fails here
    const { value: first } = await pieces.next()
    pageHeaders(c)
    c.header('content-type', 'application/json; charset=utf-8')
    c.header('content-disposition', 'attachment; filename="my-data.json"')
    return c.body(streamedBody(withFirst(first ?? '', pieces)))
  })

  me.page(app, '/me/erase', async (request) => {
    const { c, session } = request
    if (permissionFor(broker, session, 'erase') !== 'given') return redirectToData(c)
    const { projectId, subject: userId } = session
    const { total } = await broker.store.connections.list(projectId, { userId }, { offset: 0, limit: 1 })
    pageHeaders(c, { hasForm: true })
    const hasShared = (await sharedWithUser(broker, { projectId, userId })).length > 0
    return c.html(erasePage({ ...(await me.frame(request)), connections: total, hasShared }))
  })

  me.form(app, '/me/erase', async (request) => {
    const { c, session, form } = request
    if (permissionFor(broker, session, 'erase') !== 'given') return redirectToData(c)
    if (form.get('understood') !== 'yes') {
      pageHeaders(c)
      return c.redirect('/me/erase', 303)
    }
    const { projectId, subject: userId } = session
    const erased = await eraseUser(broker, { projectId, userId })
    await me.sessions.end(c)
    const { words, brand, returnUrl } = await me.frame(request)
    pageHeaders(c)
    const unconfirmed = erased.filter(({ revocation }) => revocation !== 'revoked')
    // after a double click the browser shows only this answer; the first request has deleted some of the connections
    const hasOthers = erased.length < Number(form.get('connections'))
    return c.html(erasedPage({ words, brand, returnUrl, unconfirmed, hasOthers }))
  })
}

function redirectToData(c: Parameters<typeof pageHeaders>[0]): Response {
  pageHeaders(c)
  return c.redirect(DATA_PATH, 303)
}

async function* withFirst(
  first: string,
  rest: AsyncGenerator<string, undefined>,
): AsyncGenerator<string, undefined> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return(undefined)
  }
  return undefined
}
