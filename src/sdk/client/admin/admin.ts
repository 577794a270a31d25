import { type AdminMethods, createAdminMethods } from '../../generated/methods.ts'
import type * as Wire from '../../generated/wire.ts'
import type { Authorization } from '../authorization.ts'
import { toAuthorization } from '../authorizations.ts'
import type { Answer } from '../operation.ts'
import type { RequestOptions, Transport } from '../transport.ts'
import { type AuditLog, createAuditLog } from './audit.ts'

/**
 * Administration of the project of the API key. Its objects are those of the HTTP API, member for member, in
 * `snake_case`: what `/docs` shows and `gatepass … --json` prints.
 */
export interface Admin extends AdminMethods {
  readonly workers: AdminMethods['workers'] & {
    /**
     * Begins the authorization that an MCP server itself requires. Its tools are then listed with this user's connection.
     */
    authorize(id: string, options: AuthorizeWorkerOptions): Promise<Authorization>
  }
  readonly tools: AdminMethods['tools'] & {
    /** Binds an imported tool to the tool of a worker, which then runs it. */
    bind(
      name: string,
      to: { readonly workerId: string; readonly tool: string },
      options?: RequestOptions,
    ): Promise<Wire.ToolDefinition>
  }
  readonly connections: AdminMethods['connections'] & {
    /**
     * Stores connections of another installation or product with their tokens, at most 500 in one call. Each connection
     * is stored completely or not at all, and the call may be repeated. `replace` overwrites connections that exist
     * already; `check` refreshes each stored connection once.
     */
    import(
      connections: readonly Wire.ForeignConnection[],
      how?: { readonly replace?: boolean; readonly check?: boolean },
      options?: RequestOptions,
    ): Promise<readonly Wire.ImportedConnection[]>
  }
  readonly audit: AuditLog
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

export interface AuthorizeWorkerOptions extends RequestOptions {
  readonly user: string
  readonly nextUri?: string | URL | undefined
}

export interface ImportOptions extends RequestOptions {
  /** The worker that runs the tools. */
  readonly workerId?: string | undefined
  /** Writes nothing, and answers what the import would do with each tool. */
  readonly dryRun?: boolean | undefined
}

export function createAdmin(transport: Transport): Admin {
  const { call } = transport
  const methods = createAdminMethods(transport)
  return {
    ...methods,
    workers: {
      ...methods.workers,
      async authorize(id, { user, nextUri, ...options }) {
        const query = { user_id: user, next_uri: nextUri?.toString() }
        return toAuthorization(transport, await call('authorizeWorker', { params: { id }, query, options }))
      },
    },
    tools: {
      ...methods.tools,
      bind: (name, { workerId, tool }, options) =>
        call('bindTool', { params: { name }, body: { worker_id: workerId, tool }, options }),
    },
    connections: {
      ...methods.connections,
      async import(connections, how = {}, options) {
        const { items } = await call('importConnections', { body: { connections, ...how }, options })
        return items
      },
    },
    audit: createAuditLog(transport),
    import(body, { workerId, dryRun, ...options } = {}) {
      const query = { worker_id: workerId, dry_run: dryRun === true ? 'true' : undefined } as const
      return call('importTools', { query, body, options })
    },
    diagnosis: (options) => call('getDiagnosis', { options }),
  }
}
