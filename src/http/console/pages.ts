import type { Broker } from '../../broker.ts'
import { addAuditPages } from './audit/audit-pages.ts'
import { addInstallationPages, type OperationOptions } from './installation-pages.ts'
import { addKeyPages } from './key-pages.ts'
import { pagesOfFeatures } from './menu.ts'
import { addProjectPages } from './project-pages.ts'
import { addProviderPages } from './providers/provider-pages.ts'
import type { ConsoleRoutes } from './routes.ts'
import { addRunPages } from './run-pages.ts'
import { addSecretPages } from './secret-pages.ts'
import { addSharedConnectionPages } from './shared-connection-pages.ts'
import { addToolPages } from './tools/tool-pages.ts'
import { addWorkerPages } from './workers/worker-pages.ts'

/** The pages with which administrators set a project up, and those about its runs. */
export function addAdministrationPages(
  routes: ConsoleRoutes,
  broker: Broker,
  options: OperationOptions,
): void {
  addProviderPages(routes, broker) // /dashboard/providers, /catalogue
  addToolPages(routes, broker) //     /dashboard/tools
  addRunPages(routes, broker) //      /dashboard/runs, /scheduled
  addWorkerPages(routes, broker) //   /dashboard/workers
  addKeyPages(routes, broker) //      /dashboard/keys
  addSharedConnectionPages(routes) // /dashboard/shared
  addSecretPages(routes) //          /dashboard/secrets
  addProjectPages(routes, broker) //  /dashboard/projects
  addAuditPages(routes, broker) //    /dashboard/audit
  addInstallationPages(routes, options) // /dashboard/settings, /doctor
  for (const pages of pagesOfFeatures) pages.add(routes, broker)
}
