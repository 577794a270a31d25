import type * as Wire from '../../generated/wire.ts'
import type { Answer } from '../operation.ts'
import type { RequestOptions, Transport } from '../transport.ts'
import { type AuditLog, createAuditLog } from './audit.ts'
import { type AdminConnections, createUserConnections } from './connections.ts'
import { type AdminKeys, createKeys } from './keys.ts'
import { type AdminMcpClients, createMcpClients } from './mcp-clients.ts'
import { type AdminPolicies, createPolicies } from './policies.ts'
import { type AdminProjects, createProjects } from './projects.ts'
import { type AdminProviders, createProviders } from './providers.ts'
import { type AdminSecrets, createSecrets } from './secrets.ts'
import { type AdminTools, createAdminTools } from './tools.ts'
import { type AdminToolsets, createToolsets } from './toolsets.ts'
import { type AdminWebhooks, createWebhooks } from './webhooks.ts'
import { type AdminWorkers, createWorkers } from './workers.ts'

/**
 * Administration of the project of the API key. Its objects are those of the HTTP API, member for member, in
 * `snake_case`: what `/docs` shows and `gatepass … --json` prints.
 */
export interface Admin {
  readonly providers: AdminProviders
  readonly workers: AdminWorkers
  readonly tools: AdminTools
  readonly toolsets: AdminToolsets
  readonly secrets: AdminSecrets
  readonly policies: AdminPolicies
  readonly webhooks: AdminWebhooks
  readonly connections: AdminConnections
  readonly mcpClients: AdminMcpClients
  readonly audit: AuditLog
  readonly keys: AdminKeys
  readonly projects: AdminProjects
  /**
   * Imports tool metadata. Each tool is imported whole or refused with the reason; importing the same again changes
   * nothing.
   */
  import(
    tools: Wire.ToolMetadata | readonly Wire.ToolMetadata[],
    options?: ImportOptions,
  ): Promise<Wire.ImportResult>
  /** What `gatepass doctor` judges of the running server. */
  diagnosis(options?: RequestOptions): Promise<Answer<'getDiagnosis'>>
}

export interface ImportOptions extends RequestOptions {
  /** The worker that runs the tools. */
  readonly workerId?: string | undefined
  /** Writes nothing, and answers what the import would do with each tool. */
  readonly dryRun?: boolean | undefined
}

export function createAdmin(transport: Transport): Admin {
  const { call } = transport
  return {
    providers: createProviders(transport),
    workers: createWorkers(transport),
    tools: createAdminTools(transport),
    toolsets: createToolsets(transport),
    secrets: createSecrets(transport),
    policies: createPolicies(transport),
    webhooks: createWebhooks(transport),
    connections: createUserConnections(transport),
    mcpClients: createMcpClients(transport),
    audit: createAuditLog(transport),
    keys: createKeys(transport),
    projects: createProjects(transport),
    import(body, { workerId, dryRun, ...options } = {}) {
      const query = { worker_id: workerId, dry_run: dryRun === true ? 'true' : undefined } as const
      return call('importTools', { query, body, options })
    },
    diagnosis: (options) => call('getDiagnosis', { options }),
  }
}
