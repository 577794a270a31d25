import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { bodyLimit } from '../endpoint/body-limit.ts'
import { addAuthorizationPages } from './authorization-pages.ts'
import { addConnectionPages } from './connection-pages.ts'
import type { OperationOptions } from './installation-pages.ts'
import { addConsoleLogin, type PrintedLinks } from './login.ts'
import { MENU } from './menu.ts'
import { addOverview } from './overview.ts'
import { addAdministrationPages } from './pages.ts'
import { consoleRoutes } from './routes.ts'
import type { Sandbox } from './tour.ts'
import { addUserPages } from './user-pages.ts'

/** The largest form before the login: a key and the path of the next page. */
const MAX_LOGIN_BYTES = 8 * 1024
/** The largest form: a policy, a tool's input. */
const MAX_FORM_BYTES = 512 * 1024

export interface ConsoleOptions extends OperationOptions {
  /** Only `gatepass dev` prints links. */
  readonly links?: PrintedLinks | undefined
  /** Development: an empty console begins with a tour of its sandbox. */
  readonly tour?: Sandbox | undefined
}

/** The operator's console. Each `add…` function adds the pages and forms of one subject. */
export function addConsole(app: OpenAPIHono, broker: Broker, options: ConsoleOptions = {}): void {
  if (broker.settings.dashboard.serve === 'off') return
  app.use('/dashboard/login', bodyLimit(MAX_LOGIN_BYTES))
  const limit = bodyLimit(MAX_FORM_BYTES)
  const uploads = new Set<string>()
  // an upload has a limit of its own, which its page explains
  app.use('/dashboard/*', (c, next) => (uploads.has(c.req.path) ? next() : limit(c, next)))
  const routes = consoleRoutes(app, broker, { menu: MENU, uploads })
  addConsoleLogin(app, broker, routes, options) // /dashboard/login, /enter, /link, /confirm, /project, /logout
  addOverview(routes, options.tour) //             /dashboard, /tour
  addConnectionPages(routes) //                    /dashboard/connections
  addUserPages(routes) //                          /dashboard/users
  addAuthorizationPages(routes) //                 /dashboard/authorizations
  addAdministrationPages(routes, broker, options)
  // every path that is no page
  routes.page('/*', () => {
    throw new BrokerError('not_found', 'There is no such page in the console.')
  })
}
