import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import {
  ARRIVAL_SECONDS,
  beginInstallation,
  openArrival,
  sealArrival,
} from '../../flows/begin-installation.ts'
import { LOGIN_TROUBLES } from '../../flows/identify-user.ts'
import { canLogIn } from '../../flows/login/session-login.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { installationPath } from '../../services/users-origin.ts'
import { readForm } from '../endpoint/read-form.ts'
import { installPage } from '../pages/install-page.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { browserCookies } from './browser-cookies.ts'
import { isFromOwnPage } from './own-page.ts'
import { sendToSessionLogin, sessionOf } from './session-login.ts'
import { endingOf, linkNotFound, wordsAndBrand } from './show-authorization.ts'
import { siteOf } from './site.ts'

/** Adds the page at which users arrive who begin at the provider, such as in its store of apps. */
export function addInstall(app: OpenAPIHono, broker: Broker): void {
  const cookies = browserCookies(broker)

  /** The entry, if users may begin at its provider and the request came to a site where the project's users are. */
  async function find(c: Context): Promise<ProviderEntry | undefined> {
    const entry = await broker.store.providers.findByUid(c.req.param('uid') ?? '')
    if (entry?.provider.installation === undefined || entry.status === 'inactive') return undefined
    const { projectId } = siteOf(c, broker)
    return projectId === undefined || projectId === entry.projectId ? entry : undefined
  }

  function redirect(c: Context, to: string): Response {
    pageHeaders(c)
    return c.redirect(to, 303)
  }

  /** Keeps what the provider's page sent along, and leaves it out of the address. */
  function arrive(c: Context, entry: ProviderEntry, query: URLSearchParams): Response | Promise<Response> {
    const value = sealArrival(broker, entry, query)
    if (value === undefined) return endingOf(c, broker, entry, { kind: 'arrival_over' }, 400)
    const { installUri } = entry.provider.installation ?? {}
    if (installUri === undefined) {
      cookies.keepArrival(c, { value, seconds: ARRIVAL_SECONDS })
      return redirect(c, installationPath(entry.uid))
    }
    const page = new URL(installUri)
    page.searchParams.set('install_id', value)
    return redirect(c, page.href)
  }

  app.get('/install/:uid', async (c) => {
    const entry = await find(c)
    if (entry === undefined) return linkNotFound(c)
    const { search, searchParams } = new URL(c.req.url)
    const site = broker.usersUrl(entry.projectId)
    if (siteOf(c, broker).url.origin !== site.origin)
      return redirect(c, new URL(installationPath(entry.uid) + search, site).href)
    const trouble = LOGIN_TROUBLES.find((reason) => reason === searchParams.get('login'))
    if (search !== '' && trouble === undefined) return arrive(c, entry, searchParams)
    if (entry.provider.installation?.installUri !== undefined) return arrive(c, entry, searchParams)
    let hints = openArrival(broker, entry, cookies.arrival(c))
    if (hints === undefined) {
      // a bookmark of this page is as good as the provider's link, unless the provider signs its own
      const value = sealArrival(broker, entry, new URLSearchParams())
      if (value === undefined) return endingOf(c, broker, entry, { kind: 'arrival_over' }, 400)
      cookies.keepArrival(c, { value, seconds: ARRIVAL_SECONDS })
      hints = {}
    }
    const { words, brand } = await wordsAndBrand(c, broker, entry)
    const session = await sessionOf(c, broker, entry.projectId)
    const { verifier } = broker.settings
    // by redirects the form leads to the login or, where the connect page is passed, to the provider
    const login =
      verifier.kind === 'oidc' ? verifier.issuer : verifier.kind === 'caller' ? verifier.url.href : undefined
    const formTo = [login, entry.provider.authorizationRequest?.endpoint].flatMap((target) =>
      target === undefined ? [] : [new URL(target)],
    )
    pageHeaders(c, { hasForm: true, formTo })
    return c.html(
      installPage({
        words,
        brand,
        provider: entry.provider.displayName,
        hints,
        action: installationPath(entry.uid),
        user: session?.userId,
        canLogIn: canLogIn(broker),
        trouble,
      }),
    )
  })

  app.post('/install/:uid', async (c) => {
    const entry = await find(c)
    if (entry === undefined) return linkNotFound(c)
    if (!isFromOwnPage(c, broker)) return endingOf(c, broker, entry, { kind: 'foreign_click' }, 403)
    const hints = openArrival(broker, entry, cookies.arrival(c))
    if (hints === undefined) return endingOf(c, broker, entry, { kind: 'arrival_over' }, 400)
    const { projectId } = entry
    const isAgain = (await readForm(c)).get('login') === 'again'
    const session = isAgain ? undefined : await sessionOf(c, broker, projectId)
    if (session !== undefined) {
      const { userId } = session
      return redirect(
        c,
        connectUrl(broker, await beginInstallation(broker, { projectId, userId, entry, hints })),
      )
    }
    if (!canLogIn(broker)) return endingOf(c, broker, entry, { kind: 'refused_request' }, 400)
    const returnTo = installationPath(entry.uid)
    return sendToSessionLogin(c, broker, { projectId, returnTo, ...(isAgain && { prompt: 'login' }) })
  })
}
