import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Connection } from '../../domain/connection.ts'
import { BrokerError } from '../../domain/errors.ts'
import { acquireTokens, connectUrl } from '../../flows/acquire-tokens.ts'
import { installationHelp } from '../../flows/choose-offered.ts'
import { findProviderByUid, requireActive } from '../../flows/get-provider.ts'
import { revokeConnection } from '../../flows/revoke-connection.ts'
import { siteOf } from '../../http/connect/site.ts'
import { STATUS } from '../../http/endpoint/errors.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { isInstalled } from '../../providers/provider-grant.ts'
import type { PortalRight } from './domain.ts'
import { disconnectPage } from './page-disconnect.ts'
import { logoOf } from './page-view.ts'
import { PORTAL_PATH } from './portal-link.ts'
import { permissionFor } from './portal-rights.ts'
import { ownConnection } from './portal-view.ts'
import type { MeRequest, MeSession } from './routes-session.ts'

/** What a user does with one connection: disconnects it, renews it, adds another account, chooses the default. */
export function addMeConnections(app: OpenAPIHono, broker: Broker, me: MeSession): void {
  const PATH = '/me/connections/:id'

  /** The user's own connection that the path names; `undefined` if there is none, or the session lacks the right. */
  async function connectionFor(
    { c, session }: MeRequest,
    right: PortalRight,
  ): Promise<Connection | undefined> {
    if (permissionFor(broker, session, right) !== 'given') return undefined
    const owner = { projectId: session.projectId, userId: session.subject }
    return ownConnection(broker, owner, c.req.param('id') ?? '')
  }

  const providerOf = ({ projectId, providerUid }: Connection) =>
    findProviderByUid(broker, projectId, providerUid)
  const providerName = async (connection: Connection) =>
    (await providerOf(connection))?.provider.displayName ?? connection.providerUid

  me.page(app, `${PATH}/disconnect`, async (request) => {
    const { c, session } = request
    const connection = await connectionFor(request, 'disconnect')
    if (connection === undefined) return me.back(c, session)
    const { id, account } = connection
    const entry = await providerOf(connection)
    pageHeaders(c, { hasForm: true })
    return c.html(
      disconnectPage({
        ...(await me.frame(request)),
        id,
        providerName: entry?.provider.displayName,
        logo: entry && logoOf(broker, entry),
        account: account.name || account.id,
        keyAt: keyPageOf(entry),
        installedAt:
          entry && isInstalled(entry.provider) ? (installationHelp(entry.provider)?.href ?? '') : undefined,
      }),
    )
  })

  me.form(app, `${PATH}/disconnect`, async (request) => {
    const { c, session } = request
    if (permissionFor(broker, session, 'disconnect') !== 'given') return me.back(c, session)
    const connection = await connectionFor(request, 'disconnect')
    // after a double click the browser shows only this note, not the first one, which may ask users to end the access
    if (connection === undefined) return me.back(c, session, { code: 'disconnected_before' })
    const about = await providerName(connection)
    const revocation = await revokeConnection(broker, connection)
    const code = (
      {
        revoked: 'disconnected',
        unsupported: 'disconnected_here',
        failed: 'disconnect_unconfirmed',
      } as const
    )[revocation]
    return me.back(c, session, { code, about })
  })

  me.form(app, `${PATH}/default`, async (request) => {
    const { c, session } = request
    const connection = await connectionFor(request, 'connect')
    if (connection === undefined) return me.back(c, session)
    const { id, projectId, userId } = connection
    const audit = broker.audit.of(projectId, { action: 'connection.made_default', userId, connectionId: id })
    await broker.store.connections.makeDefault(id, audit)
    return me.back(c, session, { code: 'made_default', about: await providerName(connection) })
  })

  me.form(app, `${PATH}/reconnect`, async (request) => {
    const { c, session } = request
    const connection = await connectionFor(request, 'connect')
    if (connection?.status !== 'needs_authorization') return me.back(c, session)
    return toConsent(connection, connection.id, request)
  })

  me.form(app, `${PATH}/another`, async (request) => {
    const { c, session } = request
    const connection = await connectionFor(request, 'connect')
    if (connection === undefined) return me.back(c, session)
    return toConsent(connection, 'new', request)
  })

  /** Redirects to `consentUrl`; back with a note if no consent may begin, as at an inactive provider. */
  async function toConsent(connection: Connection, account: string, request: MeRequest): Promise<Response> {
    const { c, session } = request
    try {
      const url = await consentUrl(connection, account, request)
      pageHeaders(c)
      return c.redirect(url, 303)
    } catch (error) {
      if (!(error instanceof BrokerError) || STATUS[error.code] >= 500) throw error
      return me.back(c, session, { code: 'not_connected' })
    }
  }

  /**
   * Begins an authorization for the same scopes and returns the URL of its connect page. The user is verified as for
   * every authorization.
   */
  async function consentUrl(
    { projectId, userId, providerUid, scopes }: Connection,
    account: string,
    { c, session: { display, lang } }: MeRequest,
  ): Promise<string> {
    const entry = await findProviderByUid(broker, projectId, providerUid)
    if (entry === undefined) return PORTAL_PATH
    const acquired = await acquireTokens(broker, {
      projectId,
      userId,
      providers: [{ entry: requireActive(entry), scopes }],
      account,
      userDisplay: display,
      lang,
      nextUri: new URL(PORTAL_PATH, siteOf(c, broker).url).href,
    })
    if (acquired.outcome === 'ready') return PORTAL_PATH
    return connectUrl(broker, acquired.authorization)
  }
}

/** The page where a key that users type is found and deleted; `undefined` where nothing is typed. */
function keyPageOf(entry: ProviderEntry | undefined): string | undefined {
  const { credentials } = entry?.provider ?? {}
  if (credentials === undefined) return undefined
  return Object.values(credentials.fields).find(({ secret, helpUrl }) => secret && helpUrl)?.helpUrl ?? ''
}
