import type * as Wire from '../../generated/wire.ts'
import type { Authorization } from '../authorization.ts'
import { toAuthorization } from '../authorizations.ts'
import type { Answer, Body } from '../operation.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Workers: the servers that list tools and run them. */
export interface AdminWorkers {
  list(): List<Wire.Worker>
  get(id: string, options?: RequestOptions): Promise<Wire.Worker>
  /** Registers a worker and reads its catalogue. If this fails, `sync_error` of the worker says why. */
  create(worker: Body<'createWorker'>, options?: RequestOptions): Promise<Wire.Worker>
  update(id: string, changes: Body<'updateWorker'>, options?: RequestOptions): Promise<Wire.Worker>
  delete(id: string, options?: RequestOptions): Promise<void>
  /**
   * Accepts the requirements that the worker's tools have added (`acceptance.waiting`); with the `digest` of these,
   * only if they have not changed since.
   */
  accept(id: string, options?: RequestOptions & { readonly digest?: string }): Promise<Wire.Worker>
  /**
   * Begins the authorization that an MCP server itself requires. Its tools are then listed with this user's connection.
   */
  authorize(id: string, options: AuthorizeWorkerOptions): Promise<Authorization>
  /** Tries out a worker without registering it. */
  test(worker: Body<'testWorker'>, options?: RequestOptions): Promise<Answer<'testWorker'>>
  /** Whether the worker answers now. */
  health(id: string, options?: RequestOptions): Promise<Answer<'getWorkerHealth'>>
  tools(id: string): List<Wire.ToolDefinition>
}

export interface AuthorizeWorkerOptions extends RequestOptions {
  readonly user: string
  readonly nextUri?: string | URL | undefined
}

export function createWorkers(transport: Transport): AdminWorkers {
  const { call } = transport
  return {
    list: () => createList((query, options) => call('listWorkers', { query, options })),
    get: (id, options) => call('getWorker', { params: { id }, options }),
    create: (body, options) => call('createWorker', { body, options }),
    update: (id, body, options) => call('updateWorker', { params: { id }, body, options }),
    async delete(id, options) {
      await call('deleteWorker', { params: { id }, options })
    },
    accept(id, { digest, ...options } = {}) {
      return call('acceptWorkerRequirements', { params: { id }, body: { digest }, options })
    },
    async authorize(id, { user, nextUri, ...options }) {
      const query = { user_id: user, next_uri: nextUri?.toString() }
      return toAuthorization(transport, await call('authorizeWorker', { params: { id }, query, options }))
    },
    test: (body, options) => call('testWorker', { body, options }),
    health: (id, options) => call('getWorkerHealth', { params: { id }, options }),
    tools: (id) =>
      createList((query, options) => call('listWorkerTools', { params: { id }, query, options })),
  }
}
