import { loadFeatures } from '../features/load-features.ts'
import * as audit from './admin/audit.ts'
import * as keys from './admin/keys.ts'
import * as mcpClients from './admin/mcp-clients.ts'
import * as projects from './admin/projects.ts'
import * as secrets from './admin/secrets.ts'
import * as arcadeVerifier from './admin/session-verification.ts'
import * as sharedConnections from './admin/shared-connections.ts'
import * as authorizations from './authorizations/authorizations.ts'
import * as connections from './authorizations/connections.ts'
import * as userConnections from './authorizations/user-connections.ts'
import * as health from './installation/health.ts'
import type { Operation } from './operation.ts'
import * as authProviders from './providers/auth-providers.ts'
import * as providerCatalogue from './providers/provider-catalogue.ts'
import * as catalogue from './tools/catalogue.ts'
import * as executions from './tools/executions.ts'
import * as files from './tools/files.ts'
import * as runs from './tools/runs.ts'
import * as tools from './tools/tools.ts'
import * as workerAuthorization from './workers/worker-authorization.ts'
import * as workerTest from './workers/worker-test.ts'
import * as workers from './workers/workers.ts'

/**
 * Every operation of the API that an API key may call. The settings of the server make those of `installation/metrics.ts` and
 * `diagnosis.ts`.
 */
export const operations: readonly Operation[] = [
  authorizations,
  connections,
  catalogue,
  tools,
  runs,
  executions,
  files,
  workers,
  workerTest,
  workerAuthorization,
  authProviders,
  providerCatalogue,
  userConnections,
  mcpClients,
  sharedConnections,
  secrets,
  keys,
  projects,
  arcadeVerifier,
  audit,
  ...(await loadFeatures('operations')),
  health,
].flatMap((group: object) => Object.values(group).filter(isOperation))

/** A file of operations also exports what others need of it, such as a schema. */
function isOperation(exported: unknown): exported is Operation {
  return typeof exported === 'object' && exported !== null && 'run' in exported && 'path' in exported
}
